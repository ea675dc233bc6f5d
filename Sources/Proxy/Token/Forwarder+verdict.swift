// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting
internal import OAuth

/// The upstream's verdict on the token, and the repetition that may follow.
extension Forwarder {
    /// Returns true if the response must be judged before the client gets it; for most responses it need not.
    @inline(__always)
    func needsJudgement(
        _ exchange: Exchange, after upstream: some UpstreamExchange, on route: RouteState
    ) -> Bool {
        exchange.needsProof || exchange.repetition.isTokenOnTrial || hasVerdict(upstream, exchange, on: route)
    }

    /// Judges the response and prepares to send the request again if a new nonce or another token is
    /// available.
    ///
    /// - Returns: true to send the request again; false if the client gets the response.
    func prepareRepetition<Pool: ExchangePool>(
        _ exchange: Exchange, after upstream: Pool.Exchange, on route: PooledRoute<Pool>
    ) async throws(ProxyError) -> Bool {
        exchange.repetition.isCallRefused = isRefusedCall(upstream, exchange)
        if exchange.needsProof, await wantsNewNonce(upstream, exchange, on: route) {
            await dropAnswerForRepetition(of: exchange, after: upstream, on: route)
            exchange.repetition.hasNewNonce = true
            return true
        }
        if exchange.repetition.isTokenOnTrial {
            await endTrial(by: upstream, exchange, on: route)
            return false
        }
        guard hasVerdict(upstream, exchange, on: route),
            let token = try await otherToken(after: upstream, exchange, on: route)
        else { return false }
        await dropAnswerForRepetition(of: exchange, after: upstream, on: route)
        exchange.token = token
        putToken(into: exchange, for: route)
        exchange.record.isReplayed = true
        exchange.repetition = Repetition(isTokenOnTrial: true)
        return true
    }

    /// Returns true if the session may have to be told: of a refusal or, once for each token and route, of an
    /// acceptance.
    private func hasVerdict(
        _ upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) -> Bool {
        guard let generation = exchange.token?.generation, let state = route.token else { return false }
        return upstream.response.status >= 300 || state.acceptedGeneration != generation
            || state.slot.isWatched || isRefusedCall(upstream, exchange)
    }

    /// True if all of a gRPC call's answer is the status UNAUTHENTICATED, in the head or in trailers right behind it.
    @inline(__always)
    private func isRefusedCall(_ upstream: some UpstreamExchange, _ exchange: Exchange) -> Bool {
        guard exchange.isCall else { return false }
        if upstream.response.fields.grpcStatus == GRPCStatus.unauthenticated { return true }
        return upstream.incoming.byteCount == 0 && upstream.incoming.isFinished
            && upstream.trailingCallStatus == GRPCStatus.unauthenticated
    }

    /// The status by which the answer judges the token: a refused gRPC call counts as a 401.
    private func judgedStatus(of upstream: some UpstreamExchange, _ exchange: Exchange) -> Int {
        isRefusedCall(upstream, exchange) ? 401 : upstream.response.status
    }

    /// Tells the session, once, of a call of gRPC that has ended with the news that its caller is not authenticated, when it
    /// is too late to send it once more.
    func judgeEnd(
        of exchange: Exchange, from upstream: some UpstreamExchange, on route: RouteState
    ) async {
        guard let token = exchange.token, exchange.caller == nil, let session = route.token?.session,
            upstream.trailingCallStatus == GRPCStatus.unauthenticated,
            exchange.isCall, !exchange.repetition.isCallRefused
        else { return }
        exchange.repetition.isCallRefused = true
        route.tally.countAuthorizationError(upstream.response.challengeError)
        _ = await session.accessTokenRejected(
            TokenRejection(generation: token.generation, route: route.plan.key.path, canReplay: false),
            waitingAtMost: .zero)
    }

