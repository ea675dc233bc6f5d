// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// The most interim responses (1xx) that an upstream may send before the final one.
private let interimLimit = 64

/// A kept connection that fails sooner than this after the request was already closed before it.
private let staleWithin = Duration.seconds(1)

extension Forwarder {
    /// Sends the request and receives the head of the response.
    ///
    /// It may be sent again where no response comes: see ``RequestLoss``.
    ///
    /// - Returns: the upstream's exchange, with the content of the response begun.
    @inline(__always)
    func requestAnswer<Pool: ExchangePool>(
        to exchange: Exchange, on route: PooledRoute<Pool>
    ) async throws(ProxyError) -> Pool.Exchange {
        if !exchange.upload.hasArrived, gathersBody(of: exchange, on: route) {
            try await gatherBody(of: exchange, on: route)
        }
        var attempts = 0
        while true {
            if let upstream = try await attempt(exchange, on: route, after: attempts) { return upstream }
            attempts += 1
        }
    }

    /// - Parameter count: how many attempts there were before.
    /// - Returns: nil if the upstream did not answer and the request may be sent again.
    @inline(__always)
    private func attempt<Pool: ExchangePool>(
        _ exchange: Exchange, on route: PooledRoute<Pool>, after count: Int
    ) async throws(ProxyError) -> Pool.Exchange? {
        guard !exchange.isClientGone else { throw .clientGone }
        // Nothing is sent, or sent once more, that nobody would answer.
        guard !worker.isStopped else { throw .draining }
        if let trace = exchange.trace { beginSend(of: exchange, trace) }
        if Pool.sharesConnections { exchange.measureHead() }
        let upstream: Pool.Exchange
        if count == 0, let kept = takeKept(for: exchange, on: route) {
            upstream = kept
        } else {
            upstream = try await open(for: exchange, on: route)
        }
        exchange.upstream = upstream
        do throws(ProxyError) {
            if exchange.needsProof { try await prove(exchange, on: route) }
            if try sendRequest(of: exchange, to: upstream) {
                // Here, where there is an actor to inherit.
                exchange.upload.task = loop.startTask { await self.sendRest(of: exchange, to: upstream) }
            }
            try await receiveHead(
                of: exchange, from: upstream, timeout: route.terms.timeouts.firstByte)
            if route.shared.report.isFailing { route.shared.report.answered() }
        } catch {
            let loss = RequestLoss(
                error, on: upstream, isIdempotent: exchange.client.request.method.isIdempotent,
                isClientOpen: exchange.client.isOpen)
            if loss.wasStale { heedStaleness(of: upstream, exchange, on: route) }
            await stopUpload(of: exchange)
            if let trace = exchange.trace { endSend(of: exchange, trace, loss.failure, status: 0) }
            exchange.upstream = nil
            route.pool.discard(upstream)
            if loss.wantsOtherProtocol, !exchange.isReplayable { route.pool.heedLoss() }
            guard loss.isWorthAnother(after: count), exchange.isReplayable else {
                throw loss.isDeclined && exchange.client.isOpen
                    ? .upstreamUnavailable(.declined) : loss.failure
            }
            return nil
        }
        return upstream
    }

    private func takeKept<Pool: ExchangePool>(
        for exchange: Exchange, on route: PooledRoute<Pool>
    ) -> Pool.Exchange? {
        route.pool.take(
            for: exchange.form,
            mayRepeat: exchange.client.request.method.isIdempotent
                && (exchange.form.length == .none || exchange.isReplayable && !exchange.upload.isTooLong))
    }

    /// Tells the pool about a kept connection that the upstream had closed before the request.
    private func heedStaleness<Pool: ExchangePool>(
        of upstream: Pool.Exchange, _ exchange: Exchange, on route: PooledRoute<Pool>
    ) {
        let now = CoarseInstant.now
        let sentAt = exchange.upload.isFinished ? exchange.upload.finishedAt : now
        if now.duration(since: sentAt) < staleWithin { route.pool.heedEnd(of: upstream, at: sentAt) }
    }

    // MARK: Request

    /// - Returns: true if content is left to send.
    private func sendRequest(
        of exchange: Exchange, to upstream: some UpstreamExchange
    ) throws(ProxyError) -> Bool {
        upstream.begin(&exchange.client.request, as: exchange.form)
        do {
            try exchange.upload.sendStart(to: upstream)
        } catch {
            try judge(error)
            return false  // the upstream may have answered before it stopped reading
        }
        return !exchange.upload.isFinished
    }

    // MARK: Response head

