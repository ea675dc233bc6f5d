// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// The message that goes out on one HTTP/2 stream after another.
///
/// Small pieces gather in the stream, whose window and connection say when they go. Confined to its loop's thread.
package final class StreamWriter: BodySink {
    /// How much of a stream's content waits at most for its window before its sender does, in bytes.
    private static let keptLimit = 32 * 1024

    /// How many interim heads of a stream wait at most before their sender does.
    private static let keptInterims = 8

    private let handle: StreamHandle
    /// True while the head of an answer waits for the first send, when it is known if content follows.
    private var isHeadWaiting = false
    /// The status in the head that waits.
    private var status = 0
    private let fields = Exclusive(HTTPFields())
    private var hasEnd = false
    private var isTimedOut = false
    /// True once a wait for the peer to take more has timed out.
    package var hasTimedOut: Bool { isTimedOut }
    /// Called when a wait for the peer to take more times out.
    package var onTimeOut: () -> Void = {}

    package init(of handle: StreamHandle) { self.handle = handle }

    /// Begins a message whose head has gone out before.
    ///
    /// - Parameter length: of the content; without any the head ends the message, else ``end(trailers:)`` does, because
    ///   trailers may follow a declared length too.
    package func begin(_ length: BodyLength) { begin(length, behindHead: false) }

    /// Begins an answer; its head goes with the first send.
    ///
    /// - Parameter response: lent, because a copy is dear.
    package func begin(_ response: inout HTTPResponse, length: BodyLength) {
        // It may take the place of an answer that has broken off before its head went out.
        handle.lend { connection, stream in
            if !stream.hasBegunSending { connection.session.forgetUnsent(of: stream) }
        }
        fields.value = response.fields
        status = response.status
        begin(length, behindHead: true)
    }

    /// Sends a head that only precedes the answer, and waits while the peer takes none.
    func send(interim head: HTTPResponse, within timeout: Duration) async throws(StreamError) {
        let (connection, stream) = (handle.connection, handle.stream)
        try handle.check(connection, stream)
        connection.session.send(interim: head, on: stream)
        connection.scheduleSend()
        guard stream.interimCount > Self.keptInterims else { return }
        stream.isAwaited = true
        defer { stream.isAwaited = false }
        let deadline = handle.writing.end(of: timeout)
        while stream.interimCount > Self.keptInterims {
            let seen = handle.writing.news
            try handle.check(connection, stream)
            try await handle.writing.wait(after: seen, until: deadline)
        }
    }

    /// Begins a request; its head is given to the connection at once.
    ///
    /// - Parameters:
    ///   - request: lent, because a copy is dear.
    ///   - takesTrailers: true if whoever reads the answer wants its trailers (RFC 9110 §10.1.4).
    ///   - tunnel: the protocol of an extended CONNECT (RFC 8441); nil for a message.
    package func begin(
        _ request: inout HTTPRequest, scheme: HTTPURL.Scheme, takesTrailers: Bool, tunnel: String?,
        length: BodyLength
    ) {
        // A tunnel has no end of a message, though the request that asks for it has.
        begin(tunnel == nil ? length : .none, behindHead: false)
        handle.lend { connection, stream in
            _ = connection.session.request(
                &request, on: stream, scheme: scheme, hasContent: length != .none || tunnel != nil,
                takesTrailers: takesTrailers, connectProtocol: tunnel)
        }
    }

    private func begin(_ length: BodyLength, behindHead isHeadWaiting: Bool) {
        self.isHeadWaiting = isHeadWaiting
        isTimedOut = false
        hasEnd = length == .none
    }

    /// Forgets a message that is over.
    package func forget() {
        if isHeadWaiting { dropHead() }
        hasEnd = true
    }

    package var framesEnd: Bool { true }

    /// The connection's window is shared by its streams.
    package var takesMuch: Bool {
        handle.lend { connection, stream in
            let session = connection.session
            return window - stream.unsentCount >= StoragePool.large
                && session.connectionWindow / max(session.streamCount, 1) >= StoragePool.large
        }
    }

    /// True once the whole message is given to the connection, though perhaps not sent.
    package var isWhole: Bool { hasEnd && !isHeadWaiting }

    package var hasSent: Bool { handle.held.lend { $0.hasBegunSending } }

    package func append(_ content: [UInt8]) { put(content.span) }

    package func end(trailers: @autoclosure () -> HTTPFields) {
        guard !hasEnd else { return }
        hasEnd = true
        handle.lend { connection, stream in
            connection.session.end(stream, trailers: trailers())
            // The rest of the message has gone out, and nobody may flush the end for a while.
            if !isHeadWaiting { connection.scheduleSend() }
        }
    }

    package func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool {
        try handle.lend { (connection, stream) throws(StreamError) in
            try handle.check(connection, stream)
            connection.session.send(piece, on: stream)
            guard stream.unsentCount > Self.keptLimit else { return true }
            begin(connection, stream)
            return false
        }
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
                begin(handle.connection, handle.stream)
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
        try handle.lend { (connection, stream) throws(StreamError) in
            try handle.check(connection, stream)
            begin(connection, stream)
            guard stream.unsentCount > 0, !stream.isClosed else {
                return stream.isClosed || !connection.isCongested
            }
            guard connection.session.role == .client else {
                return !connection.isCongested && stream.unsentCount <= connection.session.window(of: stream)
            }
            // With what others send, which goes out together.
            if !connection.isCongested, connection.session.takesAllUnsent(of: stream) { return true }
            // The connection's window is shared: what is not framed now may have to wait for what others send.
            connection.frame()
            return stream.isClosed || (!connection.isCongested && stream.unsentCount == 0)
        }
    }

    package func flush(within timeout: Duration) async throws(StreamError) {
        guard try !flush() else { return }
        while handle.stream.unsentCount > 0 { try await awaitProgress(within: timeout) }
    }

    private var window: Int { handle.lend { max(0, $0.session.window(of: $1)) } }

    private func put(_ bytes: Span<UInt8>) {
        handle.lend { $0.session.send(bytes, on: $1) }
    }

    /// Gives what is kept to the connection.
    @inline(__always)
    private func begin(_ connection: HTTP2Connection, _ stream: HTTP2Stream) {
        if isHeadWaiting { sendHead(connection, stream) }
        connection.scheduleSend()
    }

    private func sendHead(_ connection: HTTP2Connection, _ stream: HTTP2Stream) {
        let hasContent = !(hasEnd && stream.unsentCount == 0 && !stream.hasTrailersToSend)
        connection.session.respond(status, &fields.value, hasContent: hasContent, on: stream)
        dropHead()
    }

    /// Lets go of the head, whose memory is the message's own.
    private func dropHead() {
        isHeadWaiting = false
        fields.value = HTTPFields()
    }

    /// Waits until the peer has taken more.
    private func awaitProgress(within timeout: Duration) async throws(StreamError) {
        // A copy: who waits for the next stream has another one.
        let stream = handle.stream
        stream.isAwaited = true
        defer { stream.isAwaited = false }
        let before = stream.sentCount
        var wait = ContentWait(on: handle.connection.session)
        var deadline = CoarseInstant.after(timeout)
        while stream.sentCount == before {
            let seen = handle.writing.news
            try handle.check()
            do {
                try await handle.writing.wait(after: seen, until: deadline)
            } catch {
                guard error == .timedOut else { throw error }
                guard wait.mayGoOn(stream, on: handle.connection.session) else {
                    isTimedOut = true
                    onTimeOut()
                    throw error
                }
                deadline = .after(timeout)
            }
        }
    }
}