    /// Tells the session what the response says about its token.
    ///
    /// - Returns: another token if the request is to be sent again with it.
    private func otherToken(
        after upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) async throws(ProxyError) -> AccessTokenSnapshot? {
        guard let token = exchange.token, let session = route.token?.session else { return nil }
        let verdict = verdict(of: upstream, exchange, on: route)
        guard verdict != .unjudged else { return nil }
        if let caller = exchange.caller {
            guard verdict.isRefusal else { return nil }
            route.tally.countAuthorizationError(upstream.response.challengeError)
            return try await otherToken(
                of: caller, refused: token, isWorthReplay: verdict.isWorthReplay, exchange, on: route, session
            )
        }
        let canReplay =
            verdict.isWorthReplay && exchange.isReplayable ? await keepsBody(exchange) : false
        guard verdict.isRefusal || canReplay else {
            await reportAcceptance(of: token, by: route, session)
            return nil
        }
        if verdict.isRefusal {
            route.tally.countAuthorizationError(upstream.response.challengeError)
        }
        let rejection = TokenRejection(
            generation: token.generation, route: route.plan.key.path, isUnauthorized: verdict.isRefusal,
            canReplay: canReplay, challenges: upstream.response.fields.values(of: .wwwAuthenticate))
        let replacement = try await self.replacement(
            from: session, after: rejection, for: exchange, waitingAtMost: route.plan.tokenWait)
        guard canReplay, let replacement else { return nil }
        guard !replacement.token.matches(token.token) else {
            // Some providers hand out one token until it expires: this one was refused just now.
            if verdict.isRefusal { await reportRefusal(of: replacement, in: upstream, by: route, session) }
            return nil
        }
        return replacement
    }

    /// Exchanges the caller's token again, because the upstream refused the result.
    ///
    /// - Returns: the new token if the request is to be sent again with it.
    private func otherToken(
        of caller: CallerToken, refused token: AccessTokenSnapshot, isWorthReplay: Bool, _ exchange: Exchange,
        on route: RouteState, _ session: AuthSession
    ) async throws(ProxyError) -> AccessTokenSnapshot? {
        guard let callers = route.token?.callers, callers.drop(token, of: caller.digest, at: .now),
            isWorthReplay, exchange.isReplayable, await keepsBody(exchange)
        else { return nil }
        let known = try? await self.token(
            of: caller, from: session, for: exchange, waitingAtMost: route.plan.tokenWait)
        guard !exchange.isClientGone else { throw .clientGone }
        guard case .token(let other)? = known, !other.token.matches(token.token) else {
            return nil
        }
        return other
    }

    /// Counts the upstream's verdict on the other token, and tells the session.
    private func endTrial(
        by upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) async {
        exchange.repetition.isTokenOnTrial = false
        guard let token = exchange.token, let session = route.token?.session else { return }
        let isRefused = judgedStatus(of: upstream, exchange) == 401
        if isRefused { route.tally.countAuthorizationError(upstream.response.challengeError) }
        guard exchange.caller == nil else {
            return route.tally.countReplay(isRefused ? .refused : .accepted)
        }
        if exchange.needsProof, upstream.response.asksForNonce {
            route.tally.countReplay(.failed)
        } else if isRefused {
            route.tally.countReplay(.refused)
            await reportRefusal(of: token, in: upstream, by: route, session)
        } else {
            route.tally.countReplay(.accepted)
            route.token?.acceptedGeneration = token.generation
            await session.accessTokenAccepted(
                generation: token.generation, route: route.plan.key.path, isReplayed: true)
        }
    }

    private func verdict(
        of upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) -> TokenVerdict {
        if exchange.needsProof, upstream.response.asksForNonce { return .unjudged }
        let status = judgedStatus(of: upstream, exchange)
        return TokenVerdict(
            status: status, retried: route.terms.retryOnStatus,
            lacksScope: status == 403 && upstream.response.challengeError == .insufficientScope)
    }

    /// Drops a response so that the request can be sent again with the body that was kept.
    func dropAnswerForRepetition<Pool: ExchangePool>(
        of exchange: Exchange, after upstream: Pool.Exchange, on route: PooledRoute<Pool>
    ) async {
        if exchange.upload.isRunning { await stopUpload(of: exchange) }
        discardAnswer(of: exchange, from: upstream, on: route)
        exchange.client.request.fields.remove(.expect)  // the whole body is here
    }

    /// Tells the session that the upstream refuses a token that is new.
    private func reportRefusal(
        of token: AccessTokenSnapshot, in upstream: some UpstreamExchange, by route: RouteState,
        _ session: AuthSession
    ) async {
        _ = await session.accessTokenRejected(
            TokenRejection(
                generation: token.generation, route: route.plan.key.path, canReplay: false, isReplayed: true,
                challenges: upstream.response.fields.values(of: .wwwAuthenticate)),
            waitingAtMost: .zero)
    }

    /// Tells the session, once for each token and route, that the upstream accepts the token.
    private func reportAcceptance(
        of token: AccessTokenSnapshot, by route: RouteState, _ session: AuthSession
    ) async {
        guard route.token?.acceptedGeneration != token.generation || session.slot.isWatched else { return }
        route.token?.acceptedGeneration = token.generation
        await session.accessTokenAccepted(generation: token.generation, route: route.plan.key.path)
    }
}
