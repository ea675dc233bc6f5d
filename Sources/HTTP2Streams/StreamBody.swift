// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// The content that comes in on one HTTP/2 stream after another.
///
/// A piece stays in the stream until it is consumed, and only then may the peer send as much again. Confined to its
/// loop's thread.
package final class StreamBody: BodySource {
    private let handle: StreamHandle
    private var limit: UInt64 = .max
    private var handedOut: UInt64 = 0
    private var piece = 0
    /// True if the message has no content, whatever the stream carries.
    private var isNothing = false
    /// True once the body must not be read any more.
    private var isStopped = false

    package init(of handle: StreamHandle) { self.handle = handle }

    package var byteCount: UInt64 { handedOut }

    /// Begins the content.
    ///
    /// - Parameter limit: more bytes than this are ``MessageError/bodyTooLarge``.
    package func begin(limit: UInt64) {
        self.limit = limit
        handedOut = 0
        piece = 0
        isStopped = false
        isNothing = false
    }

    /// Begins no content: the message has none, or what comes belongs to a tunnel that is not begun.
    package func beginNothing() {
        begin(limit: .max)
        isNothing = true
    }

    /// Hands out nothing more.
    package func stop() { isStopped = true }

    package var isFinished: Bool {
        isNothing || handedOut <= limit && handle.held.lend { $0.isWhole(but: piece) }
    }

    package var trailers: HTTPFields {
        handle.held.lend { $0.hasTrailers ? $0.trailers : HTTPFields() }
    }

    package var hasTrailers: Bool { handle.held.lend { $0.hasTrailers } }

    package func nextPiece() throws(MessageError) -> Int? {
        guard handedOut <= limit else { throw .bodyTooLarge }
        guard !isStopped else { throw .stream(.closed) }
        guard !isNothing else { return nil }
        return try handle.lend { (connection, stream) throws(MessageError) in
            let count = stream.readableCount
            guard count > 0 else {
                if let fault = stream.fault { throw .malformed(fault) }
                // All that was needed may have come before.
                if stream.resetCode != nil || connection.peerHasEnded, !isWhole { throw .truncated }
                return nil
            }
            connection.stream.spend(TurnBudget.pieceCost)
            handedOut &+= UInt64(count)
            guard handedOut <= limit else { throw .bodyTooLarge }
            piece = count
            return count
        }
    }

    private var isWhole: Bool { isNothing || handle.held.lend { $0.hasEnd && $0.keptCount == 0 } }

    package func nextPiece(within timeout: Duration, sparingly: Bool) async throws(MessageError) -> Int? {
        let deadline = handle.reading.end(of: timeout)
        while true {
            if handle.connection.stream.turnIsOver { await handle.connection.stream.yield() }
            let seen = handle.reading.news
            if let count = try nextPiece() { return count }
            guard !isWhole else { return nil }
            do {
                try await handle.reading.wait(after: seen, until: deadline)
            } catch {
                throw .stream(error)
            }
        }
    }

    /// A stream that was reset has lost what had arrived.
    private var hasPiece: Bool { !isStopped && handle.held.lend { $0.keptCount >= piece } }

    package var pieceCount: Int? { hasPiece ? piece : nil }

    package func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard hasPiece else { return nil }
        return try handle.stream.withReceived(piece, body)
    }

    package func consumePiece() {
        guard piece > 0 else { return }
        handle.lend { connection, stream in
            connection.session.consume(min(piece, stream.keptCount), of: stream)
            piece = 0
            // The window may open for as much again.
            if !stream.hasEnd { connection.scheduleSend() }
        }
    }

    /// Forgets what nobody will read; the peer may send no more in its place.
    package func letGo() {
        stop()
        handle.held.lend { $0.letGo() }
    }

    package func skipArrived() {
        consumePiece()
        while (try? nextPiece()) != nil { consumePiece() }
    }
}
