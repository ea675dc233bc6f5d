// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
package import BearerdHTTPMessages

extension Invariants {
    /// Feeds a response head.
    package static func parse(
        response bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = fuzzLimits
    ) -> (outcome: Outcome, response: HTTPResponse) {
        var parser = ResponseParser(limits: limits)
        var response = HTTPResponse()
        let outcome = feed(bytes, feeding) { bytes throws(HTTPParseError) in
            try parser.parse(bytes, into: &response)
        }
        return (outcome, response)
    }

    /// Checks the parser of response heads.
    package static func violation(responseHead bytes: [UInt8]) -> String? {
        let (outcome, response) = parse(response: bytes, .whole)
        if let violation = splitViolation(of: bytes, outcome, { parse(response: $0, $1).outcome }) {
            return violation
        }
        guard case .complete = outcome else { return nil }
        return roundTripViolation(response)
    }

    private static func roundTripViolation(_ response: HTTPResponse) -> String? {
        var sent = response
        for isRewritten in [false, true] {
            if isRewritten {
                sent.fields.removeHopByHop()
                sent.fields[.location] = "/elsewhere"
                sent.fields.append(.via, "1.1 bearerd")
            }
            var text: [UInt8] = []
            sent.serialize(into: &text)
            let (outcome, again) = parse(response: text, .byteByByte, limits: HeadLimits())
            guard outcome == .complete(text.count) else { return "what it wrote is \(outcome)" }
            guard again.status == sent.status, again.reasonBytes == sent.reasonBytes,
                again.fields == sent.fields
            else { return "what it wrote reads differently" }
        }
        return nil
    }
}
