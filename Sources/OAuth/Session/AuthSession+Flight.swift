// SPDX-License-Identifier: Apache-2.0

/// One attempt to get a token.
extension AuthSession {
    /// One attempt, from taking the store's lock to waking those who wait.
    ///
    /// The order is the promise: the lock, then what others stored, then the request, then storing what it brought,
    /// and only then its use.
    func fly() async {
        await family.takeTurn()
        let result = await attempt()
        family.endTurn()
        landed(with: result)
        if isStoreChanged { await storeChanged() }
    }

    private func attempt() async -> Result<Void, TokenFailure> {
        isWaitingForLock = true
        let locked = await lockStore { state.isAttemptNeedless(at: clock.now) }
        isWaitingForLock = false
        isStoreChanged = false
        var lock: (any StoreLock)?
        var trouble: StoreError?
        switch locked {
        case .held(let held):
            lock = held
            trouble = await adoptStored()
        case .failed(let error):
            trouble = error
        case .needless:
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
            var outcome = await server.requestToken(
                with: grant, waitingAtMost: state.timeLimit(of: grant, at: clock.now))
            await judgeIDToken(of: &outcome)
            reportRequest(grant, outcome)
            if case .failure(let failure) = outcome.result,
                state.canRepeat(grant, after: failure) || state.canForgetRefreshToken(grant, after: failure)
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
