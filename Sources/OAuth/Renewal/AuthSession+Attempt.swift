// SPDX-License-Identifier: Apache-2.0

/// One attempt to get a token.
extension AuthSession {
    /// One attempt, from taking the store's lock to waking those who wait.
    ///
    /// The order is the promise: the lock, then what others stored, then the request, then storing what it brought,
    /// and only then its use.
    ///
    /// Where it is superseded, or finds the store just back, what is left of it is made after that, which is nothing in
    /// most cases.
    func runAttempt() async {
        while true {
            isWaiting = true
            await settle()
            await family.takeTurn()
            let result = await attempt()
            family.endTurn()
            if let result {
                attemptEnded(with: result)
                break
            }
            state.attemptSuperseded()
            if let sentRefresh, sentRefresh.isClaimed {
                sentRefresh.isClaimed = false
                try? await clock.sleep(until: clock.now + Self.claimPause)
            }
        }
        if isStoreChanged { await storeChanged() }
    }

    /// Who makes room for a person comes after them, and not between two of their looks at the lock.
    private static let claimPause: Duration = .seconds(1)
    /// How often is looked whether there is still something to wait for.
    private static let settlingLook: Duration = .milliseconds(250)

    /// Waits, where the store was away, until others have written what they could not: a refresh token that somebody has
    /// sent meanwhile would be sent again.
    private func settle() async {
        while let moment = await settlement() {
            if state.needsSaving, !isSaving, saveRetry.map({ $0 <= clock.now }) ?? true {
                await saveAgain()
            } else {
                try? await clock.sleep(until: min(moment, clock.now + Self.settlingLook))
            }
        }
    }

    /// Until when our refresh token may not be the newest, though nobody has stored another; nil if it is.
    private func settlement() async -> Instant? {
        // Nobody else can have renewed what we alone have.
        guard !isStopped, !Task.isCancelled, state.session.refreshToken != nil, !state.isUnsaved,
            !state.isAttemptNeedless(at: clock.now), let moment = await store.settlement(of: identity),
            clock.now < moment
        else { return nil }
        return moment
    }

    /// - Returns: nil if the attempt was superseded, or is to wait.
    private func attempt() async -> Result<Void, TokenFailure>? {
        await withLock(unless: { family.isSuperseded || state.isAttemptNeedless(at: clock.now) }) { lock in
            isWaiting = false
            if case .held = lock { isStoreChanged = false }
            if case .needless = lock { return family.isSuperseded ? nil : attemptEnded() }
            return await attempt(over: await place(under: lock))
        }
    }

    /// - Parameter place: what its answer replaces, or why nobody can be sure of that.
    /// - Returns: nil if the attempt was superseded, or is to wait.
    private func attempt(
        over place: Result<HeldSession, StoreError>
    ) async -> Result<Void, TokenFailure>? {
        guard !isStopped else { return attemptEnded() }
        // Whoever is not sure of having the newest refresh token sends none: a spent one costs the whole session.
        var mayRefresh = true
        if case .failure(let trouble) = place {
            if trouble.isBusy || trouble.isOutage || state.needsRefreshToken(at: clock.now) {
                return attemptFailed(trouble)
            }
            mayRefresh = false
        }
        while let grant = state.nextGrant(at: clock.now, mayRefresh: mayRefresh) {
            if case .refresh = grant {
                // Taking the lock may have been what found the store again.
                if await settlement() != nil { return nil }
                if let trouble = await spending(place) { return attemptFailed(trouble) }
            }
            report(.tokenRequestBegan)
            requestedAdditions?.isSent = true
            guard let outcome = await outcome(of: grant, over: place) else { return nil }
            reportRequest(grant, outcome)
            if case .failure(let failure) = outcome.result, outcome.refreshToken == nil,
                state.canRepeat(grant, after: failure)
                    || state.canForgetRefreshToken(grant, after: failure)
            {
                continue
            }
            guard let session = take(outcome) else { break }
            let isSaved = await saving(session, over: place) == nil
            return attemptEnded(isSaved: isSaved)
        }
        return attemptEnded()
    }

    private func attemptEnded(isSaved: Bool = true) -> Result<Void, TokenFailure> {
        state.attemptEnded(at: clock.now, isSaved: isSaved)
    }

    /// What the request of the present attempt says beside what all say.
    var additions: TokenAdditions {
        var additions = requestedAdditions?.additions ?? TokenAdditions()
        additions.scope = additions.scope ?? state.scopeOfOwnLogin
        return additions
    }

    /// Nothing was asked for, because the store failed.
    private func attemptFailed(_ trouble: StoreError) -> Result<Void, TokenFailure> {
        _ = state.failed(
            TokenFailure(trouble), refreshToken: nil, at: clock.now, wall: clock.wallNow, jitter: random())
        return attemptEnded()
    }

    /// Tells the store that the refresh token is about to be sent.
    ///
    /// - Returns: why it must not be.
    private func spending(_ place: Result<HeldSession, StoreError>) async -> StoreError? {
        do throws(StoreError) {
            let held = try place.get()
            try await held.lease.spend(held.stored ?? state.session)
            return nil
        } catch {
            if error == .leaseLost { family.lostLock() }
            return error
        }
    }

    /// Asks the provider, and judges what it answers.
    ///
    /// - Returns: nil if the attempt was superseded.
    private func outcome(
        of grant: Grant, over place: Result<HeldSession, StoreError>
    ) async -> TokenRequestResult? {
        let answer: TokenRequestResult?
        if state.mayRotate(grant), case .success(let held) = place {
            answer = await rotation(grant, of: held)
        } else {
            answer = await awaiting(.answer(to: grant, adding: additions))
        }
        guard let outcome = answer else { return nil }
        state.proved(with: outcome.proofKey)
        guard await needsJudgement(outcome, over: place) else { return outcome }
        let previous = state.session.idToken.flatMap { try? IDToken(parsing: $0) }
        return await awaiting(.judgement(of: outcome, previous: previous))
    }

    /// Hands an outcome to the state.
    ///
    /// - Returns: what must be stored before anything of it is used.
    private func take(_ outcome: TokenRequestResult) -> StoredSession? {
        state.basicEncodingLearned(server.learnedEncoding)
        switch outcome.result {
        case .success(let grant):
            return state.received(grant, sentAt: outcome.sentAt, wall: outcome.wall, jitter: random())
        case .failure(let failure):
            return state.failed(
                failure, refreshToken: outcome.refreshToken, at: clock.now, wall: clock.wallNow,
                jitter: random())
        }
    }

    func reportRequest(_ grant: Grant, _ outcome: TokenRequestResult) {
        let type = TokenRequestBody.grantType(
            of: grant, otherwise: state.configuration.grantType)
        switch outcome.result {
        case .success(let grant):
            report(
                state.repeatsRefusedToken(grant.accessToken)
                    ? .tokenRepeated(type) : .tokenRequested(type, nil))
            if grant.proofKey != nil, !grant.isBound { report(.tokenNotBound) }
        case .failure(let failure): report(.tokenRequested(type, failure))
        }
    }
}
