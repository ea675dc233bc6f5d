// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// A client's stream of HTTP/2 as one ``ClientExchange`` after another.
///
/// Confined to its loop's thread.
package final class ServerStream: ClientExchange {
    package private(set) var connection: HTTP2Connection
    package private(set) var stream: HTTP2Stream
    package private(set) var peer: PeerAddress
    package var request = HTTPRequest()
    package let incoming: StreamBody
    package let outgoing: StreamWriter
    private let reading: LoopWait
    private let writing: LoopWait
    private var onNews: (() -> Void)?
    /// Has the connection take no other streams than those that have begun.
    package var onShutdown: () -> Void = {}
    private var isClosed = false
    /// The key that the client's WebSocket has for an upstream of HTTP/1.1.
    private var webSocketKey: WebSocketKey?

    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection, from peer: PeerAddress) {
        self.stream = stream
        self.connection = connection
        self.peer = peer
        reading = LoopWait(loop: connection.loop)
        writing = LoopWait(loop: connection.loop)
        incoming = StreamBody(stream, on: connection, wait: reading)
        outgoing = StreamWriter(stream, on: connection, wait: writing)
        take()
    }

    /// Takes the next stream, of whatever connection, in place of one that is over.
    package func begin(_ stream: HTTP2Stream, on connection: HTTP2Connection, from peer: PeerAddress) {
        self.stream = stream
        self.connection = connection
        self.peer = peer
        incoming.use(stream, on: connection)
        outgoing.use(stream, on: connection)
        reading.forgetInterruption()
        writing.forgetInterruption()
        onNews = nil
        isClosed = false
        take()
    }

    private func take() {
        swap(&request, &stream.request)
        // A malformed head has none.
        request.version = .http2
        stream.onChange = { [unowned self] in changed() }  // taken back in conclude()
        webSocketKey = nil
        guard let name = stream.connectProtocol else { return }
        webSocketKey = request.offerUpgrade(to: name)
    }

    private func changed() {
        reading.wake()
        writing.wake()
        if stream.resetCode != nil || connection.peerHasEnded { onNews?() }
    }

    /// Why the request cannot be served; nil if it can.
    package var refusal: MessageError? {
        if stream.isMalformed { return .malformed(.malformed) }
        return stream.hasExpired ? .headTimedOut : stream.fault.map { .malformed($0) }
    }

    /// Ends what is left of the stream once its exchange is over.
    package func conclude() {
        onNews = nil
        incoming.letGo()
        let (connection, stream) = (connection, stream)
        guard !stream.isClosed, stream.resetCode == nil else {
            stream.onChange = nil
            return
        }
        guard stream.hasBegunSending else {
            stream.onChange = nil
            return reset(.cancel)
        }
        // Whoever has its answer need not send the rest of its request (RFC 9113 §8.1).
        stream.onChange = { [unowned connection, unowned stream] in
            guard stream.hasSentEnd, !stream.isClosed else { return }
            stream.onChange = nil
            connection.session.reset(stream, .noError)
            connection.scheduleSend()
        }
        stream.onChange?()
    }

    private func reset(_ code: HTTP2ErrorCode) {
        connection.session.reset(stream, code)
        connection.dispatch()
        connection.scheduleSend()
    }

    // MARK: The client

    package var isEncrypted: Bool { connection.stream.isEncrypted }
    package var peerNames: PeerNames { connection.stream.peerNames }

    package func isAdmitted(by security: any ConnectionSecurity) -> Bool {
        connection.stream.isAdmitted(by: security)
    }

    package var progress: ExchangeProgress {
        ExchangeProgress(
            received: stream.receivedCount, sent: stream.sentCount, untaken: stream.sending.count)
    }

    package func lookAtPeer() -> PeerState {
        guard connection.isOpen, stream.resetCode == nil else { return .hasReset }
        return connection.peerHasEnded ? connection.stream.lookAtPeer() : .present
    }

    package func watchPeer(_ onNews: (() -> Void)?) { self.onNews = onNews }

    // MARK: The request

    package func beginBody(limit: UInt64) throws(MessageError) -> BodyLength {
        incoming.begin(limit: limit)
        if let fault = stream.fault { throw .malformed(fault) }
        guard webSocketKey == nil else {
            incoming.beginNothing()
            return .none
        }
        if stream.hasEnd, stream.receivedCount == 0, stream.trailers.isEmpty {
            return stream.declaredLength == nil ? .none : .exact(0)
        }
        return stream.declaredLength.map { .exact($0) } ?? .open
    }

    package func leaveRequestUnread() {}

    // MARK: The answer

    package var persists: Bool { true }

    package func endConnectionAfterAnswer() { onShutdown() }

    package func send(
        interim head: inout HTTPResponse, within timeout: Duration
    ) async throws(StreamError) {
        guard connection.isOpen, stream.resetCode == nil else { throw .reset }
        connection.session.send(interim: head, on: stream)
        connection.scheduleSend()
    }

    package func begin(_ head: inout HTTPResponse, length: BodyLength) {
        var sent = head
        var length = request.method == .head ? .none : length
        if head.status == 101 {
            sent.status = 200
            sent.fields.remove(.secWebSocketAccept)
            length = .open
        } else if webSocketKey != nil, (200..<300).contains(head.status) {
            // To whoever asks for a tunnel a 2xx says that there is one.
            sent.status = 502
        }
        outgoing.begin(length: length) { [connection, stream] hasContent in
            connection.session.respond(sent, hasContent: hasContent, on: stream)
        }
    }

    package func endFollows() {}

    package func cut() {
        // The part of the answer that is there goes before the reset.
        connection.frame()
        reset(outgoing.hasTimedOut ? .cancel : .internalError)
    }

    // MARK: Both

    package var isOpen: Bool { !isClosed && connection.isOpen }

    package func close() {
        isClosed = true
        incoming.stop()
        reset(.cancel)
        reading.wake()
        writing.wake()
    }

    package func abort() {
        isClosed = true
        incoming.stop()
        reset(webSocketKey == nil ? .internalError : .connectError)
        reading.wake()
        writing.wake()
    }

    package func stopReceiving() { reading.interrupt() }

    package func resumeReceiving() { reading.forgetInterruption() }

    package func beginTunnel() { incoming.begin(limit: .max) }

    package func endSending(within timeout: Duration) async -> Bool {
        outgoing.end(trailers: HTTPFields())
        return (try? await outgoing.flush(within: timeout)) != nil
    }

    package func finish(within timeout: Duration) async { _ = await endSending(within: timeout) }
}
