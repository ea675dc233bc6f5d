// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// The message that goes out on one HTTP/2 stream after another.
///
/// Small pieces gather in the stream, whose window and connection say when they go. Confined to its loop's thread.
package final class StreamWriter: BodySink {
    /// How much of a stream's content waits at most for its window before its sender does, in bytes.
    private static let keptLimit = 32 * 1024

    private let handle: StreamHandle
    /// The head, until it is given to the session with the first send.
    private var head: StreamHead?
    private var length = BodyLength.none
    private var count: UInt64 = 0
    private var hasEnd = false
    private var isTimedOut = false
    /// True once a wait for the peer to take more has timed out.
    package var hasTimedOut: Bool { isTimedOut }
    /// Called when a wait for the peer to take more times out.
    package var onTimeOut: () -> Void = {}

    package init(of handle: StreamHandle) { self.handle = handle }

    /// Begins a message; its head goes with the first send.
    ///
    /// - Parameters:
    ///   - head: nil if it has gone out before.
    ///   - length: of the content; one that is exact ends the message.
    package func begin(_ head: StreamHead?, length: BodyLength) {
        self.head = head
        self.length = length
        count = 0
        isTimedOut = false
        hasEnd = length.isZero
    }

    /// Forgets a message that is over.
    package func forget() {
        if head != nil { head = nil }
        hasEnd = true
    }

    package var framesEnd: Bool { true }

    /// The connection's window is shared by its streams.
    package var takesMuch: Bool {
        let session = handle.connection.session
        return window - handle.stream.unsentCount >= StoragePool.large
            && session.connectionWindow / max(session.streamCount, 1) >= StoragePool.large
    }

    /// True once the whole message is given to the connection, though perhaps not sent.
    package var isWhole: Bool { hasEnd && head == nil }

    package var hasSent: Bool { handle.stream.hasBegunSending }

    package func append(_ content: [UInt8]) { put(content.span) }

    package func end(trailers: @autoclosure () -> HTTPFields) {
        guard !hasEnd else { return }
        hasEnd = true
        handle.connection.session.end(handle.stream, trailers: trailers())
    }

    package func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool {
        try handle.check()
        put(piece)
        guard handle.stream.unsentCount > Self.keptLimit else { return true }
        begin()
        return false
    }

    package func send(
        pieceOf source: some BodySource, within timeout: Duration
    ) async throws(StreamError) {
        defer { source.consumePiece() }
        if handle.connection.stream.turnIsOver { await handle.connection.stream.yield() }
        guard let count = source.pieceCount else { throw .closed }
        var sent = 0
        while sent < count {
            try handle.check()
            let room = Self.keptLimit - handle.stream.unsentCount
            guard room > 0 else {
                begin()
                try await awaitProgress(within: timeout)
                continue
            }
            let end = min(count, sent + room)
            guard source.withPiece({ put($0.extracting(sent..<end)) }) != nil else { throw .closed }
            sent = end
            if handle.connection.stream.turnIsOver { await handle.connection.stream.yield() }
        }
    }

    package func flush() throws(StreamError) -> Bool {
        try handle.check()
        begin()
        let stream = handle.stream
        return stream.isClosed || (!handle.connection.isCongested && stream.unsentCount <= window)
    }

    package func flush(within timeout: Duration) async throws(StreamError) {
        guard try !flush() else { return }
        while handle.stream.unsentCount > 0 { try await awaitProgress(within: timeout) }
    }

    private var window: Int { max(0, handle.connection.session.window(of: handle.stream)) }

    private func put(_ bytes: Span<UInt8>) {
        count &+= UInt64(bytes.count)
        handle.connection.session.send(bytes, on: handle.stream)
    }

    /// Gives what is kept to the connection.
    private func begin() {
        if case .exact(let length) = length, count >= length, !hasEnd { end(trailers: HTTPFields()) }
        if let head = head.take() {
            let stream = handle.stream
            let hasContent = !(hasEnd && stream.unsentCount == 0 && !stream.hasTrailersToSend)
            head.send(on: stream, of: handle.connection.session, hasContent: hasContent)
        }
        handle.connection.scheduleSend()
    }

    /// Waits until the peer has taken more.
    private func awaitProgress(within timeout: Duration) async throws(StreamError) {
        let before = handle.stream.sentCount
        let deadline = CoarseInstant.after(timeout)
        while handle.stream.sentCount == before {
            let seen = handle.writing.news
            try handle.check()
            do {
                try await handle.writing.wait(after: seen, until: deadline)
            } catch {
                if error == .timedOut {
                    isTimedOut = true
                    onTimeOut()
                }
                throw error
            }
        }
    }
}
