// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// How long a refused request's body may take to arrive, for the request to be sent again.
private let bodyDelay = Duration.seconds(1)

/// The request's content, where it takes longer than its head.
extension Forwarder {
    /// Where places at the upstream grow scarce, lets a body arrive before it gets one, as much of it as may be kept:
    /// clients that send slowly could hold them all.
    func gatherBody(of exchange: Exchange, on route: RouteState<Pool>) async throws(ProxyError) {
        guard route.terms.replayBuffer > 0, route.pool.isCrowded else { return }
        if exchange.client.request.fields.has(.expect) { try await invite(exchange) }
        do {
            try await exchange.upload.gather()
        } catch {
            try judge(error)
        }
        try await renewToken(of: exchange, on: route)
    }

    /// Has a client that waits for a 100 send its body (RFC 9110 10.1.1); the upstream is not asked.
    private func invite(_ exchange: Exchange) async throws(ProxyError) {
        let client = exchange.client
        guard client.request.version != .http10,
            client.request.fields.containsToken("100-continue", in: .expect)
        else { return }
        client.request.fields.remove(.expect)
        var invitation = HTTPResponse(status: 100)
        try await sendInterim(&invitation, to: exchange)
    }

    /// Has the upload go on beside the answer.
    ///
    /// If the client fails, the upstream must see a cut, not an end.
    func sendRest(of exchange: Exchange, to upstream: Pool.Exchange) async {
        await exchange.upload.sendRest(to: upstream)
        if exchange.upload.isCutByClient { upstream.close() }
        if exchange.answer.isWhole { upstream.stopReceiving() }
    }

    /// Sends the rest of a body whose answer is whole already, as long as the upstream wants it.
    ///
    /// Whoever answers so early and keeps the connection reads on (RFC 9112 9.3), and may need what it reads.
    func finishUpload(of exchange: Exchange, to upstream: Pool.Exchange) async {
        // Who waited for a 100 in vain will hardly send the body now.
        guard upstream.persists, exchange.record.status < 300,
            !exchange.client.request.fields.has(.expect)
        else { return }
        exchange.answer.isWhole = true
        // Whatever comes now, its end too, says that the upstream is done; but so does the end of the upload.
        _ = try? await upstream.arrivals.more(within: .zero)
        if !exchange.upload.isRunning { upstream.resumeReceiving() }
    }

    /// Throws why an upload failed, unless the upstream took no more: then its answer counts.
    func judge(_ failure: ProxyError) throws(ProxyError) {
        if failure != .upstreamClosed { throw failure }
    }

    /// Ends an upload that nobody waits for any more.
    func stopUpload(of exchange: Exchange) async {
        guard exchange.upload.isRunning else { return }
        exchange.upstream?.close()
        exchange.client.stopReceiving()
        if !exchange.upload.hasArrived { exchange.client.leaveRequestUnread() }
        await exchange.upload.awaitEnd()
        exchange.client.resumeReceiving()
    }

    /// Whether all of the body can be sent again, after a moment for what is still on its way.
    ///
    /// Many a server refuses before it has read the body, which many a client sends in a segment of its own.
    func keepsWholeBody(_ exchange: Exchange) async -> Bool {
        let upload = exchange.upload
        // Who waits for a 100 sends no body now.
        if !upload.hasArrived, !upload.isTooLong, !exchange.client.request.fields.has(.expect) {
            await upload.takeRest(within: bodyDelay)
        }
        return upload.hasArrived && exchange.isReplayable
    }
}
