// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The end of a session, or of some of its tokens.
extension AuthSession {
    /// Has the server forget tokens (RFC 7009), then forgets them itself; nothing changes where the server refuses.
    ///
    /// A token that the server has forgotten is not used again, though the store does not take that: it is told again later.
    /// A token that can be had without a person is fetched anew, as ever.
    ///
    /// - Parameter hints: which of them, in this order.
    /// - Returns: those that there were.
    /// - Throws: ``SessionFailure``.
    public func revoke(_ hints: [TokenHint]) async throws(SessionFailure) -> [TokenHint] {
        join()
        switch await core.perform(.revoke(hints)) {
        case .revoked(let revoked): return TokenHint.allCases.filter(revoked.contains)
        case .refused(let failure): throw .server(failure)
        case .failed(let error), .unwritten(let error): throw .store(error)
        case .done, .unchanged, .outdone, .loggedOut, .registered: return []
        }
    }

    /// Has the server forget tokens of a session.
    ///
    /// - Returns: those that it has forgotten, and why it kept another one.
    func revoke(_ hints: [TokenHint], of session: StoredSession) async -> (Set<TokenHint>, TokenFailure?) {
        let tokens = tokens(hints.sorted { $0 == .refreshToken && $1 != .refreshToken }, of: session)
        var failures: [TokenFailure] = []
        var revoked: Set<TokenHint> = []
        for (hint, token) in tokens {
            do throws(TokenFailure) {
                try await server.revoke(token, hint)
                revoked.insert(hint)
            } catch {
                // An access token that goes with its refresh token need not be revocable (§2.1).
                let isGone = revoked.contains(.refreshToken) && error.refusal == .unsupportedTokenType
                if hint == .accessToken, isGone { continue }
                failures.append(error)
            }
        }
        if failures.isEmpty { revoked.formUnion(tokens.map(\.hint)) }
        return (revoked, failures.first)
    }

    /// Has the server forget the tokens of a session that the store has not taken, and that nobody has any more.
    ///
    /// - Returns: why the server keeps some of them; nil if it has forgotten all.
    package func revokeUnstored() async -> TokenFailure? {
        await revoke([.refreshToken, .accessToken], of: session).1
    }

    /// True if the store holds tokens of a session, which could end with those that ``revokeUnstored()`` revokes; true, too,
    /// where the store does not tell.
    package var isSessionStored: Bool { get async { await core.isSessionStored() } }

    /// Forgets the session, and asks the server to do the same, whatever the store can do.
    ///
    /// Our own part comes first, so that nothing that the server does can prevent it: here the session ends at once, in
    /// the store when nobody else has the lock, and a token request of ours in flight is not waited for.
    ///
    /// - Parameter isLocal: whether the server is left alone.
    public func logOut(onlyHere isLocal: Bool = false) async -> LogoutOutcome {
        await logOut(onlyHere: isLocal, saying: EndSessionOptions())
    }

    /// Forgets the session, asks the server to do the same, and says more with the request to end the authorization server's
    /// own.
    ///
    /// - Parameters:
    ///   - redirectURI: where the browser goes in the end, in place of the configured one.
    ///   - state: what comes back there; nil for one that is drawn anew.
    ///   - parameters: sent after the built-in parameters and the configuration's own. One of a built-in name fails that
    ///     step, and no other.
    public func logOut(
        returningTo redirectURI: String, state: String? = nil, adding parameters: [NamedValue] = []
    ) async -> LogoutOutcome {
        await logOut(
            onlyHere: false,
            saying: EndSessionOptions(redirectURI: redirectURI, state: state, parameters: parameters))
    }

    private func logOut(onlyHere isLocal: Bool, saying options: EndSessionOptions) async -> LogoutOutcome {
        var outcome = LogoutOutcome()
        join()
        await core.look()
        let ended: StoredSession
        switch await core.perform(.logout(isLocal: isLocal)) {
        case .loggedOut(let session, let failure):
            ended = session
            outcome.storeFailure = failure
        case .failed(let error), .unwritten(let error):
            outcome.storeFailure = error
            return outcome
        // Whoever had the lock has logged in since: nothing may happen to that session.
        case .done, .unchanged, .outdone, .refused, .registered, .revoked: return outcome
        }
        guard !isLocal else { return outcome }
        let tokens = tokens([.refreshToken, .accessToken], of: ended)
        let idToken = ended.idToken
        await revoke(tokens, &outcome)
        let isAPersons = server.configuration.grantType.needsPerson && !tokens.isEmpty
        if isAPersons || idToken != nil { await endSession(idToken, options, &outcome) }
        return outcome
    }

    /// Every token is tried: one that is refused says nothing of the next.
    private func revoke(_ tokens: [(hint: TokenHint, token: Secret)], _ outcome: inout LogoutOutcome) async {
        guard !tokens.isEmpty else { return }
        do throws(TokenFailure) {
            guard try await server.urlIfAny(of: .revocation) != nil else {
                outcome.revocation = .notSupported
                return
            }
        } catch {
            outcome.revocation = .failed
            outcome.failures.append(error)
            return
        }
        outcome.revocation = .requested
        for (hint, token) in tokens {
            do throws(TokenFailure) {
                try await server.revoke(token, hint)
            } catch {
                if hint == .accessToken, error.refusal == .unsupportedTokenType { continue }
                outcome.revocation = .failed
                outcome.failures.append(error)
            }
        }
    }

    /// Without an ID token the authorization server asks the person whom it knows by the browser's cookie.
    private func endSession(
        _ idToken: Secret?, _ options: EndSessionOptions, _ outcome: inout LogoutOutcome
    ) async {
        do throws(TokenFailure) {
            guard let endpoint = try await server.urlIfAny(of: .endSession) else {
                outcome.endSession = .notSupported
                return
            }
            // A browser sends the id token there, too.
            try server.configuration.permit(endpoint)
            try options.check()
            let request = EndSessionRequest(
                endpoint: endpoint, idToken: idToken, configuration: server.configuration, options)
            outcome.request = request
            try await server.endSession(request)
            outcome.endSession = .requested
        } catch {
            outcome.endSession = .failed
            outcome.failures.append(error)
        }
    }

    /// The tokens that a session has, of those that are meant.
    private func tokens(
        _ hints: [TokenHint], of session: StoredSession
    ) -> [(hint: TokenHint, token: Secret)] {
        hints.flatMap { hint in
            let tokens =
                switch hint {
                case .refreshToken: session.refreshToken.map { [$0] } ?? []
                case .accessToken: session.accessTokens.map(\.token)
                }
            return tokens.map { (hint, $0) }
        }
    }
}
