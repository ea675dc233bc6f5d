// SPDX-License-Identifier: Apache-2.0

/// One attempt to get a token, and everything that has to do with the store.
extension AuthSession {
    private static let saveAgainAfter: Duration = .seconds(5)
    /// Longer than another process can need for its own token request.
    private static let longestLockWait: Duration = .seconds(30)

    // MARK: The token request

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
        let lock: (any StoreLock)?
        switch await lockStore() {
        case .held(let held): lock = held
        case .impossible: lock = nil
        case .busy:
            let failure = TokenFailure(
                .transient, code: "store_busy", detail: "another process keeps the store's lock")
            _ = state.failed(failure, refreshToken: nil, at: clock.now, wall: clock.wallNow, jitter: random())
            return state.attemptEnded(at: clock.now, isSaved: true)
        }
        isStoreChanged = false
        await adoptStored()
        var isSaved = true
        while let grant = state.nextGrant(at: clock.now) {
            var outcome = await server.requestToken(with: grant)
            await judgeIDToken(of: &outcome)
            reportRequest(grant, outcome)
            if case .failure(let failure) = outcome.result,
                state.canRepeat(grant, after: failure) || state.canForgetRefreshToken(grant, after: failure)
            {
                continue
            }
            if let session = take(outcome) { isSaved = await save(session) }
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

    // MARK: The store

    private enum LockOutcome {
        case held(any StoreLock)
        case busy
        /// The store is out of order: better to go on without it than not at all.
        case impossible
    }

    private func lockStore() async -> LockOutcome {
        do throws(StoreError) {
            return .held(try await store.lock(identity, waitingAtMost: Self.longestLockWait))
        } catch {
            report(.storeFailed(.lock, error))
            return error == .busy ? .busy : .impossible
        }
    }

    /// Another process may have stored something.
    func storeChanged() async {
        guard state.attempt == nil, !isSaving else {
            isStoreChanged = true
            return
        }
        await adoptStored()
        advance()
    }

    /// Takes over what is stored, if it is newer.
    func adoptStored() async {
        if let stored = family.newest(await load()) { adopt(stored) }
    }

    private func load() async -> StoredSession? {
        do throws(StoreError) {
            return try await store.load(identity)
        } catch {
            report(.storeFailed(.load, error))
            return nil
        }
    }

    private func adopt(_ stored: StoredSession) {
        let isAdopted = state.found(stored, at: clock.now, wall: clock.wallNow, jitter: random())
        followClient()
        guard isAdopted else { return }
        server.learnedEncoding = stored.basicEncoding
        report(.adopted(generation: stored.generation))
    }

    /// - Returns: whether it is stored.
    private func save(_ session: StoredSession) async -> Bool {
        await saving(session) == nil
    }

    /// Stores `session`, or has it tried again in a while.
    ///
    /// - Returns: why it could not be stored.
    func saving(_ session: StoredSession) async -> StoreError? {
        defer {
            for sibling in family.siblings(of: self) { Task { await sibling.storeChanged() } }
        }
        do throws(StoreError) {
            try await store.save(session, keepingPrevious: state.hasStoredWorked)
        } catch {
            family.saved(session, isWritten: false)
            saveRetry = clock.now + Self.saveAgainAfter
            report(.storeFailed(.save, error))
            return error
        }
        family.saved(session, isWritten: true)
        if saveRetry != nil { report(.storeRecovered) }
        saveRetry = nil
        return nil
    }

    /// Writes what is in memory only, unless another process stored something newer.
    func saveAgain() async {
        isSaving = true
        await family.takeTurn()
        defer {
            family.endTurn()
            isSaving = false
        }
        let lock: (any StoreLock)?
        switch await lockStore() {
        case .held(let held): lock = held
        case .impossible: lock = nil
        case .busy:
            saveRetry = clock.now + Self.saveAgainAfter
            return
        }
        let stored = await load()
        if let newest = family.newest(stored) { adopt(newest) }
        if state.isUnsaved {
            let session = state.sessionToSave(over: stored)
            if await save(session) { state.saved(session) }
        }
        await lock?.release()
    }
}
