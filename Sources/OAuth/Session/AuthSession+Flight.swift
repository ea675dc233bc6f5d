// SPDX-License-Identifier: Apache-2.0

/// One attempt to get a token.
extension AuthSession {
    /// One attempt, from taking the store's lock to waking those who wait.
    ///
    /// The order is the promise: the lock, then what others stored, then the request, then storing what it brought,
    /// and only then its use.
    ///
    /// Where it is superseded, what is left of it is made after that, which is nothing in most cases.
    func runAttempt() async {
        while true {
            isWaiting = true
            await family.takeTurn()
            let result = await attempt()
            family.endTurn()
            if let result {
                attemptEnded(with: result)
                break
            }
            state.attemptSuperseded()
        }
        if isStoreChanged { await storeChanged() }
    }

    /// - Returns: nil if the attempt was superseded.
    private func attempt() async -> Result<Void, TokenFailure>? {
        let locked = await lockStore { family.isSuperseded || state.isAttemptNeedless(at: clock.now) }
        isWaiting = false
        var lock: (any StoreLock)?
        var trouble: StoreError?
        switch locked {
        case .held(let held):
            isStoreChanged = false
            lock = held
            trouble = await adoptStored()
        case .failed(let error):
            trouble = error
        case .needless:
            return family.isSuperseded ? nil : state.attemptEnded(at: clock.now, isSaved: true)
        }
        guard !isStopped else {
            await lock?.release()
            return state.attemptEnded(at: clock.now, isSaved: true)
        }
        // Whoever is not sure of having the newest refresh token sends none: a spent one costs the whole session.
        if let trouble, trouble.isBusy || state.needsRefreshToken(at: clock.now) {
            _ = state.failed(
                TokenFailure(trouble), refreshToken: nil, at: clock.now, wall: clock.wallNow, jitter: random()
            )
            await lock?.release()
            return state.attemptEnded(at: clock.now, isSaved: true)
        }
        var isSaved = true
        while let grant = state.nextGrant(at: clock.now, mayRefresh: trouble == nil) {
            guard let outcome = await outcome(of: grant) else {
                await lock?.release()
                return nil
            }
            reportRequest(grant, outcome)
            if case .failure(let failure) = outcome.result, outcome.refreshToken == nil,
                state.canRepeat(grant, after: failure, at: clock.now)
                    || state.canForgetRefreshToken(grant, after: failure)
            {
                continue
            }
            if let session = take(outcome) { isSaved = await saving(session) == nil }
            break
        }
        let result = state.attemptEnded(at: clock.now, isSaved: isSaved)
        await lock?.release()
        return result
    }

    /// Asks the provider, and judges what it answers.
    ///
    /// - Returns: nil if the attempt was superseded.
    private func outcome(of grant: Grant) async -> TokenOutcome? {
        let limit = state.timeLimit(of: grant, at: clock.now)
        guard let outcome = await awaiting(.answer(to: grant, within: limit)) else { return nil }
        guard await needsJudgement(outcome) else { return outcome }
        let previous = state.session.idToken.flatMap { try? IDToken(parsing: $0) }
        return await awaiting(.judgement(of: outcome, previous: previous))
    }

    /// Hands an outcome to the state.
    ///
    /// - Returns: what must be stored before anything of it is used.
    private func take(_ outcome: TokenOutcome) -> StoredSession? {
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

    func reportRequest(_ grant: Grant, _ outcome: TokenOutcome) {
        let type = TokenRequest(grant: grant, configuration: state.configuration).grantType
        switch outcome.result {
        case .success: report(.tokenRequested(type, nil))
        case .failure(let failure): report(.tokenRequested(type, failure))
        }
    }
}
