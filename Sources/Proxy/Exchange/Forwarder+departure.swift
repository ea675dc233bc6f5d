// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPServer
internal import BearerdRouting
internal import OAuth

/// The waits that end when the client leaves.
extension Forwarder {
    /// Ends all work for an exchange whose client has left.
    func leave(_ exchange: Exchange) {
        exchange.presence.state = .gone
        exchange.presence.wait?.cancel()
        // No end in good order: the upstream of a tunnel is to see the cut.
        if exchange.isTunnel { exchange.upstream?.abort() } else { exchange.upstream?.close() }
        exchange.client.close()
    }

    /// Ends what an exchange waits for, because the process does not wait any longer: the client is told at once.
    func hurry(_ exchange: Exchange) {
        guard !exchange.isTunnel else { return leave(exchange) }
        exchange.presence.wait?.cancel()
        exchange.upstream?.close()
    }

    /// Opens a connection to the upstream, unless the client leaves first.
    func open<Pool: ExchangePool>(
        for exchange: Exchange, on route: PooledRoute<Pool>
    ) async throws(ProxyError) -> Pool.Exchange {
        let (pool, timeout) = (route.pool, route.terms.timeouts.connect)
        // Taken before the task begins: whoever asks meanwhile whether places are scarce must count this one.
        let (permit, form) = (pool.takePermit(), exchange.form)
        let opened = await waiting(for: exchange) { () async throws(UpstreamError) in
            try await pool.open(for: form, within: timeout, with: permit)
        }
        switch opened {
        case .success(let upstream):
            guard !exchange.isClientGone else {
                pool.discard(upstream)
                throw .clientGone
            }
            return upstream
        case .failure(let error): throw ProxyError(error)
        case nil: throw .clientGone
        }
    }

    /// Finds out whether a request goes by HTTP/2, where its route's upstream chooses, unless the client leaves first.
    ///
    /// - Throws: where it would go by HTTP/1.1, and is a call of gRPC, which the upstream would not know as one.
    func usesHTTP2<Pool: NegotiatingPool>(
        on route: PooledRoute<Pool>, for exchange: Exchange
    ) async throws(ProxyError) -> Bool {
        let isCall = exchange.client.request.version == .http2 && exchange.client.request.fields.areOfGRPC
        if !isCall, route.pool.losesRequests, exchange.upload.mayOverflow { return false }
        let usesHTTP2 = try await usesHTTP2(on: route, unlessLeft: exchange)
        if isCall, !usesHTTP2, route.pool.isRefused { throw .upstreamUnavailable(.declined) }
        return usesHTTP2
    }

    private func usesHTTP2<Pool: NegotiatingPool>(
        on route: PooledRoute<Pool>, unlessLeft exchange: Exchange
    ) async throws(ProxyError) -> Bool {
        let (pool, timeout) = (route.pool, route.terms.timeouts.connect)
        do throws(UpstreamError) {
            if pool.isKnown { return try await pool.isChosen(within: timeout) }
            let outcome = await waiting(for: exchange) { () async throws(UpstreamError) in
                try await pool.isChosen(within: timeout)
            }
            if let outcome { return try outcome.get() }
        } catch {
            throw ProxyError(error)
        }
        throw .clientGone
    }

    /// Waits for the session's token unless the client leaves first; the session's token request goes on
    /// then.
    func freshToken(
        from session: AuthSession, for exchange: Exchange, waitingAtMost limit: Duration
    ) async throws(TokenError) -> AccessTokenSnapshot {
        if exchange.trace != nil { waitBegins(of: exchange, for: session.identity) }
        defer { if exchange.trace != nil { waitEnds(of: exchange, for: session.identity) } }
        let outcome = await waiting(for: exchange) { () async throws(TokenError) in
            try await session.freshToken(waitingAtMost: limit)
        }
        guard let outcome, !exchange.isClientGone else { throw .cancelled }
        return try outcome.get()
    }

    /// Waits for the token of one caller unless the client leaves first; the token request goes on then.
    func token(
        of caller: CallerToken, from session: AuthSession, for exchange: Exchange,
        waitingAtMost limit: Duration
    ) async throws(TokenError) -> CallerTokens.Known {
        let peer = exchange.client.peer.party
        let outcome = await waiting(for: exchange) { () async throws(TokenError) in
            try await session.token(onBehalfOf: caller, from: peer, waitingAtMost: limit)
        }
        guard let outcome, !exchange.isClientGone else { throw .cancelled }
        return try outcome.get()
    }

    /// Reports a refused token and waits for another one unless the client leaves first.
    func replacement(
        from session: AuthSession, after rejection: TokenRejection, for exchange: Exchange,
        waitingAtMost limit: Duration
    ) async throws(ProxyError) -> AccessTokenSnapshot? {
        if exchange.trace != nil { waitBegins(of: exchange, for: session.identity) }
        defer { if exchange.trace != nil { waitEnds(of: exchange, for: session.identity) } }
        let outcome = await waiting(for: exchange) {
            await session.accessTokenRejected(rejection, waitingAtMost: limit)
        }
        guard !exchange.isClientGone else { throw .clientGone }
        return outcome?.get()
    }

    /// Runs `body` as a task that is cancelled when the client leaves.
    ///
    /// - Returns: the result; nil if the client had already left.
    private func waiting<Value, Failure>(
        for exchange: Exchange, _ body: @escaping () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        guard !exchange.isClientGone else { return nil }
        var outcome: Result<Value, Failure>?
        let task = loop.startTask {
            do throws(Failure) {
                outcome = .success(try await body())
            } catch {
                outcome = .failure(error)
            }
        }
        exchange.presence.wait = task
        await task.value
        exchange.presence.wait = nil
        return outcome
    }
}
