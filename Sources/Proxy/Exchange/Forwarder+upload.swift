// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// How long to wait for the rest of a body before a refused request is sent again.
private let bodyDelay = Duration.seconds(1)

/// The request's content, if it takes longer than the head.
extension Forwarder {
    /// True if the body is to be received before the request gets an upstream connection, because those are scarce, and
    /// clients that send slowly could hold all of them.
    ///
    /// Not of a call of gRPC over HTTP/2, whose client may wait for an answer before it goes on.
    func gathersBody<Pool: ExchangePool>(of exchange: Exchange, on route: PooledRoute<Pool>) -> Bool {
        guard route.terms.replayBuffer > 0, route.pool.isCrowded else { return false }
        return exchange.client.request.version != .http2 || !exchange.isCall
    }

    /// Receives the body, but no more than `replay_buffer` of it.
    func gatherBody<Pool: ExchangePool>(
        of exchange: Exchange, on route: PooledRoute<Pool>
    ) async throws(ProxyError) {
        if exchange.client.request.fields.has(.expect) { try await invite(exchange) }
        do {
            try await exchange.upload.gather()
        } catch {
            try judge(error)
        }
        try await renewToken(of: exchange, on: route)
    }

    /// True if a client may wait to be asked for its content, and nobody would: the route leaves that out of the head.
    func waitsInVain(_ exchange: Exchange, on route: RouteState) -> Bool {
        exchange.client.request.fields.has(.expect) && !exchange.upload.hasArrived
            && route.plan.requestEdits?.remove.contains(.expect) == true
    }

    /// Sends a 100 to a client that waits for one (RFC 9110 §10.1.1), without asking the upstream.
    func invite(_ exchange: Exchange) async throws(ProxyError) {
        let client = exchange.client
        guard client.request.version != .http10,
            client.request.fields.containsToken("100-continue", in: .expect)
        else { return }
        client.request.fields.remove(.expect)
        var invitation = HTTPResponse(status: 100)
        try await sendInterim(&invitation, to: exchange)
    }

    /// Sends the rest of the content while the response may already arrive.
    ///
    /// If the client fails, the upstream must see a cut, not an end.
    func sendRest(of exchange: Exchange, to upstream: some UpstreamExchange) async {
        await exchange.upload.sendRest(to: upstream)
        if exchange.upload.isCutByClient { upstream.close() }
        if exchange.answer.isWhole { upstream.stopReceiving() }
    }

    /// Sends the rest of the content after a response that is already complete, as long as the upstream takes
    /// it.
    ///
    /// An upstream that answers early and keeps the connection goes on reading (RFC 9112 §9.3), and may need
    /// the rest.
    func finishUpload(of exchange: Exchange, to upstream: some UpstreamExchange) async {
        // A client that waited for a 100 in vain will hardly send the body now.
        guard upstream.persists, exchange.record.status < 300,
            !exchange.client.request.fields.has(.expect)
        else { return }
        exchange.answer.isWhole = true
        // Whatever comes now, its end too, says that the upstream is done; but so does the end of the upload.
        _ = try? await upstream.arrivals.more(within: .zero)
        if !exchange.upload.isRunning { upstream.resumeReceiving() }
    }

    /// Throws the failure of an upload, unless the upstream merely stopped reading: then its response counts.
    func judge(_ failure: ProxyError) throws(ProxyError) {
        if failure != .upstreamClosed { throw failure }
    }

    /// Ends an upload that is no longer needed.
    ///
    /// - Parameter isAnswered: true if the client has all of its answer, which has said if the connection goes on.
    func stopUpload(of exchange: Exchange, isAnswered: Bool = false) async {
        guard exchange.upload.isRunning else { return }
        exchange.upstream?.close()
        exchange.client.stopReceiving()
        if !isAnswered, !exchange.upload.hasArrived { exchange.client.leaveRequestUnread() }
        await exchange.upload.awaitEnd()
        exchange.client.resumeReceiving()
    }

    /// Returns true if the body can be sent again; waits a moment for the rest of it.
    ///
    /// Many servers refuse before they have read the body, and many clients send it in a segment of its own. A call of gRPC
    /// may stay open for as long as there is an answer: what has come of it is sent again, and the rest follows.
    func keepsBody(_ exchange: Exchange) async -> Bool {
        let upload = exchange.upload
        if exchange.client.request.version == .http2, exchange.isCall {
            return exchange.isReplayable
        }
        // A client that waits for a 100 sends no body now.
        if !upload.hasArrived, !upload.isTooLong, !exchange.client.request.fields.has(.expect) {
            await upload.takeRest(within: bodyDelay)
        }
        return upload.hasArrived && exchange.isReplayable
    }
}
