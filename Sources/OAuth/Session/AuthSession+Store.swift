// SPDX-License-Identifier: Apache-2.0

/// Everything that has to do with the store.
extension AuthSession {
    private static let tryAgainAfter: Duration = .seconds(5)
    /// Between two tries to write with the store's lock in hand.
    private static let saveTry: Duration = .seconds(2)
    /// Between two looks at a store that cannot be read, however many requests would like one.
    private static let leastPause: Duration = .milliseconds(100)
    /// How long the lock is waited for before its holder is named.
    private static let lockWait: Duration = .seconds(5)
    /// What an attempt and a saving wait for at once; they try again soon.
    private static let lockWaits = 6

    // MARK: The lock

    /// What came of asking for the lock.
    enum LockOutcome {
        case held(any StoreLock)
        case failed(StoreError)
        /// It is not needed any more.
        case needless
    }

    /// Takes the store's lock for what a person wants, which is tried once: the wait is longer than another process can
    /// need for its own token request.
    ///
    /// - Throws: ``StoreError``.
    func lock() async throws(StoreError) -> any StoreLock {
        let waits = (state.configuration.longestRotation / Self.lockWait).rounded(.up)
        switch await lockStore(waits: Int(waits) + 2) {
        case .held(let lock): return lock
        case .failed(let error): throw error
        case .needless: throw .busy(by: nil)
        }
    }

    /// Takes the store's lock, and says who holds it if that takes long.
    ///
    /// - Parameters:
    ///   - waits: how often it is waited for.
    ///   - isNeedless: asked after each wait that was in vain.
    func lockStore(
        waits: Int = lockWaits, unless isNeedless: () -> Bool = { false }
    ) async -> LockOutcome {
        var last = StoreError.busy(by: nil)
        for _ in 0..<waits {
            do throws(StoreError) {
                let lock = try await store.lock(identity, waitingAtMost: Self.lockWait)
                storeWorked(.lock)
                return .held(lock)
            } catch {
                last = error
                storeFailed(.lock, error)
                guard error.isBusy, !Task.isCancelled else { break }
                if isNeedless() { return .needless }
            }
        }
        return .failed(last)
    }

    // MARK: Reading

    /// Another process may have stored something.
    func storeChanged() async {
        guard state.attempt == nil || isWaiting, !isSaving else {
            isStoreChanged = true
            return
        }
        isStoreChanged = false
        await adoptStored()
        advance()
    }

    /// Takes over what is stored, if it is newer.
    ///
    /// - Returns: why nobody knows what is stored.
    @discardableResult
    func adoptStored() async -> StoreError? {
        do throws(StoreError) {
            _ = try await readStored()
            return nil
        } catch {
            return error
        }
    }

    /// Takes over what is stored, if it is newer.
    ///
    /// - Returns: what is stored.
    func readStored() async throws(StoreError) -> StoredSession? {
        lastLook = clock.now
        let stored: StoredSession?
        do throws(StoreError) {
            stored = try await store.load(identity)
        } catch {
            lookMoment = clock.now + Self.tryAgainAfter
            state.isBeingRead = false
            storeFailed(.load, error)
            throw error
        }
        let misplacement = await store.misplacement(of: identity)
        lookMoment = misplacement.map { _ in clock.now + Self.tryAgainAfter }
        storeWorked(.load)
        if let misplacement { storeFailed(.place, misplacement) } else { storeWorked(.place) }
        state.outrank(stored)
        let newest = family.newest(stored)
        if let newest { adopt(newest) }
        state.compared(to: newest)
        return stored
    }

    private func adopt(_ stored: StoredSession) {
        let heldOthersSession = state.holdsOthersSession
        let isAdopted = state.found(stored, at: clock.now, wall: clock.wallNow, jitter: random())
        followClient()
        if state.holdsOthersSession, !heldOthersSession { report(.othersSessionFound) }
        guard isAdopted else { return }
        server.learnedEncoding = stored.basicEncoding
        report(.adopted(generation: stored.generation))
    }

    /// Has a store that could not be read be looked at again as soon as that is decent.
    func lookSoon() {
        state.isBeingRead = true
        lookMoment = max(clock.now, lastLook + Self.leastPause)
        advance()
    }

    // MARK: Writing

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
            saveRetry = clock.now + Self.tryAgainAfter
            storeFailed(.save, error)
            return error
        }
        family.saved(session, isWritten: true)
        saveRetry = nil
        storeWorked(.save)
        return nil
    }

    /// `session` is what a person wants, and in memory alone: nobody may write now, or knows what is there.
    func keepUnsaved(_ session: StoredSession) {
        family.saved(session, isWritten: false, outranksStored: true)
        saveRetry = clock.now + Self.tryAgainAfter
        for sibling in family.siblings(of: self) { Task { await sibling.storeChanged() } }
    }

    /// Writes what is in memory only, unless another process stored something newer.
    ///
    /// - Parameter end: of trying again with the store's lock in hand; nil for one try.
    func saveAgain(until end: Instant? = nil) async {
        isSaving = true
        await family.takeTurn()
        if case .held(let lock) = await lockStore(unless: { family.isSuperseded }) {
            await saveLocked()
            while let end, state.needsSaving, state.lastStoreError?.isRefused != true, clock.now < end {
                guard (try? await clock.sleep(until: clock.now + Self.saveTry)) != nil else { break }
                await saveLocked()
            }
            await lock.release()
        } else {
            saveRetry = clock.now + Self.tryAgainAfter
        }
        family.endTurn()
        isSaving = false
        if isStoreChanged { await storeChanged() }
    }

    private func saveLocked() async {
        do throws(StoreError) {
            let stored = try await readStored()
            guard state.needsSaving else { return }
            let session = state.sessionToSave(over: stored)
            if await saving(session) == nil { state.saved(session) }
        } catch {
            // What is there may be newer than ours.
            saveRetry = clock.now + Self.tryAgainAfter
        }
    }

    // MARK: What people hear of it

    private func storeFailed(_ operation: StoreOperation, _ error: StoreError) {
        state.storeFailed(operation, error, wall: clock.wallNow)
        report(.storeFailed(operation, error))
    }

    private func storeWorked(_ operation: StoreOperation) {
        if state.storeWorked(operation) { report(.storeRecovered(operation)) }
    }
}
