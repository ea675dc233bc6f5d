// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2
package import BearerdHTTP2Streams
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// One stream of an HTTP/2 connection to an upstream: a request and its response.
///
/// Confined to its loop's thread.
package final class HTTP2Exchange: UpstreamExchange, ArrivalSource {
    package static var isJudgedByTrailers: Bool { true }

    /// The connection that carries it.
    let link: HTTP2Link
    package let incoming: StreamBody
    package let outgoing: StreamWriter
    package var response = HTTPResponse()
    package let isFirst: Bool
    /// The request's place under the route's limit.
    var permit: UpstreamPermit?

    private let stream = HTTP2Stream()
    private let reading: LoopWait
    private let writing: LoopWait
    private var isClosed = false
    /// How many bytes had come on the connection when the request began.
    private var arrivedBefore: UInt64 = 0
    private var hasTimedOut = false
    /// The tunnel that the request asks for; nil for a message.
    private var tunnel: WebSocketRequest?

    private var connection: HTTP2Connection { link.connection }

    init(on link: HTTP2Link, isFirst: Bool, permit: UpstreamPermit) {
        self.link = link
        self.isFirst = isFirst
        self.permit = permit
        reading = LoopWait(loop: link.connection.loop)
        writing = LoopWait(loop: link.connection.loop)
        incoming = StreamBody(stream, on: link.connection, wait: reading)
        outgoing = StreamWriter(stream, on: link.connection, wait: writing)
    }

    /// Ends what is left of the stream.
    func conclude() {
        stream.onChange = nil
        // The end of a request whose response came early may not have gone out yet.
        if !stream.isClosed, stream.hasEnd, outgoing.isWhole { connection.frame() }
        if !stream.isClosed { reset() }
        permit = nil
    }

    private func reset() {
        connection.session.reset(stream, .cancel)
        connection.dispatch()
        connection.scheduleSend()
    }

    private func changed() {
        reading.wake()
        writing.wake()
    }

    // MARK: The request

    package func begin(_ head: inout HTTPRequest, as form: RequestForm) {
        arrivedBefore = connection.stream.bytesReceived
        if let protocols = form.upgrade, connection.session.peerTakesConnectProtocol {
            tunnel = WebSocketRequest(head, offering: protocols)
        }
        var sent = head
        if tunnel != nil { sent.fields.remove(.secWebSocketKey) }
        stream.onChange = { [unowned self] in changed() }  // taken back in conclude()
        // An upstream that takes nothing of a request for so long is not waited for.
        outgoing.onTimeOut = { [unowned self] in reset() }  // it goes with us
        let (session, scheme, name) = (connection.session, link.scheme, tunnel?.name)
        let takesTrailers = form.takesTrailers
        // A tunnel has no end of a message, though the request that asks for it has.
        outgoing.begin(length: form.length) { [stream] hasContent in
            _ = session.request(
                sent, on: stream, scheme: scheme, hasContent: hasContent || name != nil,
                takesTrailers: takesTrailers, connectProtocol: name)
        }
    }

    package var isLeftUnprocessed: Bool { stream.isUnprocessed }

    // MARK: The response

    package var hasArrived: Bool { stream.hasHead || !stream.responses.isEmpty }

    package var arrivals: HTTP2Exchange { self }

    package func more(within timeout: Duration) async throws(StreamError) -> Bool {
        let deadline = CoarseInstant.after(timeout)
        while true {
            let seen = reading.news
            if !stream.responses.isEmpty || isMalformed { return true }
            if isClosed { throw .closed }
            if outgoing.hasTimedOut {
                // Not at once: the upload is to learn of it, too.
                try await reading.wait(after: reading.news, until: .now + .milliseconds(1))
                throw .timedOut
            }
            if stream.isClosed || stream.resetCode != nil || !connection.isOpen { return false }
            do {
                try await reading.wait(after: seen, until: deadline)
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
    private var isMalformed: Bool {
        guard !isClosed, !stream.isResetByPeer, let code = stream.resetCode else { return false }
        return code != .cancel && code != .noError && code != .refusedStream && !stream.isUnprocessed
    }

    package func receiveHead() throws(MessageError) -> Bool {
        if let fault = stream.fault { throw .malformed(fault) }
        guard !stream.responses.isEmpty else {
            if isMalformed { throw .malformed(.malformed) }
            return false
        }
        response = stream.responses.removeFirst()
        if let tunnel, (200..<300).contains(response.status) { tunnel.grant(in: &response) }
        return true
    }

    package func beginBody(answering method: HTTPMethod) throws(MessageError) -> BodyLength {
        incoming.begin(limit: .max)
        guard method != .head, response.status != 204, response.status != 304 else { return .none }
        if stream.hasEnd, stream.receivedCount == 0, stream.trailers.isEmpty { return .exact(0) }
        return stream.declaredLength.map { .exact($0) } ?? .open
    }

    package var persists: Bool { connection.isOpen && stream.resetCode == nil }

    // MARK: Both

    package var isOpen: Bool { !isClosed && connection.isOpen }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        incoming.stop()
        if !stream.isClosed { reset() }
        changed()
    }

    package func abort() { close() }

    package func stopReceiving() { reading.interrupt() }

    package func resumeReceiving() { reading.forgetInterruption() }

    package func beginTunnel() {
        incoming.begin(limit: .max)
        outgoing.begin(length: .open) { _ in }
    }

    package func endSending(within timeout: Duration) async -> Bool {
        outgoing.end(trailers: HTTPFields())
        return (try? await outgoing.flush(within: timeout)) != nil
    }

    package func finish(within timeout: Duration) async { _ = await endSending(within: timeout) }
}
