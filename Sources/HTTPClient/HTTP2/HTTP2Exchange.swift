// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2
package import BearerdHTTP2Streams
package import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdSystem

/// One stream of an HTTP/2 connection to an upstream: a request and its response.
///
/// Confined to its loop's thread.
package final class HTTP2Exchange: UpstreamExchange, ArrivalSource {
    package var isJudgedByTrailers: Bool { true }

    /// The connection that carries it.
    var link: HTTP2Link { carrier }
    package let incoming: StreamBody
    package let outgoing: StreamWriter
    package var response: HTTPResponse {
        @inline(__always)
        _read { yield head.value }
        @inline(__always)
        _modify { yield &head.value }
    }
    /// Where ``response`` is; not private, because only what other modules may see is inlined there.
    package let head = Exclusive(HTTPResponse())
    package var isFirst: Bool { beganLink }

    // Private, because the compiler proves of these what it has to check at run time for what others see.
    private var carrier: HTTP2Link
    private var beganLink: Bool
    /// The request's place under the route's limit.
    private var permit: UpstreamPermit
    private let handle: StreamHandle
    private var isClosed = false
    /// True once the head of an answer has come that has no content.
    private var isBodyless = false
    /// True for HEAD, whose answer declares the length of content that does not follow.
    private var asksForHead = false
    /// How many bytes had come on the connection when the request began.
    private var arrivedBefore: UInt64 = 0
    private var hasTimedOut = false
    private var hasInterim = false
    /// ``trailingCallStatus`` once it was looked for, which a call is asked several times; nil before that.
    private var seenCallStatus: Int??
    /// The tunnel that the request asks for; nil for a message.
    private var tunnel: WebSocketRequest?
    /// Heeds a change of the stream; made once for all requests.
    private var heed: () -> Void = {}

    private var stream: HTTP2Stream {
        @inline(__always)
        _read { yield handle.stream }
    }
    private var connection: HTTP2Connection {
        @inline(__always)
        _read { yield handle.connection }
    }

    init(on link: HTTP2Link, isFirst: Bool, permit: UpstreamPermit) {
        carrier = link
        beganLink = isFirst
        self.permit = permit
        handle = StreamHandle(link.connection.session.pool.take(), on: link.connection)
        incoming = StreamBody(of: handle)
        outgoing = StreamWriter(of: handle)
        heed = { [unowned self] in handle.wake() }  // conclude() takes it from the stream
        // An upstream that takes nothing of a request for so long is not waited for.
        outgoing.onTimeOut = { [unowned self] in handle.reset(.cancel) }  // `self` owns it
    }

    /// Takes the place under the route's limit again that the last request has given back.
    ///
    /// - Returns: false if none is free.
    func takePermit() -> Bool { permit.takeAgain() }

    /// Serves another request, on whatever connection, in place of one that is over.
    ///
    /// - Parameter permit: nil after ``takePermit()``.
    func begin(on link: HTTP2Link, isFirst: Bool, permit: UpstreamPermit?) {
        if link !== carrier { carrier = link }
        beganLink = isFirst
        if let permit { self.permit = permit }
        isClosed = false
        isBodyless = false
        hasTimedOut = false
        hasInterim = false
        seenCallStatus = nil
        if tunnel != nil { tunnel = nil }
        handle.use(link.connection.session.pool.take(), on: link.connection)
        incoming.begin(limit: .max)
        outgoing.begin(.none)
    }

    /// Ends what is left of the stream.
    func conclude() {
        endStream()
        incoming.letGo()
        outgoing.forget()
        permit.giveBack()
        handle.letGo()
    }

    private func endStream() {
        handle.lend { connection, stream in
            stream.onChange = nil
            // The end of a request whose response came early may not have gone out yet.
            if !stream.isClosed, stream.hasEnd, outgoing.isWhole { connection.frame() }
            // Where both messages are whole it is no cancellation, which upstreams count.
            if !stream.isClosed { handle.reset(isBodyless && outgoing.isWhole ? .noError : .cancel) }
            if stream.resetCode == .cancel, !stream.isResetByPeer { carrier.cancelled() }
        }
    }

    // MARK: The request

    package func begin(_ head: inout HTTPRequest, as form: RequestForm) {
        handle.lend { connection, stream in
            arrivedBefore = connection.stream.bytesReceived
            asksForHead = if case .head = head.method { true } else { false }
            if let protocols = form.upgrade, connection.session.peerTakesConnectProtocol {
                tunnel = WebSocketRequest(head, offering: protocols)
            }
            stream.onChange = heed
        }
        if let tunnel {
            // Not the request's own: it may be sent once more, over HTTP/1.1.
            var sent = head
            sent.fields.remove(.secWebSocketKey)
            return begin(&sent, as: form, tunnel: tunnel.name)
        }
        begin(&head, as: form, tunnel: nil)
    }

    private func begin(_ head: inout HTTPRequest, as form: RequestForm, tunnel: String?) {
        outgoing.begin(
            &head, scheme: carrier.scheme, takesTrailers: form.takesTrailers, tunnel: tunnel,
            length: form.length)
    }

    package var isLeftUnprocessed: Bool { stream.isUnprocessed && !wantsOtherProtocol }

    package var wantsOtherProtocol: Bool {
        guard stream.resetCode != nil, !stream.hasHead, !stream.hasResponse else { return false }
        if stream.isResetByPeer { return stream.resetCode == .http11Required }
        return stream.isUnprocessed && carrier.wantsOtherProtocol
    }

    package var hasReadInterim: Bool { hasInterim }

    package var loss: ResponseLoss {
        if stream.isResetByPeer { return .exchange }
        if carrier.endedMute { return .silence }
        if connection.isFlooded { return .floodOfTLS }
        let session = connection.session
        if let kind = session.flood { return .flood(of: kind) }
        guard session.peerFault == nil else { return .breach }
        return session.isInsideHead(of: stream) ? .head : .connection
    }

    // MARK: The response

    package var hasArrived: Bool { stream.hasHead || stream.hasResponse }

    package var arrivals: HTTP2Exchange { self }

    package func more(within timeout: Duration) async throws(StreamError) -> Bool {
        let deadline = handle.reading.end(of: timeout)
        while true {
            let seen = handle.reading.news
            if handle.held.lend({ hasHead($0) || isMalformed($0) }) { return true }
            if isClosed { throw .closed }
            if outgoing.hasTimedOut {
                // Not at once: the upload is to learn of it, too.
                try await handle.reading.wait(after: handle.reading.news, until: .now + .milliseconds(1))
                throw .timedOut
            }
            if handle.lend({ !$0.isOpen || $1.isClosed || $1.resetCode != nil }) { return false }
            do {
                try await handle.reading.wait(after: seen, until: deadline)
            } catch {
                hasTimedOut = error == .timedOut
                throw error
            }
        }
    }

    /// True if the request has waited for its response in vain, and nothing else has come on the connection since: perhaps
    /// the upstream, or the way to it, is gone without a word.
    var isUnheard: Bool { hasTimedOut && connection.stream.bytesReceived == arrivedBefore }

    /// True if the stream, or all of its connection, was ended here for what the upstream has sent.
    private func isMalformed(_ stream: HTTP2Stream) -> Bool {
        guard !isClosed, !stream.isResetByPeer, let code = stream.resetCode else { return false }
        return code != .cancel && code != .noError && code != .refusedStream && !stream.isUnprocessed
    }

    /// Returns true if a head can be read.
    @inline(__always)
    private func hasHead(_ stream: HTTP2Stream) -> Bool {
        stream.hasResponse && (tunnel != nil || asksForHead || !stream.awaitsEmptyEnd)
    }

    package func receiveHead() throws(MessageError) -> Bool {
        let isThere = try handle.held.lend { (stream) throws(MessageError) in
            if let fault = stream.fault { throw .malformed(fault) }
            guard hasHead(stream) else {
                if isMalformed(stream) { throw .malformed(.malformed) }
                return false
            }
            stream.takeResponse(into: &response)
            return true
        }
        guard isThere else { return false }
        if response.isInterim { hasInterim = true }
        if let tunnel, (200..<300).contains(response.status) { tunnel.grant(in: &response) }
        return true
    }

    package func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength {
        // Not compared: that would be a comparison of texts.
        let isHead = if case .head = method { true } else { false }
        guard !isHead, response.status != 204, response.status != 304 else {
            // The head is all of the message (RFC 9110 §6.4.1), whether or not the stream has ended with it.
            isBodyless = true
            incoming.beginNothing()
            return .none
        }
        incoming.begin(limit: .max)
        return handle.held.lend { stream in
            if stream.hasEnd, stream.receivedCount == 0, !stream.hasTrailers { return .exact(0) }
            return stream.declaredLength.map { .exact($0) } ?? .open
        }
    }

    package var trailingCallStatus: Int? {
        if let seenCallStatus { return seenCallStatus }
        return handle.held.lend { stream in
            guard stream.hasEnd else { return nil }
            let status = stream.callStatus
            seenCallStatus = .some(status)
            return status
        }
    }

    package var tellingResetCode: UInt32? {
        let stream = handle.stream
        guard stream.isResetByPeer, let code = stream.resetCode, Self.tellingCodes.contains(code) else {
            return nil
        }
        return code.rawValue
    }

    /// Those that libraries of gRPC have a status of their own for; all others are INTERNAL to them.
    private static let tellingCodes: Set<HTTP2ErrorCode> = [
        .refusedStream, .cancel, .enhanceYourCalm, .inadequateSecurity,
    ]

    package var persists: Bool { connection.isOpen && stream.resetCode == nil }

    // MARK: Both

    package var isOpen: Bool { !isClosed && connection.isOpen }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        incoming.stop()
        if !stream.isClosed { handle.reset(.cancel) }
        handle.wake()
    }

    package func abort() { close() }

    package func stopReceiving() { handle.reading.interrupt() }

    package func resumeReceiving() { handle.reading.forgetInterruption() }

    package func beginTunnel() {
        incoming.begin(limit: .max)
        outgoing.begin(.open)
    }

    package func endSending(within timeout: Duration) async -> Bool {
        outgoing.end(trailers: HTTPFields())
        return (try? await outgoing.flush(within: timeout)) != nil
    }

    package func finish(within timeout: Duration) async { _ = await endSending(within: timeout) }
}
