// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
package import BearerdHTTPMessages
internal import BearerdSystem

extension Invariants {
    /// The result of decoding chunked content.
    package struct Decoded: Equatable, Sendable {
        /// The content, as far as it came.
        package var data: [UInt8] = []
        /// The trailers, once complete.
        package var trailers = HTTPFields()
        /// How it ended.
        package var outcome = Outcome.incomplete
    }

    /// Decodes chunked content that comes in pieces of at most `pieceLength` bytes.
    package static func decode(chunked bytes: [UInt8], pieceLength: Int, trailerLimit: Int = 1024) -> Decoded
    {
        var decoder = BodyDecoder(.chunked, trailerLimit: trailerLimit)
        var decoded = Decoded()
        var position = 0
        do throws(HTTPParseError) {
            while position < bytes.count {
                let piece = bytes.span.extracting(position..<min(position + pieceLength, bytes.count))
                switch try decoder.next(piece) {
                case .data(let range, let consumed):
                    decoded.data += bytes[(position + range.lowerBound)..<(position + range.upperBound)]
                    position += consumed
                case .needMore(let consumed): position += consumed
                case .end(let consumed):
                    decoded.trailers = decoder.trailers
                    decoded.outcome = .complete(position + consumed)
                    return decoded
                }
            }
        } catch {
            decoded.outcome = .refused(error)
        }
        return decoded
    }

    /// Checks the chunked decoder.
    package static func violation(chunked bytes: [UInt8]) -> String? {
        let whole = decode(chunked: bytes, pieceLength: max(bytes.count, 1))
        for length in [1, 2, 7] {
            let split = decode(chunked: bytes, pieceLength: length)
            guard split == whole else {
                return "in pieces of \(length) it is \(split.outcome), not \(whole.outcome)"
            }
        }
        guard case .complete = whole.outcome else { return nil }
        var block = ByteBlock()
        for start in stride(from: 0, to: whole.data.count, by: 100) {
            let chunk = whole.data[start..<min(start + 100, whole.data.count)]
            ChunkedEncoder.head(of: chunk.count, into: &block)
            block.append(chunk.span)
            ChunkedEncoder.dataEnd(into: &block)
        }
        ChunkedEncoder.end(trailers: whole.trailers, into: &block)
        let again = Array(block.bytes.prefix(block.count))
        // A normalised line may be longer than what came.
        let second = decode(chunked: again, pieceLength: 3, trailerLimit: 4096)
        guard second.data == whole.data, second.trailers == whole.trailers,
            second.outcome == .complete(again.count)
        else { return "encoded again it reads differently" }
        return nil
    }
}