    /// Receives the final head, and forwards interim ones (1xx) as they arrive (RFC 9110 §15.2).
    @inline(__always)
    private func receiveHead(
        of exchange: Exchange, from upstream: some UpstreamExchange, timeout: Duration
    ) async throws(ProxyError) {
        var interimCount = 0
        while true {
            guard try hasHead(upstream) else {
                try await awaitAnswer(of: exchange, from: upstream, timeout: timeout)
                continue
            }
            guard upstream.response.isInterim else { break }
            interimCount += 1
            guard interimCount <= interimLimit else {
                throw .upstreamMalformed(.breaking(rule: "interim heads (1xx) without end"))
            }
            try await forwardInterim(from: upstream, to: exchange)
        }
        try takeFinalHead(of: exchange, from: upstream)
    }

    private func hasHead(_ upstream: some UpstreamExchange) throws(ProxyError) -> Bool {
        do {
            return try upstream.receiveHead()
        } catch {
            throw ProxyError(receivingAnswer: error, loss: upstream.loss)
        }
    }

    /// Waits for more of the head; the time-out runs from the last byte of the request.
    @inline(__always)
    private func awaitAnswer(
        of exchange: Exchange, from upstream: some UpstreamExchange, timeout: Duration
    ) async throws(ProxyError) {
        var remaining = timeout
        while true {
            do throws(StreamError) {
                guard try await upstream.arrivals.more(within: remaining) else { throw .reset }
                return
            } catch {
                if let failure = exchange.upload.failure { try judge(failure) }
                // In TLS 1.3 a server judges our certificate when the handshake is over for us.
                if case .transport = error, upstream.isFirst { throw .upstreamUnavailable(.tlsHandshake) }
                guard error == .timedOut else {
                    throw error == .flooded ? ProxyError(.floodOfTLS) : .upstreamClosed
                }
                remaining = timeout
                if exchange.upload.isRunning { continue }
                remaining -= CoarseInstant.now.duration(since: exchange.upload.finishedAt)
                guard exchange.upload.isFinished, remaining > .zero else {
                    throw exchange.upload.hasStalled ? .uploadTimedOut : .upstreamTimedOut
                }
            }
        }
    }

    private func forwardInterim(
        from upstream: some UpstreamExchange, to exchange: Exchange
    ) async throws(ProxyError) {
        guard exchange.client.request.version != .http10 else { return }
        upstream.response.fields.removeHopByHop()
        upstream.response.fields.removeOwnSetCookies()
        upstream.response.fields.remove(.contentLength)  // RFC 9110 8.6
        // A copy: what is lent is not lent over a wait, during which others may look at the response.
        var interim = upstream.response
        try await sendInterim(&interim, to: exchange)
    }

    /// Sends an interim response (1xx) to the client.
    func sendInterim(_ head: inout HTTPResponse, to exchange: Exchange) async throws(ProxyError) {
        do {
            try await exchange.client.send(
                interim: &head, within: exchange.routing.streamIdle)
        } catch {
            exchange.client.leaveRequestUnread()
            throw .clientGone
        }
    }

    /// Begins the content that follows the final head.
    private func takeFinalHead(
        of exchange: Exchange, from upstream: some UpstreamExchange
    ) throws(ProxyError) {
        if upstream.response.status == 101 {
            guard let chosen = upstream.response.fields[.upgrade], exchange.mayUpgrade(to: chosen),
                exchange.client.isGranted(by: upstream.response), exchange.upload.isFinished
            else {
                let rule = "a 101 that nobody asked for, or without its Sec-WebSocket-Accept"
                throw .upstreamMalformed(.breaking(rule: rule))
            }
            exchange.form.upgrade = chosen
            return
        }
        // To whoever asks for a tunnel over HTTP/2 a 2xx would say that there is one (RFC 9113 §8.5, RFC 8441 §5).
        if exchange.form.upgrade != nil, exchange.client.request.version == .http2,
            (200..<300).contains(upstream.response.status)
        {
            throw .tunnelUnknown
        }
        do {
            exchange.answer.length = try upstream.beginBody(
                answering: exchange.client.request.method)
        } catch {
            throw ProxyError(receivingAnswer: error)
        }
    }

    // MARK: Releasing the connection

    /// Drops a response that the client will not see.
    func discardAnswer<Pool: ExchangePool>(
        of exchange: Exchange, from upstream: Pool.Exchange, on route: PooledRoute<Pool>
    ) {
        upstream.incoming.skipArrived()
        end(upstream, of: exchange, on: route)
    }

    /// Ends the upstream's exchange; the pool keeps its connection if nothing is outstanding on it.
    func end<Pool: ExchangePool>(
        _ upstream: Pool.Exchange, of exchange: Exchange, on route: PooledRoute<Pool>
    ) {
        exchange.upstream = nil
        if let trace = exchange.trace { trace.endSend(status: upstream.response.status) }
        route.pool.end(upstream, isRequestWhole: exchange.upload.isFinished)
    }
}
