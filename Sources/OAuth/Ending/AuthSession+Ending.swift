// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The end of a session, or of some of its tokens.
extension AuthSession {
    /// Has the server forget tokens (RFC 7009), then forgets them itself; nothing changes where the server refuses.
    ///
    /// What can be had without a person is fetched anew, as ever.
    ///
    /// - Parameter hints: which of them, in this order.
    /// - Returns: those that there were.
    /// - Throws: ``SessionFailure``.
    public func revoke(_ hints: [TokenHint]) async throws(SessionFailure) -> [TokenHint] {
        let revoked = try await withLockForPerson { lock throws(SessionFailure) in
            try await revoke(hints, in: await readForPerson(under: lock))
        }
        advanceIfStarted()
        return revoked
    }

    private func revoke(
        _ hints: [TokenHint], in held: HeldSession
    ) async throws(SessionFailure) -> [TokenHint] {
        let tokens = tokens(hints, of: state.session)
        guard !tokens.isEmpty else { return [] }
        var failures: [TokenFailure] = []
        var revoked: Set<TokenHint> = []
        for (hint, token) in tokens {
            do throws(TokenFailure) {
                try await server.revoke(token, hint)
                revoked.insert(hint)
            } catch {
                // An access token that goes with its refresh token need not be revocable (§2.1).
                if hint == .accessToken, hints.contains(.refreshToken), error.refusal == .unsupportedTokenType
                {
                    continue
                }
                failures.append(error)
            }
        }
        if failures.isEmpty { revoked.formUnion(tokens.map(\.hint)) }
        if !revoked.isEmpty {
            let next = state.session(withoutRefreshToken: revoked.contains(.refreshToken))
            let failure = await saving(next, over: .success(held))
            state.ended(next, isSaved: failure == nil)
            if let failure { throw .store(failure) }
        }
        if let failure = failures.first { throw .server(failure) }
        return TokenHint.allCases.filter(revoked.contains)
    }

    /// Forgets the session, and asks the server to do the same, whatever the store can do.
    ///
    /// Our own part comes first, so that nothing that the server does can prevent it: here the session ends at once, in
    /// the store when nobody else has the lock, and a token request of ours in flight is not waited for.
    ///
    /// - Parameter isLocal: whether the server is left alone.
    public func logOut(onlyHere isLocal: Bool = false) async -> LogoutOutcome {
        await logOut(onlyHere: isLocal, saying: EndSessionOptions())
    }

    /// Forgets the session, asks the server to do the same, and says more with the request to end the provider's own.
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
        await supersede(for: .logout(isLocal: isLocal))
        await adoptStored()
        var ended = state.session
        let empty = state.loggedOutSession(at: clock.wallNow)
        keepUnsaved(empty)
        state.ended(empty, isSaved: false)
        advanceIfStarted()
        // Whoever had the lock may have logged in since: nothing may happen to that session.
        var isOver = false
        outcome.storeFailure = await withLock(waits: personsLockWaits) { lock in
            do throws(StoreError) {
                let held = try await readStored(under: lock)
                isOver = held.stored?.begins(after: empty) ?? false
                return isOver ? nil : await storeEnd(of: &ended, in: held)
            } catch {
                return error
            }
        }
        family.endTurn()
        advanceIfStarted()
        guard !isLocal, !isOver else { return outcome }
        let tokens = tokens([.refreshToken, .accessToken], of: ended)
        let idToken = ended.idToken
        await revoke(tokens, &outcome)
        let isAPersons = state.configuration.grantType.needsPerson && !tokens.isEmpty
        if isAPersons || idToken != nil { await endSession(idToken, options, &outcome) }
        return outcome
    }

    /// Stores that the session has ended.
    ///
    /// - Parameter ended: what it was here; becomes what it was in the store, if whoever had the lock has renewed it.
    /// - Returns: why it is not stored.
    private func storeEnd(of ended: inout StoredSession, in held: HeldSession) async -> StoreError? {
        if let stored = held.stored, stored.binding == ended.binding, stored.generation > ended.generation {
            ended = stored
        }
        let session = state.sessionToSave(over: held.stored)
        if let error = await saving(session, over: .success(held)) { return error }
        state.saved(session)
        return nil
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

    /// Without an id token the provider asks the person whom it knows by the browser's cookie.
    private func endSession(
        _ idToken: Secret?, _ options: EndSessionOptions, _ outcome: inout LogoutOutcome
    ) async {
        do throws(TokenFailure) {
            guard let endpoint = try await server.urlIfAny(of: .endSession) else {
                outcome.endSession = .notSupported
                return
            }
            try options.check()
            let request = EndSessionRequest(
                endpoint: endpoint, idToken: idToken, configuration: state.configuration, options)
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

    /// What is stored, for a change that only a person asks for.
    func readForPerson(under lock: LockOutcome) async throws(SessionFailure) -> HeldSession {
        do throws(StoreError) {
            return try await readStored(under: lock)
        } catch {
            throw .store(error)
        }
    }

    /// A session that only ends must not begin anew by itself.
    func advanceIfStarted() {
        if isStarted { advance() }
    }
}
