// SPDX-License-Identifier: Apache-2.0

/// Everything that has to do with the store.
extension AuthSession {
    private static let tryAgainAfter: Duration = .seconds(5)
    /// Between two tries to write at the end.
    static let saveTry: Duration = .seconds(1)
    /// Between two looks at a store that cannot be read, however many requests would like one.
    private static let leastPause: Duration = .milliseconds(100)
    /// How long the lock is waited for before its holder is named.
    private static let lockWait: Duration = .seconds(5)
    /// What an attempt and a saving wait for at once; they try again soon.
    private static let lockWaits = 6

    // MARK: The lock

    /// What came of asking for the lock.
    enum LockOutcome {
        case held(any StoreLease)
        case failed(StoreError)
        /// It is not needed any more.
        case needless

        /// The right to write.
        ///
        /// - Throws: why there is none.
        var lease: any StoreLease {
            get throws(StoreError) {
                switch self {
                case .held(let lease): return lease
                case .failed(let error): throw error
                case .needless: throw .busy(by: nil)
                }
            }
        }
    }

    /// How often the lock is waited for where a person wants it, which is tried once: longer than another process needs
    /// that lets go of it for a person.
    var personsLockWaits: Int {
        Int((max(state.configuration.tokenTimeLimit, .seconds(60)) / Self.lockWait).rounded(.up)) + 2
    }

    /// Runs `body` with the store's lock, or once it is not to be had; says who holds it if that takes long.
    ///
    /// - Parameters:
    ///   - waits: how often it is waited for.
    ///   - isNeedless: asked after each wait that was in vain.
    ///   - body: what is done under the lock; with any other outcome nothing can be written.
    func withLock<Answer: Sendable, Failure: Error>(
        waits: Int = lockWaits, unless isNeedless: () -> Bool = { false },
        _ body: (LockOutcome) async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        var outcome = LockOutcome.failed(.busy(by: nil))
        // Whoever only waits for a provider that hangs lets a person in.
        var claim: (any Sendable)?
        defer { withExtendedLifetime(claim) {} }
        for _ in 0..<waits {
            if waits == personsLockWaits, claim == nil { claim = await store.claim(identity) }
            let lease: any StoreLease
            do throws(StoreError) {
                lease = try await keptOrNewLease()
            } catch {
                outcome = .failed(error)
                storeFailed(.lock, error)
                guard error.isBusy, !Task.isCancelled else { break }
                guard isNeedless() else { continue }
                outcome = .needless
                break
            }
            storeWorked(.lock)
            let result: Result<Answer, Failure>
            do throws(Failure) {
                result = .success(try await body(.held(lease)))
            } catch {
                result = .failure(error)
            }
            await giveBack(lease)
            return try result.get()
        }
        return try await body(outcome)
    }

    /// The lease that the family has kept, or else a new one.
    private func keptOrNewLease() async throws(StoreError) -> any StoreLease {
        if let kept = family.keptLease { return kept }
        return try await store.lock(identity, waitingAtMost: Self.lockWait)
    }

    /// Gives the lock back, or keeps it while other processes would read a refresh token that has been sent already.
    private func giveBack(_ lease: any StoreLease) async {
        if family.mustKeepLock, await !store.hasMoved(identity) {
            family.keptLease = lease
        } else {
            family.keptLease = nil
            await lease.release()
        }
    }

    /// Ends it as ``stop(savingFor:evenIfRefused:)`` does, but not while it alone has what could not be had again.
    ///
    /// Returns when that is written, or another session of the identity sees to it.
    package func retire() async {
        await quiesce()
        while isUnsaved, await !handOver() {
            guard (try? await clock.sleep(until: clock.now + Self.tryAgainAfter)) != nil else { break }
            if isUnsaved { await saveAgain() }
        }
        await stop()
    }

    /// Whether what could not be had again is in memory alone.
    var isUnsaved: Bool { state.needsSaving && state.isIrreplaceable }

    /// Why what could not be had again is in memory alone; nil if it is not.
    package var unsavedReason: String? {
        isUnsaved ? state.lastStoreError?.reason ?? "the store was not asked yet" : nil
    }

    /// Has another session of the identity write what this one could not.
    ///
    /// - Returns: whether one does.
    func handOver() async -> Bool {
        guard state.needsSaving else { return false }
        for sibling in family.siblings(of: self)
        where await sibling.takeOver(state.session, outrankingStored: state.outranksStored, from: self) {
            state.handedOver()
            return true
        }
        return false
    }

    func takeOver(
        _ session: StoredSession, outrankingStored: Bool, from member: any FamilyMember
    ) async -> Bool {
        guard isStarted, session.binding == state.binding else { return false }
        await family.takeTurn()
        defer { family.endTurn() }
        // What is stored, or a sibling has in memory, may be newer by now.
        guard await adoptStored() == nil, isStarted else { return false }
        adopt(session)
        guard state.takeOver(session, outrankingStored: outrankingStored) else { return false }
        family.replaceKeeper(member, by: self)
        advance()
        return true
    }

