// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
package import BearerdHTTPMessages

extension Invariants {
    /// Feeds a request head.
    package static func parse(
        request bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = fuzzLimits
    ) -> (outcome: Outcome, request: HTTPRequest) {
        var parser = RequestParser(limits: limits)
        var request = HTTPRequest()
        let outcome = feed(bytes, feeding) { bytes throws(HTTPParseError) in
            try parser.parse(bytes, into: &request)
        }
        return (outcome, request)
    }

    /// Checks the parser of request heads.
    package static func violation(requestHead bytes: [UInt8]) -> String? {
        let (outcome, request) = parse(request: bytes, .whole)
        if let violation = splitViolation(of: bytes, outcome, { parse(request: $0, $1).outcome }) {
            return violation
        }
        guard case .complete = outcome else { return nil }
        return roundTripViolation(request) ?? rewriteViolation(request) ?? pathViolation(request)
    }

    private static func roundTripViolation(_ request: HTTPRequest) -> String? {
        var sent = request
        if !sent.fields.contains(.host) { sent.fields.append(.host, "example.com") }
        var text: [UInt8] = []
        sent.serialize(into: &text)
        let (outcome, reread) = parse(request: text, .whole, limits: HeadLimits())
        guard outcome == .complete(text.count) else { return "what it wrote is \(outcome)" }
        var again = reread
        guard again.method == sent.method, again.targetBytes == sent.targetBytes, again.fields == sent.fields
        else {
            return "what it wrote reads differently"
        }
        var second: [UInt8] = []
        again.serialize(into: &second)
        return second == text ? nil : "written twice it differs"
    }

    private static func rewriteViolation(_ request: HTTPRequest) -> String? {
        var sent = request
        sent.fields.removeHopByHop()
        for name in [HTTPFields.Name.connection, .transferEncoding, .te, .upgrade, .keepAlive]
        where sent.fields.contains(name) || sent.fields[name] != nil {
            return "\(name) is still there"
        }
        guard sent.fields.count(of: .host) == request.fields.count(of: .host) else { return "Host is gone" }
        sent.fields[.host] = "upstream.example:8443"
        sent.fields[.authorization] = "Bearer token"
        sent.setTarget(prefix: Array("/prefix".utf8), droppingFirst: 1)
        var text: [UInt8] = []
        sent.serialize(into: &text)
        let (outcome, again) = parse(request: text, .byteByByte, limits: HeadLimits())
        guard outcome == .complete(text.count) else { return "rewritten it is \(outcome)" }
        guard again.fields[.authorization] == "Bearer token", again.fields.count(of: .authorization) == 1
        else {
            return "the token is not there once"
        }
        return again.fields == sent.fields ? nil : "rewritten it reads differently"
    }

    private static func pathViolation(_ request: HTTPRequest) -> String? {
        guard request.targetBytes.first == 0x2F else { return nil }
        if let violation = violation(path: Array(request.pathBytes)) { return violation }
        for pattern in ["/orders/**", "/*/items", "/reports/*/x"].compactMap({ try? PathPattern($0) }) {
            if let violation = violation(path: Array(request.pathBytes), goingUpBy: pattern) {
                return violation
            }
        }
        guard let path = RequestPath.normalized(request.pathBytes.span) else { return nil }
        guard path.first == 0x2F else { return "a normal path without a slash" }
        let segments = path.split(separator: 0x2F, omittingEmptySubsequences: false).dropFirst()
        for segment in segments.dropLast() where segment.isEmpty {
            return "an empty segment is left"
        }
        for segment in segments where segment.elementsEqual([0x2E]) || segment.elementsEqual([0x2E, 0x2E]) {
            return "a dot segment is left"
        }
        return path.contains(0x5C) || path.contains(0x3B) ? "a backslash or parameter is left" : nil
    }
}
