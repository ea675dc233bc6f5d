// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// The content that comes in on one HTTP/2 stream after another.
///
/// A piece stays in the stream until it is consumed, and only then may the peer send as much again. Confined to its
/// loop's thread.
package final class StreamBody: BodySource {
    private var connection: HTTP2Connection
    private var stream: HTTP2Stream
    private let wait: LoopWait
    private var limit: UInt64 = .max
    package private(set) var byteCount: UInt64 = 0
    private var piece = 0
    /// True if the message has no content, whatever the stream carries.
    private var isNothing = false
    /// True once the body must not be read any more.
    private var isStopped = false

    /// - Parameter wait: woken when the stream changes.
    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection, wait: LoopWait) {
        self.stream = stream
        self.connection = connection
        self.wait = wait
    }

    /// Reads from another stream from here on.
    package func use(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        self.stream = stream
        self.connection = connection
        begin(limit: .max)
    }

    /// Begins the content.
    ///
    /// - Parameter limit: more bytes than this are ``MessageError/bodyTooLarge``.
    package func begin(limit: UInt64) {
        self.limit = limit
        byteCount = 0
        piece = 0
        isStopped = false
        isNothing = false
    }

    /// Begins no content: what comes belongs to a tunnel that is not begun.
    package func beginNothing() {
        begin(limit: .max)
        isNothing = true
    }

    /// Hands out nothing more.
    package func stop() { isStopped = true }

    package var isFinished: Bool {
        isNothing
            || stream.hasEnd && stream.received.count == piece && byteCount <= limit
                && stream.resetCode == nil
    }

    package var trailers: HTTPFields { stream.trailers }

    package func nextPiece() throws(MessageError) -> Int? {
        guard byteCount <= limit else { throw .bodyTooLarge }
        guard !isStopped else { throw .stream(.closed) }
        guard !isNothing else { return nil }
        let count = stream.readableCount
        guard count > 0 else {
            if let fault = stream.fault { throw .malformed(fault) }
            // All that was needed may have come before.
            if stream.resetCode != nil, !isWhole { throw .truncated }
            return nil
        }
        connection.stream.spend(TurnBudget.pieceCost)
        byteCount &+= UInt64(count)
        guard byteCount <= limit else { throw .bodyTooLarge }
        piece = count
        return count
    }

    private var isWhole: Bool { isNothing || stream.hasEnd && stream.received.isEmpty }

    package func nextPiece(within timeout: Duration, sparingly: Bool) async throws(MessageError) -> Int? {
        let deadline = CoarseInstant.after(timeout)
        while true {
            if connection.stream.turnIsOver { await connection.stream.yield() }
            let seen = wait.news
            if let count = try nextPiece() { return count }
            guard !isWhole else { return nil }
            do {
                try await wait.wait(after: seen, until: deadline)
            } catch {
                throw .stream(error)
            }
        }
    }

    /// A stream that was reset has lost what had arrived.
    private var hasPiece: Bool { !isStopped && stream.received.count >= piece }

    package var pieceCount: Int? { hasPiece ? piece : nil }

    package func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard hasPiece else { return nil }
        return try stream.received.withFirst(piece, body)
    }

    package func consumePiece() {
        guard piece > 0 else { return }
        connection.session.consume(min(piece, stream.received.count), of: stream)
        piece = 0
        connection.scheduleSend()
    }

    /// Forgets what nobody will read; the peer may send no more in its place.
    package func letGo() {
        stop()
        stream.letGo()
    }

    package func skipArrived() {
        consumePiece()
        while (try? nextPiece()) != nil { consumePiece() }
    }
}