    /// Lets other processes in, though what they should read could not be written: nobody is left who would.
    func giveUpKeptLock() async {
        guard family.keepsLock(for: self) else { return }
        await family.takeTurn()
        if family.keepsLock(for: self) { await family.giveUpLock()?.release() }
        family.endTurn()
    }

    /// Runs `body` with the store's lock, for what a person asked for, when no attempt of this process is under way.
    func withLockForPerson<Answer: Sendable, Failure: Error>(
        _ body: (LockOutcome) async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        await family.takeTurn()
        defer { family.endTurn() }
        return try await withLock(waits: personsLockWaits, body)
    }

    // MARK: Reading

    /// Another process may have stored something.
    func storeChanged() async { await storeChanged(isWritable: false) }

    /// - Parameter isWritable: whether what could not be written is worth another try.
    func storeChanged(isWritable: Bool) async {
        if isWritable, !isSaving { saveRetry = nil }
        let isSilent = state.attempt?.isSilent ?? false
        guard state.attempt == nil || isWaiting || isSilent, !isSaving else {
            isStoreChanged = true
            return
        }
        isStoreChanged = false
        if isSilent {
            let before = state.session.generation
            // Whoever could write has the lock by now: what is waited for is of another session.
            if await adoptStored() == nil, state.session.generation != before { letGo(for: .login) }
            return advance()
        }
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

    /// Takes over what is stored, if it is newer, and may be replaced by who has the lock.
    ///
    /// - Throws: ``StoreError`` if there is no lock, or nobody knows what is stored: nothing may be written then.
    func readStored(under lock: LockOutcome) async throws(StoreError) -> HeldSession {
        HeldSession(lease: try lock.lease, stored: try await readStored())
    }

    /// What a change replaces, taken over if it is newer; or why nothing may be written.
    func place(under lock: LockOutcome) async -> Result<HeldSession, StoreError> {
        do throws(StoreError) {
            return .success(try await readStored(under: lock))
        } catch {
            return .failure(error)
        }
    }

    /// Takes over what is stored, if it is newer.
    ///
    /// - Returns: what is stored.
    private func readStored() async throws(StoreError) -> StoredSession? {
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
        let isFirst = state.session.generation == 0
        let isAdopted = state.found(stored, at: clock.now, wall: clock.wallNow, jitter: random())
        followClient()
        if state.holdsOthersSession, !heldOthersSession { report(.othersSessionFound) }
        guard isAdopted else { return }
        server.learnedEncoding = stored.basicEncoding
        // One that another configuration has replaced already compares with what counts no more.
        if isFirst, family.has(self), let change = state.scopeChange {
            report(.scopeChanged(from: change.asked, to: change.configured))
        }
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
    /// - Parameter place: what it replaces, or why nothing may be replaced.
    /// - Returns: why it could not be stored.
    func saving(_ session: StoredSession, over place: Result<HeldSession, StoreError>) async -> StoreError? {
        defer {
            for sibling in family.siblings(of: self) { Task { await sibling.storeChanged() } }
        }
        do throws(StoreError) {
            try await place.get().save(session, keepingPrevious: state.hasStoredWorked)
        } catch {
            family.saved(session, isWritten: false)
            if case .success(let held) = place {
                family.couldNotReplace(held.stored, with: session, of: self)
            }
            if error == .leaseLost { family.lostLock() }
            // What others have stored counts from here on.
            if error == .leaseLost || error == .outdated { isStoreChanged = true }
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
    func saveAgain() async {
        isSaving = true
        await family.takeTurn()
        await withLock(unless: { family.isSuperseded }) { lock in await saveUnsaved(under: lock) }
        family.endTurn()
        isSaving = false
        if isStoreChanged { await storeChanged() }
    }

    /// Writes what is in memory only while an attempt waits, and has the lock.
    func saveMeanwhile(over held: HeldSession) async {
        guard state.needsSaving, saveRetry.map({ $0 <= clock.now }) ?? true else { return }
        let session = state.sessionToSave(over: held.stored)
        guard await saving(session, over: .success(held)) == nil else { return }
        state.saved(session)
        // The refresh token that was sent is that of this generation now.
        try? await held.lease.spend(session)
    }

    private func saveUnsaved(under lock: LockOutcome) async {
        do throws(StoreError) {
            let held = try await readStored(under: lock)
            guard state.needsSaving else { return }
            let session = state.sessionToSave(over: held.stored)
            if await saving(session, over: .success(held)) == nil {
                state.saved(session)
            } else {
                state.couldNotSave()
            }
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
