// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// The content of one HTTP/1.1 message after another on a stream, without the framing.
///
/// A piece stays in the stream's input until it is consumed, so nothing is copied. Confined to its loop's
/// thread.
package final class MessageBody: BodySource {
    // All private: what others see is checked at run time at each access, which had cost a request 3,000 instructions.
    private var stream: ByteStream
    private let decoder = Exclusive(BodyDecoder(.none))
    /// The decoder's `isFinished`, kept here because asking the decoder would copy it.
    private var isDecoded = true
    private var framing = BodyFraming.none
    private var limit: UInt64 = .max
    private var handedOut: UInt64 = 0
    /// The current piece, as offsets into the stream's input.
    private var piece = 0..<0
    /// The bytes of the input that are used up with it.
    private var consumed = 0

    package init(stream: ByteStream) {
        self.stream = stream
    }

    /// Reads from another stream from now on, and nothing is left of the content before, however it ended.
    package func use(_ stream: ByteStream) {
        self.stream = stream
        begin(.none)
    }

    /// Begins the content of the message whose head was just consumed from the stream.
    ///
    /// - Parameters:
    ///   - limit: the most content bytes; more are ``MessageError/bodyTooLarge``.
    ///   - trailerLimit: the most bytes of a trailer section.
    package func begin(
        _ framing: BodyFraming, limit: UInt64 = .max, trailerLimit: Int = HeadLimits().headerBytes
    ) {
        isDecoded = framing == .none || framing == .length(0)
        // Without content nobody asks it.
        if !isDecoded { decoder.value.begin(framing, limit: limit, trailerLimit: trailerLimit) }
        self.framing = framing
        self.limit = limit
        handedOut = 0
        forgetPiece()
    }

    /// The content bytes handed out so far, without framing.
    package var byteCount: UInt64 { handedOut }

    package var isFinished: Bool { isDecoded && handedOut <= limit }

    package var trailers: HTTPFields { framing == .chunked ? decoder.value.trailers : HTTPFields() }

    package var hasTrailers: Bool { framing == .chunked && isDecoded && !decoder.value.trailers.isEmpty }

    /// Finishes chunked content that is empty, if all of it has arrived; else nothing is taken.
    package func takeEmptyContent() {
        guard !isDecoded, handedOut == 0 else { return }
        var trial = decoder.value
        let found = try? stream.input.lendReadable { (bytes) throws(HTTPParseError) in try trial.next(bytes) }
        guard case .end(let consumed)? = found else { return }
        decoder.value = trial
        isDecoded = true
        stream.input.consume(consumed)
    }

    package func nextPiece() throws(MessageError) -> Int? {
        // The piece that was too much is still in the input: the decoder has gone past it and must not see it again.
        guard handedOut <= limit else { throw .bodyTooLarge }
        let stream = stream
        while !isDecoded, !stream.input.isEmpty {
            let found: BodyPiece
            do {
                found = try stream.input.lendReadable { (bytes) throws(HTTPParseError) in
                    try decoder.value.next(bytes)
                }
            } catch {
                throw MessageError(error)
            }
            isDecoded = decoder.value.isFinished
            if !isDecoded { stream.spend(TurnBudget.pieceCost) }
            switch found {
            case .data(let range, let consumed):
                handedOut &+= UInt64(range.count)
                guard handedOut <= limit else { throw .bodyTooLarge }
                piece = range
                self.consumed = consumed
                return range.count
            case .needMore(let consumed):
                stream.input.consume(consumed)
                return nil
            case .end(let consumed):
                stream.input.consume(consumed)
            }
        }
        return nil
    }

    package func nextPiece(within timeout: Duration, sparingly: Bool) async throws(MessageError) -> Int? {
        if sparingly { stream.shrinkInput() }
        return try await nextPiece(
            within: timeout, capacity: sparingly ? StoragePool.small : StoragePool.large)
    }

    /// Part of its callers, as is what it calls, so that a piece passes through fewer frames.
    ///
    /// - Parameter capacity: the most bytes of one receive.
    @inline(__always)
    private func nextPiece(
        within timeout: Duration, capacity: Int
    ) async throws(MessageError) -> Int? {
        while true {
            if stream.turnIsOver { await stream.yield() }
            // Nothing comes of an empty input, but for the news that there was too much.
            if !stream.input.isEmpty || isDecoded || handedOut > limit {
                if let count = try nextPiece() { return count }
                guard !isDecoded else { return nil }
            }
            guard try await fill(within: timeout, capacity: capacity) else {
                guard framing == .untilClose, !stream.endWasTruncated else { throw .truncated }
                isDecoded = true
                return nil
            }
        }
    }

    package func relay(
        within timeout: Duration, by take: @escaping () -> Bool
    ) async throws(MessageError) -> Bool {
        guard !isDecoded else { return false }
        do {
            return try await stream.relay(within: timeout, by: take)
        } catch {
            throw .stream(error)
        }
    }

    package var pieceCount: Int? { stream.isOpen ? piece.count : nil }

    package func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let (stream, piece) = (stream, piece)
        guard stream.isOpen else { return nil }
        return try stream.input.withReadable { (bytes) throws(Failure) in try body(bytes.extracting(piece)) }
    }

    package func consumePiece() {
        // A closed stream has no input any more.
        if stream.isOpen { stream.input.consume(consumed) }
        forgetPiece()
    }

    private func forgetPiece() {
        piece = 0..<0
        consumed = 0
    }

    package func skipArrived() {
        // The current piece was handed out already, so it counts as read.
        consumePiece()
        while (try? nextPiece()) != nil { consumePiece() }
    }

    /// Collects the rest of the content.
    ///
    /// - Parameter deadline: when it must be complete; nil waits for ever.
    /// - Throws: ``MessageError/bodyTooLarge`` beyond the limit given to ``begin(_:limit:)``.
    package func collect(
        until deadline: ContinuousClock.Instant?
    ) async throws(MessageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let remaining = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let remaining, remaining <= .zero, !isDecoded { throw .stream(.timedOut) }
            guard
                try await nextPiece(
                    within: remaining.map { max($0, .milliseconds(1)) } ?? .zero, capacity: StoragePool.small)
                    != nil
            else { return bytes }
            withPiece { bytes.append($0) }
            consumePiece()
        }
    }

    @inline(__always)
    private func fill(within timeout: Duration, capacity: Int) async throws(MessageError) -> Bool {
        do {
            return try await stream.fill(within: timeout, capacity: capacity, isInside: true)
        } catch {
            throw .stream(error)
        }
    }
}
