// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
package import BearerdEventLoop
package import BearerdHTTP2
package import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdSystem

/// A client's stream of HTTP/2 as one ``ClientExchange`` after another.
///
/// Confined to its loop's thread.
package final class ServerStream: ClientExchange {
    private let handle: StreamHandle
    private var address: PeerAddress
    package var request: HTTPRequest {
        @inline(__always)
        _read { yield head.value }
        @inline(__always)
        _modify { yield &head.value }
    }
    /// Where ``request`` is; not private, because only what other modules may see is inlined there.
    package let head = Exclusive(HTTPRequest())
    package let incoming: StreamBody
    package let outgoing: StreamWriter
    private var onNews: (() -> Void)?
    /// Has the connection take no other streams than those that have begun.
    package var onShutdown: () -> Void = {}
    /// Called when the client has reset the stream, or is gone, and nobody watches (``watchPeer(_:)``).
    package var onReset: () -> Void = {}
    private var isClosed = false
    /// The key that the client's WebSocket has for an upstream of HTTP/1.1.
    private var webSocketKey: WebSocketKey?
    /// Heeds a change of the stream; made once for all of them.
    private var heed: () -> Void = {}

    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection, from peer: PeerAddress) {
        handle = StreamHandle(stream, on: connection)
        address = peer
        incoming = StreamBody(of: handle)
        outgoing = StreamWriter(of: handle)
        heed = { [unowned self] in changed() }  // conclude() takes it from the stream
        take()
    }

    private var connection: HTTP2Connection {
        @inline(__always)
        _read { yield handle.connection }
    }
    private var stream: HTTP2Stream {
        @inline(__always)
        _read { yield handle.stream }
    }

    package var peer: PeerAddress { address }

    /// Takes the next stream, of whatever connection, in place of one that is over.
    package func begin(_ stream: HTTP2Stream, on connection: HTTP2Connection, from peer: PeerAddress) {
        handle.use(stream, on: connection)
        address = peer
        if onNews != nil { onNews = nil }
        isClosed = false
        take()
    }

    private func take() {
        incoming.begin(limit: .max)
        outgoing.begin(.none)
        if webSocketKey != nil { webSocketKey = nil }
        handle.held.lend { stream in
            stream.swapRequest(with: &request)
            // A malformed head has none.
            request.version = .http2
            stream.onChange = heed
            guard let name = stream.connectProtocol else { return }
            webSocketKey = request.offerUpgrade(to: name)
        }
    }

    private func changed() {
        handle.wake()
        guard stream.resetCode != nil || connection.peerHasEnded else { return }
        if let onNews { onNews() } else { onReset() }
    }

    /// Why the request cannot be served; nil if it can.
    package var refusal: MessageError? {
        handle.held.lend { stream in
            if stream.isMalformed { return .malformed(.malformed) }
            return stream.hasExpired ? .headTimedOut : stream.fault.map { .malformed($0) }
        }
    }

    /// Ends what is left of the stream once its exchange is over.
    package func conclude() {
        if onNews != nil { onNews = nil }
        incoming.letGo()
        outgoing.forget()
        endStream()
        request.wipe()
        handle.letGo()
    }

    private func endStream() {
        handle.lend { connection, stream in
            stream.onChange = nil
            guard !stream.isClosed, stream.resetCode == nil else { return }
            if stream.hasBegunSending {
                connection.session.loseInterest(in: stream)
            } else {
                connection.session.reset(stream, .cancel)
                connection.dispatch()
            }
            connection.scheduleSend()
        }
    }

    // MARK: The client

    package var isEncrypted: Bool { connection.stream.isEncrypted }
    package var isCertificateCurrent: Bool { connection.stream.peerIsCurrent }
    package var peerNames: PeerNames { connection.stream.peerNames }

    package func isAdmitted(by security: any ConnectionSecurity) -> Bool {
        connection.stream.isAdmitted(by: security)
    }

    package var progress: ExchangeProgress {
        ExchangeProgress(
            received: stream.receivedCount, sent: stream.sentCount, untaken: stream.unsentCount)
    }

    package func lookAtPeer() -> PeerState {
        guard connection.isOpen, stream.resetCode == nil || stream.fault == .malformed else {
            return .hasReset
        }
        return connection.peerHasEnded ? connection.stream.lookAtPeer() : .present
    }

    package func watchPeer(_ onNews: (() -> Void)?) { self.onNews = onNews }

    // MARK: The request

    package func beginBody(limit: UInt64) throws(MessageError) -> BodyLength {
        incoming.begin(limit: limit)
        return try handle.held.lend { (stream) throws(MessageError) in
            if let fault = stream.fault { throw .malformed(fault) }
            guard webSocketKey == nil else {
                incoming.beginNothing()
                return .none
            }
            if stream.hasEnd, stream.receivedCount == 0, !stream.hasTrailers {
                incoming.beginNothing()
                return stream.declaredLength == nil ? .none : .exact(0)
            }
            return stream.declaredLength.map { .exact($0) } ?? .open
        }
    }

    /// The client has sent no key, and gets no proof: ours is for us to judge (RFC 6455 §4.1).
    package func isGranted(by answer: HTTPResponse) -> Bool {
        guard let key = webSocketKey?.text else { return true }
        return answer.fields[.secWebSocketAccept] == WebSocketProof.accept(key)
    }

    package func leaveRequestUnread() {}

    // MARK: The answer

    package var persists: Bool { true }

    package func endConnectionAfterAnswer() { onShutdown() }

    package func send(
        interim head: inout HTTPResponse, within timeout: Duration
    ) async throws(StreamError) {
        try await outgoing.send(interim: head, within: timeout)
    }

    package func begin(_ head: inout HTTPResponse, length: BodyLength) {
        if head.status == 101 || webSocketKey != nil { return begin(answerOfTunnel: head, length: length) }
        // Where it is: through the property, which is a protocol's too, all of the head would be copied.
        if case .head = self.head.value.method { return outgoing.begin(&head, length: .none) }
        outgoing.begin(&head, length: length)
    }

    private func begin(answerOfTunnel head: HTTPResponse, length: BodyLength) {
        var sent = head
        var length = length
        if head.status == 101 {
            sent.status = 200
            sent.fields.remove(.secWebSocketAccept)
            length = .open
        } else if (200..<300).contains(head.status) {
            // To whoever asks for a tunnel a 2xx says that there is one.
            sent.status = 502
        }
        outgoing.begin(&sent, length: length)
    }

    package func endFollows() {}

    package func cut() { cut(with: HTTP2ErrorCode.internalError.rawValue) }

    package func cut(with code: UInt32) {
        // The part of the answer that is there goes before the reset.
        connection.frame()
        handle.reset(outgoing.hasTimedOut ? .cancel : HTTP2ErrorCode(rawValue: code))
    }

    // MARK: Both

    package var isOpen: Bool { !isClosed && connection.isOpen }

    package func close() {
        isClosed = true
        incoming.stop()
        handle.reset(.cancel)
        handle.wake()
    }

    package func abort() {
        isClosed = true
        incoming.stop()
        // RFC 8441 §5: so a tunnel tells that its connection was reset.
        handle.reset(webSocketKey == nil ? .internalError : .cancel)
        handle.wake()
    }

    package func stopReceiving() { handle.reading.interrupt() }

    package func resumeReceiving() { handle.reading.forgetInterruption() }

    package func beginTunnel() { incoming.begin(limit: .max) }

    package func endSending(within timeout: Duration) async -> Bool {
        outgoing.end(trailers: HTTPFields())
        return (try? await outgoing.flush(within: timeout)) != nil
    }

    package func finish(within timeout: Duration) async { _ = await endSending(within: timeout) }
}
