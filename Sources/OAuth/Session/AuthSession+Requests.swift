// SPDX-License-Identifier: Apache-2.0

/// Token requests that say more than the configuration has all of them say.
extension AuthSession {
    /// Asks for a new token now, whatever the present one's expiry, back-off or final answers.
    ///
    /// - Throws: ``TokenError`` if none came within `limit`; the request goes on by itself.
    public func refresh(waitingAtMost limit: Duration = .seconds(10)) async throws(TokenError) {
        if forgetCallers() { return }
        try await refresh(TokenAdditions(), until: end(of: limit))
    }

    /// Asks for a new token now, and says more with it.
    ///
    /// The parameters hold for this one token: the next refresh is made as ever. A refresh that is in flight is
    /// made without, and waited for first.
    ///
    /// - Parameters:
    ///   - limit: how long all of it may take.
    ///   - scope: what the token shall be for, no more than was granted (RFC 6749 §6); nil for what it always is. All who
    ///     use the session get that token until the next refresh.
    ///   - parameters: sent after the built-in parameters and the configuration's own.
    ///   - headers: in place of fields of the same name.
    /// - Throws: ``TokenError`` if none came within `limit`; the request goes on by itself.
    public func refresh(
        waitingAtMost limit: Duration = .seconds(10), scope: [String]? = nil, adding parameters: [NamedValue],
        headers: [NamedValue] = []
    ) async throws(TokenError) {
        try await refresh(
            TokenAdditions(parameters: parameters, scope: scope, headers: headers), until: end(of: limit))
    }

    /// Asks for a new token now, for a part of what was granted.
    ///
    /// - Parameters:
    ///   - limit: how long all of it may take.
    ///   - scope: no more than was granted (RFC 6749 §6); all who use the session get that token until the next refresh.
    /// - Throws: ``TokenError`` if none came within `limit`; the request goes on by itself.
    public func refresh(
        waitingAtMost limit: Duration = .seconds(10), scope: [String]
    ) async throws(TokenError) {
        try await refresh(waitingAtMost: limit, scope: scope, adding: [])
    }

    /// Makes a token request that the program has written, and nothing else: what comes back is not judged, not stored,
    /// and not the session's.
    ///
    /// - Throws: ``TokenFailure``, for a parameter that the session sends itself too.
    public func perform(_ request: TokenRequest) async throws(TokenFailure) -> TokenResponse {
        guard !isStopped else { throw TokenFailure(.stopped) }
        if !isStarted { await core.look() }
        let (outcome, _) = await answer(to: request, of: loginServer)
        return try outcome.result.get()
    }

    /// Makes a token request that the program has written, and makes what comes back the session.
    ///
    /// An ID token is judged as that of a login; the session refreshes with the refresh token that came along.
    ///
    /// - Throws: ``LoginError``; the session that there was goes on.
    @discardableResult
    public func logIn(with request: TokenRequest) async throws(LoginError) -> Login {
        if !isStarted { await core.look() }
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        let server = loginServer
        let (outcome, grant) = await answer(to: request, of: server)
        return try await finish(
            outcome, of: grant, from: server, nonce: nil, beside: AdditionalParameters(),
            askingFor: LoginAdditions(scope: request.scope))
    }

    private func answer(
        to request: TokenRequest, of server: AuthorizationServer
    ) async -> (TokenRequestResult, Grant) {
        let grant = Grant.request(request)
        let outcome = await server.requestToken(
            with: grant, adding: TokenAdditions(headers: request.headers), proving: session.proofKey)
        return (outcome, grant)
    }

    /// How often a request is begun that others make needless by renewing the session meanwhile.
    private static let mostTries = 5

    /// Asks for a new token now, with additional parameters in the token request.
    ///
    /// One that is in flight is made without; it is waited for. So is one that says something else, so that each of several
    /// that are asked for at once is made. A plain refresh takes the answer of one in flight, unless that one says more.
    func refresh(_ additions: TokenAdditions, until deadline: Instant) async throws(TokenError) {
        guard !isStopped else { throw .stopped }
        await loadForFirstUse(until: deadline)
        if engine.isUnread { await core.look(until: deadline) }
        var additions = additions
        for _ in 0..<Self.mostTries {
            while let state = engine.targets[target], state.attempt != nil,
                !additions.isEmpty || !state.additions.isEmpty, clock.now < deadline
            {
                _ = try? await wait { .attemptAwaited($0, by: $1, until: deadline) }
            }
            additionsMade += 1
            additions.number = additionsMade
            let asked = additions
            _ = try await wait { .refreshRequested($0, asked, by: $1, until: deadline) }
            if additions.isEmpty || engine.targets[target]?.sentAdditions ?? 0 >= additions.number { return }
            // Another process has renewed the session, and our attempt ended without a request.
        }
        throw .unavailable(retryAfter: .seconds(1))
    }
}
