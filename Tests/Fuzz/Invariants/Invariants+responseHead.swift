// SPDX-License-Identifier: Apache-2.0

internal import HTTP1
package import HTTPMessages

extension Invariants {
    /// Feeds a response head.
    package static func parse(
        response bytes: [UInt8], _ feeding: Feeding, limits: HeadLimits = fuzzLimits
    ) -> (outcome: Outcome, response: HTTPResponse) {
        var parser = ResponseParser(limits: limits)
        var response = HTTPResponse()
        do throws(HTTPParseError) {
            for length in feeding.lengths(of: bytes.count) {
                if let end = try parser.parse(bytes.span.extracting(first: length), into: &response) {
                    return (.complete(end), response)
                }
            }
            return (.incomplete, response)
        } catch {
            return (.refused(error), response)
        }
    }

    /// What a response parser must do with any bytes.
    package static func violation(responseHead bytes: [UInt8]) -> String? {
        let (outcome, response) = parse(response: bytes, .whole)
        for feeding in [Feeding.byteByByte, .halves] {
            let split = parse(response: bytes, feeding).outcome
            guard split != outcome else { continue }
            // A line without its end is judged at its first bytes, and then not before its end.
            guard case .refused = outcome, split == .incomplete, bytes.count < fuzzLimits.headerBytes,
                parse(response: bytes + [0x0A], feeding).outcome == outcome
            else { return "fed \(feeding) it is \(split), whole it is \(outcome)" }
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
