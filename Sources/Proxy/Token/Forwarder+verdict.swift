// SPDX-License-Identifier: Apache-2.0

internal import HTTPExchange
internal import HTTPMessages
internal import OAuth
internal import Observability
internal import Routing

/// What the upstream thinks of the token, and what comes of that.
extension Forwarder {
    /// Whether the session may have to hear of the answer: of a refusal, or, once for each token and route, that the
    /// upstream takes the token.
    func hasVerdict(_ upstream: Pool.Exchange, _ exchange: Exchange, on route: RouteState<Pool>) -> Bool {
        guard let generation = exchange.token?.generation, let state = route.token else { return false }
        return upstream.response.status >= 300 || state.acceptedGeneration != generation
            || state.reader.slot.isWatched
    }

    /// Tells the session and, where a refusal brings another token, asks the upstream once more.
    ///
    /// - Returns: the upstream whose answer the client gets.
    func heedVerdict(
        _ upstream: Pool.Exchange, _ exchange: Exchange, on route: RouteState<Pool>
    ) async throws(ProxyError) -> Pool.Exchange {
        guard let token = exchange.token, let session = route.token?.session else { return upstream }
        let verdict = verdict(of: upstream, exchange, on: route)
        guard verdict != .unjudged else { return upstream }
        if let caller = exchange.caller {
            return try await heed(verdict, of: upstream, exchange, for: caller, on: route, session)
        }
        let canReplay =
            verdict.isWorthReplay && exchange.isReplayable ? await keepsWholeBody(exchange) : false
        guard verdict.isRefusal || canReplay else {
            await reportAcceptance(of: token, by: route, session)
            return upstream
        }
        if verdict.isRefusal {
            route.tally.countAuthorizationError(upstream.response.challengeError)
        }
        let rejection = TokenRejection(
            generation: token.generation, route: route.plan.key.path, isUnauthorized: verdict.isRefusal,
            canReplay: canReplay)
        let replacement = try await self.replacement(
            from: session, after: rejection, for: exchange, waitingAtMost: route.plan.tokenWait)
        guard canReplay, let replacement else { return upstream }
        guard !replacement.token.matches(token.token.plaintextBytes) else {
            // Some providers hand out one token until it expires: this one was refused just now.
            if verdict.isRefusal { await reportRefusal(of: replacement, by: route, session) }
            return upstream
        }
        return try await replay(exchange, with: replacement, on: route, session)
    }

    private func verdict(
        of upstream: Pool.Exchange, _ exchange: Exchange, on route: RouteState<Pool>
    ) -> TokenVerdict {
        if exchange.needsProof, upstream.response.asksForNonce { return .unjudged }
        let status = upstream.response.status
        return TokenVerdict(
            status: status, retried: route.terms.retryOnStatus,
            lacksScope: status == 403 && upstream.response.challengeError == .insufficientScope)
    }

    /// Has the token of one caller, whom the upstream refuses, exchanged anew, and asks the upstream once more.
    private func heed(
        _ verdict: TokenVerdict, of upstream: Pool.Exchange, _ exchange: Exchange, for caller: CallerToken,
        on route: RouteState<Pool>, _ session: AuthSession
    ) async throws(ProxyError) -> Pool.Exchange {
        guard verdict.isRefusal, let token = exchange.token, let callers = route.token?.callers else {
            return upstream
        }
        route.tally.countAuthorizationError(upstream.response.challengeError)
        guard callers.drop(token, of: caller.digest, at: .now), verdict.isWorthReplay, exchange.isReplayable,
            await keepsWholeBody(exchange)
        else { return upstream }
        let known = try? await self.token(
            of: caller, from: session, for: exchange, waitingAtMost: route.plan.tokenWait)
        guard !exchange.isClientGone else { throw .clientGone }
        guard case .token(let replacement)? = known, !replacement.token.matches(token.token.plaintextBytes)
        else { return upstream }
        await prepareRepetition(of: exchange, on: route)
        exchange.token = replacement
        putToken(into: exchange, for: route)
        exchange.record.isReplayed = true
        do {
            var second = try await send(exchange, on: route)
            if exchange.needsProof { second = try await heedNonce(second, exchange, on: route) }
            route.tally.countReplay(second.response.status == 401 ? .refused : .accepted)
            return second
        } catch {
            route.tally.countReplay(.failed)
            throw error
        }
    }

    /// Sends the request once more, and tells the session what the upstream thinks of the other token.
    private func replay(
        _ exchange: Exchange, with token: AccessTokenSnapshot, on route: RouteState<Pool>,
        _ session: AuthSession
    ) async throws(ProxyError) -> Pool.Exchange {
        await prepareRepetition(of: exchange, on: route)
        exchange.token = token
        putToken(into: exchange, for: route)
        exchange.record.isReplayed = true
        var upstream: Pool.Exchange
        do {
            upstream = try await send(exchange, on: route)
            if exchange.needsProof { upstream = try await heedNonce(upstream, exchange, on: route) }
        } catch {
            route.tally.countReplay(.failed)
            throw error
        }
        if exchange.needsProof, upstream.response.asksForNonce {
            route.tally.countReplay(.failed)
        } else if upstream.response.status == 401 {
            route.tally.countReplay(.refused)
            await reportRefusal(of: token, by: route, session)
        } else {
            route.tally.countReplay(.accepted)
            route.token?.acceptedGeneration = token.generation
            await session.accessTokenAccepted(
                generation: token.generation, route: route.plan.key.path, isReplayed: true)
        }
        return upstream
    }

    /// Lets go of an answer, for the request to be sent once more with the body that was kept.
    func prepareRepetition(of exchange: Exchange, on route: RouteState<Pool>) async {
        if exchange.upload.isRunning { await stopUpload(of: exchange) }
        discardAnswer(of: exchange, on: route)
        exchange.client.request.fields.remove(.expect)  // the whole body is here
    }

    /// Tells the session that the upstream does not take a token that it has only just got.
    private func reportRefusal(
        of token: AccessTokenSnapshot, by route: RouteState<Pool>, _ session: AuthSession
    ) async {
        _ = await session.accessTokenRejected(
            TokenRejection(
                generation: token.generation, route: route.plan.key.path, canReplay: false, isReplayed: true),
            waitingAtMost: .zero)
    }

    /// Tells the session, once for each token and route, that the upstream takes it.
    private func reportAcceptance(
        of token: AccessTokenSnapshot, by route: RouteState<Pool>, _ session: AuthSession
    ) async {
        guard route.token?.acceptedGeneration != token.generation || session.slot.isWatched else { return }
        route.token?.acceptedGeneration = token.generation
        await session.accessTokenAccepted(generation: token.generation, route: route.plan.key.path)
    }
}
