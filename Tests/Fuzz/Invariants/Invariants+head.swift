// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
internal import BearerdHTTPMessages

/// Checks for the heads of requests and responses.
extension Invariants {
    /// Gives a parser the beginnings of `bytes`, one after the other, until it has read a head or refused it.
    static func feed(
        _ bytes: [UInt8], _ feeding: Feeding, to parse: (Span<UInt8>) throws(HTTPParseError) -> Int?
    ) -> Outcome {
        do throws(HTTPParseError) {
            for length in feeding.lengths(of: bytes.count) {
                if let end = try parse(bytes.span.extracting(first: length)) { return .complete(end) }
            }
            return .incomplete
        } catch {
            return .refused(error)
        }
    }

    /// Checks that a result does not depend on the pieces in which the bytes arrive.
    static func splitViolation(
        of bytes: [UInt8], _ outcome: Outcome, _ outcomeOf: ([UInt8], Feeding) -> Outcome
    ) -> String? {
        for feeding in [Feeding.byteByByte, .halves] {
            let split = outcomeOf(bytes, feeding)
            guard split != outcome else { continue }
            // A line without its end is judged at its first bytes, and then not before its end.
            guard case .refused = outcome, split == .incomplete, bytes.count < fuzzLimits.headerBytes,
                outcomeOf(bytes + [0x0A], feeding) == outcome
            else { return "fed \(feeding) it is \(split), whole it is \(outcome)" }
        }
        return nil
    }
}
