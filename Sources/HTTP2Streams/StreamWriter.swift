// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// The message that goes out on one HTTP/2 stream after another.
///
/// Small pieces gather in the stream, whose window and connection say when they go. Confined to its loop's thread.
package final class StreamWriter: BodySink {
    /// How much of a stream's content waits at most for its window before its sender does, in bytes.
    private static let keptLimit = 32 * 1024

    private var connection: HTTP2Connection
    private var stream: HTTP2Stream
    private let wait: LoopWait
    /// Gives the session the head, and begins the stream's sending; false for a head that ends the message.
    private var sendHead: ((_ hasContent: Bool) -> Void)?
    private var length = BodyLength.none
    private var count: UInt64 = 0
    private var hasEnd = false
    /// True once a wait for the peer to take more has timed out.
    package private(set) var hasTimedOut = false { didSet { if hasTimedOut { onTimeOut() } } }
    /// Called when a wait for the peer to take more times out.
    package var onTimeOut: () -> Void = {}

    /// - Parameter wait: woken when the stream changes.
    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection, wait: LoopWait) {
        self.stream = stream
        self.connection = connection
        self.wait = wait
    }

    /// Writes to another stream from here on.
    package func use(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        self.stream = stream
        self.connection = connection
        sendHead = nil
        length = .none
        count = 0
        hasEnd = false
        hasTimedOut = false
    }

    /// Begins a message; its head goes with the first send.
    ///
    /// - Parameters:
    ///   - length: of the content; one that is exact ends the message.
    ///   - sendHead: gives the head to the session.
    package func begin(length: BodyLength, _ sendHead: @escaping (_ hasContent: Bool) -> Void) {
        self.length = length
        self.sendHead = sendHead
        hasEnd = length.isZero
    }

    package var framesEnd: Bool { true }

    /// The connection's window is shared by its streams.
    package var takesMuch: Bool {
        let session = connection.session
        return window - stream.sending.count >= StoragePool.large
            && session.connectionWindow / max(session.streamCount, 1) >= StoragePool.large
    }

    /// True once the whole message is given to the connection, though perhaps not sent.
    package var isWhole: Bool { hasEnd && sendHead == nil }

    package var hasSent: Bool { stream.hasBegunSending }

    package func append(_ content: [UInt8]) { put(content.span) }

    package func end(trailers: @autoclosure () -> HTTPFields) {
        guard !hasEnd else { return }
        hasEnd = true
        connection.session.end(stream, trailers: trailers())
    }

    package func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool {
        try check()
        put(piece)
        guard stream.sending.count > Self.keptLimit else { return true }
        begin()
        return false
    }

    package func send(
        pieceOf source: some BodySource, within timeout: Duration
    ) async throws(StreamError) {
        defer { source.consumePiece() }
        if connection.stream.turnIsOver { await connection.stream.yield() }
        guard let count = source.pieceCount else { throw .closed }
        var sent = 0
        while sent < count {
            try check()
            let room = Self.keptLimit - stream.sending.count
            guard room > 0 else {
                begin()
                try await awaitProgress(within: timeout)
                continue
            }
            let end = min(count, sent + room)
            guard source.withPiece({ put($0.extracting(sent..<end)) }) != nil else { throw .closed }
            sent = end
            if connection.stream.turnIsOver { await connection.stream.yield() }
        }
    }

    package func flush() throws(StreamError) -> Bool {
        try check()
        begin()
        return stream.isClosed || (!connection.isCongested && stream.sending.count <= window)
    }

    package func flush(within timeout: Duration) async throws(StreamError) {
        guard try !flush() else { return }
        while !stream.sending.isEmpty { try await awaitProgress(within: timeout) }
    }

    private var window: Int { max(0, connection.session.window(of: stream)) }

    private func put(_ bytes: Span<UInt8>) {
        count &+= UInt64(bytes.count)
        connection.session.send(bytes, on: stream)
    }

    /// Gives what is kept to the connection.
    private func begin() {
        if case .exact(let length) = length, count >= length, !hasEnd { end(trailers: HTTPFields()) }
        if let sendHead {
            self.sendHead = nil
            sendHead(!(hasEnd && stream.sending.isEmpty && !stream.hasTrailersToSend))
        }
        connection.scheduleSend()
    }

    private func check() throws(StreamError) {
        guard connection.isOpen, stream.resetCode == nil else { throw .reset }
    }

    /// Waits until the peer has taken more.
    private func awaitProgress(within timeout: Duration) async throws(StreamError) {
        let before = stream.sentCount
        let deadline = CoarseInstant.after(timeout)
        while stream.sentCount == before {
            let seen = wait.news
            try check()
            do {
                try await wait.wait(after: seen, until: deadline)
            } catch {
                if error == .timedOut { hasTimedOut = true }
                throw error
            }
        }
    }
}
