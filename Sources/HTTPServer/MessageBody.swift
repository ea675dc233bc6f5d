// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPTypes

/// The body of one message after another on a stream, taken out of its framing piece by piece.
///
/// A piece stays in the stream's input until it is consumed, so nothing is copied; nothing is received before
/// the piece before it is consumed, which is the back-pressure. Confined to its loop's thread.
package final class MessageBody {
    private var stream: ByteStream
    private var decoder = BodyDecoder(.none)
    /// What the decoder says, kept here: asking it costs a copy of it.
    private var isDecoded = true
    private var framing = BodyFraming.none
    private var limit: UInt64 = .max
    /// Body bytes handed out so far, without framing.
    package private(set) var byteCount: UInt64 = 0

    package init(stream: ByteStream) {
        self.stream = stream
    }

    /// Begins the body of the message whose head was just consumed from `stream`.
    ///
    /// - Parameter limit: more body bytes than this are ``MessageError/bodyTooLarge``.
    package func begin(_ framing: BodyFraming, on stream: ByteStream, limit: UInt64 = .max) {
        self.stream = stream
        decoder.begin(framing, limit: limit)
        isDecoded = framing == .none || framing == .length(0)
        self.framing = framing
        self.limit = limit
        byteCount = 0
    }

    /// Whether the last byte of the message was handed out; never so when there was more than the limit.
    package var isFinished: Bool { isDecoded && byteCount <= limit }

    /// The fields after a chunked body; complete once the body is finished (RFC 9112 7.1.2).
    package var trailers: HTTPFields { decoder.trailers }

    /// The next piece of what has already arrived, as offsets into the stream's input.
    ///
    /// - Returns: `nil` when the body is finished or more must arrive first.
    package func nextBuffered() throws(MessageError) -> Range<Int>? {
        // The piece that was too much is still in the input: the decoder has gone past it and must not see it again.
        guard byteCount <= limit else { throw .bodyTooLarge }
        while !isDecoded {
            let piece: BodyPiece
            do {
                piece = try stream.input.withReadable { (bytes) throws(HTTPParseError) in
                    try decoder.next(bytes)
                }
            } catch .bodyTooLarge {
                throw .bodyTooLarge
            } catch {
                throw .malformed(error)
            }
            isDecoded = decoder.isFinished
            if !isDecoded { stream.spend(Turn.pieceCost) }
            switch piece {
            case .data(let range):
                byteCount &+= UInt64(range.count)
                guard byteCount <= limit else { throw .bodyTooLarge }
                return range
            case .needMore(let consumed):
                stream.input.consume(consumed)
                return nil
            case .end(let consumed):
                stream.input.consume(consumed)
            }
        }
        return nil
    }

    /// Forgets what has arrived of the body and is not consumed; a malformed rest stays.
    package func skipBuffered() {
        while let piece = try? nextBuffered() { stream.input.consume(piece.upperBound) }
    }

    /// The next piece, waiting for it if need be; the caller consumes up to its upper bound.
    ///
    /// - Parameters:
    ///   - timeout: of the wait for more bytes; zero waits for ever.
    ///   - capacity: how much may be received at once, in bytes.
    /// - Returns: `nil` when the body is finished.
    /// - Throws: ``MessageError/truncated`` when the stream ends first.
    package func next(
        within timeout: Duration, capacity: Int = StoragePool.large
    ) async throws(MessageError) -> Range<Int>? {
        while true {
            if stream.turnIsOver { await stream.yield() }
            if let piece = try nextBuffered() { return piece }
            guard !isDecoded else { return nil }
            guard try await fill(within: timeout, capacity: capacity) else {
                guard framing == .untilClose, !stream.endWasTruncated else { throw .truncated }
                decoder.begin(.none)
                isDecoded = true
                return nil
            }
        }
    }

    /// Collects the rest of the body.
    ///
    /// - Parameter deadline: when all of it must be there; nil waits for ever.
    /// - Throws: ``MessageError/bodyTooLarge`` beyond the limit given to ``begin(_:on:limit:)``.
    package func collect(
        until deadline: ContinuousClock.Instant?
    ) async throws(MessageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let remaining = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let remaining, remaining <= .zero, !isDecoded { throw .stream(.timedOut) }
            guard
                let piece = try await next(
                    within: remaining.map { max($0, .milliseconds(1)) } ?? .zero, capacity: StoragePool.small)
            else { return bytes }
            stream.input.copy(piece, into: &bytes)
            stream.input.consume(piece.upperBound)
        }
    }

    private func fill(within timeout: Duration, capacity: Int) async throws(MessageError) -> Bool {
        do {
            return try await stream.fill(within: timeout, capacity: capacity, isInside: true)
        } catch {
            throw .stream(error)
        }
    }
}
