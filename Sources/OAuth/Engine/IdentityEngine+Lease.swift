// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Leases, reading and writing.
extension IdentityEngine {
    /// How often an attempt or a write waits for the lease, a few seconds each time; it is tried again soon.
    private static let lockWaits = 6
    /// How long the driver waits for the lease each time.
    static let lockWait: Duration = .seconds(5)
    /// Between two tries to write, and two looks at a store that cannot be read.
    static let pauseAfterTrouble: Duration = .seconds(5)
    /// Between two looks at a store that cannot be read, however many requests would like one.
    private static let leastPause: Duration = .milliseconds(100)

    /// How often a person's wish waits for the lease, which is tried once: longer than another process needs that lets go
    /// of it for a person.
    private var personsLockWaits: Int {
        Int((max(configured.tokenTimeLimit, .seconds(60)) / Self.lockWait).rounded(.up)) + 2
    }

    // MARK: The lease

    mutating func beginLocking(after refusals: Int = 0) {
        let ticket = newTicket()
        phase = .locking(ticket, refusals: refusals)
        act(.lock(ticket, isClaiming: claimsLease))
    }

    mutating func leased(_ ticket: Ticket) {
        guard case .locking(ticket, _) = phase else { return act(.release(ticket, leavingMark: false)) }
        storeWorked(.lock)
        lease = HeldLease(ticket: ticket)
        readUnderLease()
    }

    private mutating func readUnderLease() {
        let ticket = newTicket()
        readTicket = nil
        phase = .reading(ticket)
        act(.read(ticket))
    }

    mutating func leaseRefused(_ ticket: Ticket, _ error: StoreError) {
        guard case .locking(ticket, let refusals) = phase else { return }
        storeFailed(.lock, error)
        guard error.isBusy else { return giveUp(error) }
        endNeedlessAttempts()
        guard !commands.isEmpty || !queue.isEmpty || needsWriting else { return phase = .idle }
        let limit = commands.contains { $0.command.isPersons } ? personsLockWaits : Self.lockWaits
        guard refusals + 1 < limit, !isStopping || !commands.isEmpty else { return giveUp(error) }
        beginLocking(after: refusals + 1)
    }

    mutating func releaseLease() {
        guard let lease else { return }
        // Whoever comes next finds a refresh token that is spent, or may be.
        let leavesMark = lease.leavesMark || holdsWhatStoreLacks || isStoredTokenDoubted
        act(.release(lease.ticket, leavingMark: leavesMark))
        self.lease = nil
    }

    /// Takes note that nothing that needs the lease can be done now.
    mutating func giveUp(_ error: StoreError) {
        releaseLease()
        phase = .idle
        if needsWriting { writeMoment = now + Self.pauseAfterTrouble }
        failCommands(error)
        for id in queue {
            if isNeedless(id) {
                storeTroubles[.lock] = nil
                endAttempt(of: id, nil)
            } else if !error.isBusy, !error.isOutage, let grant = nextGrant(for: id, mayRefresh: false) {
                return ask(id, grant, after: error)
            } else {
                failAttempt(of: id, error)
            }
        }
    }

    // MARK: Reading

    /// True if a look at the store without the lease is of use now.
    var mayReadUnlocked: Bool {
        guard readTicket == nil else { return false }
        switch phase {
        case .idle, .settling, .locking: return true
        case .holding: return true
        case .asking(let asking): return asking.rule?.mayGiveWay(at: now) ?? false
        case .reading, .spending, .judging, .saving, .performing, .stopped: return false
        }
    }

    mutating func look() {
        guard mayReadUnlocked else { return }
        nextRead = nil
        let ticket = newTicket()
        readTicket = ticket
        act(.read(ticket))
    }

    /// Schedules another look at an unreadable store, no sooner than ``leastPause`` after the last one.
    mutating func lookSoon() {
        isBeingRead = true
        nextRead = max(now, storeReadAt + Self.leastPause)
    }

    mutating func recordRead(_ ticket: Ticket, _ result: Result<StoreRecord, StoreError>) {
        if ticket == readTicket {
            readTicket = nil
            guard mayReadUnlocked else { return nextRead = now }
            let before = session.generation
            noteRead(result)
            // A newer session was written, so our lease is lost, and the answer we wait for belongs to the old one.
            if session.generation != before { letGo() }
            leaveAdriftOfOthers()
        } else if case .reading(ticket) = phase {
            noteRead(result)
            leaveAdriftOfOthers()
            switch result {
            // What could not be written cannot be read either: it is read before the next refresh token is marked.
            case .failure where lease?.isUnsure == true: workUnderLease(isRead: true)
            case .failure(let error): giveUp(error)
            case .success(let record):
                let isSpent = isReplaced(record.session?.refreshToken)
                lease?.noteRead(record.session, isReplaced: isSpent)
                if record.isLeftSpent { keepDoubt() }
                if nextRead.map({ $0 <= now }) ?? false { nextRead = nil }
                workUnderLease()
            }
        }
    }

    /// Copies a left-over mark into the session, because the next save would erase it from the store.
    private mutating func keepDoubt() {
        lease?.stored?.doubt()
        if lease?.stored?.doubtedToken == session.refreshToken?.digest { session.doubt() }
    }

    private mutating func noteRead(_ result: Result<StoreRecord, StoreError>) {
        storeReadAt = now
        switch result {
        case .failure(let error):
            nextRead = now + Self.pauseAfterTrouble
            isBeingRead = false
            storeFailed(.load, error)
        case .success(let record):
            nextRead = record.misplacement.map { _ in now + Self.pauseAfterTrouble }
            settledAt = settlement(after: record)
            storeWorked(.load)
            if let misplacement = record.misplacement {
                storeFailed(.place, misplacement)
            } else {
                storeWorked(.place)
            }
            compare(with: record.session)
        }
    }

    // MARK: Writing

    /// True if ``session`` is to be written.
    var needsWriting: Bool { (isUnwritten || isStoreBehind) && othersSession == nil }

    /// Has the session be newer than what is stored; one that says of a doubt also than what others may have read of it
    /// before, since they look into none that they know.
    mutating func countOn(from stored: StoredSession?) {
        let known = isDoubted ? knownGeneration : 0
        session.generation = max(session.generation, (stored?.generation ?? 0) + 1, known + 1)
    }

    /// Writes the session as it is in memory.
    mutating func save(then conclusion: Phase.Conclusion? = nil) {
        guard let lease else { return }
        guard othersSession == nil else {
            usePending()
            return conclude(conclusion)
        }
        countOn(from: lease.stored)
        let ticket = newTicket()
        phase = .saving(ticket, session, conclusion)
        act(.save(ticket, session, over: lease.stored, keepingPrevious: hasStoredWorked))
    }

    mutating func saved(_ ticket: Ticket) {
        guard case .saving(ticket, let written, let conclusion) = phase else { return }
        noteSaved(written)
        if case .command? = conclusion { return commandSaved(written) }
        if !needsWriting { finishApplied() }
        usePending()
        conclude(conclusion)
    }

    /// Takes note that the store holds `written`.
    mutating func noteSaved(_ written: StoredSession) {
        storeWorked(.save)
        storeTroubles[.lock] = nil
        // Nobody has anything newer of a session that has only just begun.
        if let before = lease?.stored, written.begins(after: before) { lease?.hasKeptOthersOut = false }
        lease?.noteWritten(written)
        noteKnown(written)
        hasStoredWorked = false
        guard written.generation == session.generation, written.origin == session.origin else { return }
        isUnwritten = false
        isStoreBehind = false
        outranksStored = false
    }

    mutating func notSaved(_ ticket: Ticket, _ error: StoreError, hasMoved: Bool) {
        guard case .saving(ticket, _, let conclusion) = phase else { return }
        lease?.isUnsure = error != .outdated
        if case .command? = conclusion {
            storeFailed(.save, error)
            failFirstCommand(error)
        } else {
            noteNotSaved(error, hasMoved: hasMoved)
        }
        usePending()
        guard error == .outdated, lease != nil else { return conclude(conclusion) }
        // Our earlier write may have succeeded although its reply was lost, or another process has written.
        switch conclusion {
        case .judging(let asking, let outcome): return judge(outcome, of: asking)
        case .ending(let id, let failure): endAttempt(of: id, failure)
        case .command, nil: break
        }
        writeMoment = now
        readUnderLease()
    }

    mutating func noteNotSaved(_ error: StoreError, hasMoved: Bool) {
        storeFailed(.save, error)
        lease?.hasMoved = hasMoved
        writeMoment = now + Self.pauseAfterTrouble
        failCommands(error)
        // A lost lease keeps nobody out, and nothing more can be written under it.
        guard error == .leaseLost else { return }
        nextRead = now
        claimLostLease()
        releaseLease()
    }

    private mutating func conclude(_ conclusion: Phase.Conclusion?) {
        switch conclusion {
        case .judging(let asking, let outcome): return judge(outcome, of: asking)
        case .ending(let id, let failure): endAttempt(of: id, failure)
        case .command, nil: break
        }
        workUnderLease()
    }

    /// Uses the tokens of an answer: it is written, or could not be.
    mutating func usePending() {
        let generation = session.generation
        for id in order {
            if let token = targets[id]?.pending { use(token, for: id) }
            if targets[id]?.isEnding == true { targets[id]?.forget(upTo: generation - 1) }
        }
    }

    private mutating func use(_ token: AccessToken, for id: TargetID) {
        guard let state = targets[id], state.repeatsRefusedToken(token.snapshot.token) else {
            targets[id]?.use(token)
            return
        }
        guard let generation = targets[id]?.keep(token), var stored = session[state.request] else { return }
        stored.generation = generation
        session[state.request] = stored
    }

    // MARK: With the lease in hand

    /// Does what is to be done next, in this order: what must be written, what a person wants, what is due.
    ///
    /// - Parameter isRead: true if the store was read just now, whatever came of that.
    mutating func workUnderLease(isRead: Bool = false) {
        guard let lease else {
            phase = .idle
            return advanceIdle()
        }
        keepTokenAdrift()
        if needsWriting, writeMoment <= now { return save() }
        // A command goes by what is stored.
        if lease.isUnsure, !isRead, !commands.isEmpty { return readUnderLease() }
        if performNext() { return }
        endNeedlessAttempts()
        if let id = queue.first {
            guard case .refresh(let token)? = nextGrant(for: id) else { return ask(id, .original) }
            // Taking the lease may have been what found the store again.
            if !mustSettle, !lease.hasKeptOthersOut {
                if lease.isUnsure, !isRead { return readUnderLease() }
                let ticket = newTicket()
                phase = .spending(ticket, id, .refresh(token))
                return act(.spend(ticket, lease.stored ?? session))
            }
        }
        // Whoever comes next would know nothing of it.
        if lacksDoubt {
            changed()
            return save()
        }
        // The store holds a refresh token that is spent: nobody may read it before ours is written.
        if holdsWhatStoreLacks, !lease.hasMoved, mustSettle || !lease.hasKeptOthersOut {
            if mustSettle { self.lease?.hasKeptOthersOut = true }
            return phase = .holding
        }
        if lease.hasKeptOthersOut {
            // They write now, if they have anything.
            let end = now + Self.pauseAfterTrouble + Self.claimPause
            (pauseEnd, writeMoment) = (end, max(writeMoment, end))
        }
        releaseLease()
        phase = .idle
        if !queue.isEmpty { advanceIdle() }
    }

    /// True if the store holds a refresh token that is spent, and ours has taken its place, or what a person did since has.
    ///
    /// An authorization server takes whoever sends it for a thief, and ends the whole session (RFC 9700 §4.14.2).
    private var holdsWhatStoreLacks: Bool {
        guard needsWriting, let lease else { return false }
        if lease.isStoredSpent { return true }
        guard let stored = lease.stored, stored.origin == session.origin, let old = stored.refreshToken,
            let new = session.refreshToken
        else { return false }
        return !old.matches(new)
    }

    /// True if the refresh token that the store holds may be spent by somebody else, whose mark ours has taken the place of.
    private var isStoredTokenDoubted: Bool {
        isDoubted && session.doubtedToken == lease?.stored?.refreshToken?.digest
    }

    /// True if the store says nothing of that, because it was emptied or went back to an older copy.
    private var lacksDoubt: Bool {
        guard !needsWriting, othersSession == nil, let lease, !lease.leavesMark else { return false }
        return isStoredTokenDoubted && lease.stored?.isDoubted == false
    }

    mutating func spent(_ ticket: Ticket, _ result: Result<Bool, StoreError>) {
        guard case .spending(ticket, let id, let grant) = phase else { return }
        switch result {
        case .success(let mayBeSpent):
            // The mark is of what is stored, which ours may have replaced.
            if mayBeSpent, case .refresh(let token) = grant, token.matches(session.refreshToken),
                !token.matches(ownToken)
            {
                session.doubt()
            }
            guard case .refresh(let token) = grant, token.matches(session.refreshToken), commands.isEmpty,
                targets[id] != nil
            else {
                restartAttempt(of: id)
                return workUnderLease()
            }
            beginAsking(id, grant)
        case .failure(let error):
            failAttempt(of: id, error)
            if error == .leaseLost { releaseLease() }
            workUnderLease()
        }
    }

    // MARK: What people hear of it

    mutating func storeFailed(_ operation: StoreOperation, _ error: StoreError) {
        // Something newer is stored, which is read at once.
        guard error != .outdated else { return }
        let isEnd = operation == .save && isEndUnwritten
        let error = isEnd ? error.adding("; a restart brings back the session that the store holds") : error
        let known = storeTroubles[operation]
        storeTroubles[operation] = StoreTrouble(error: error, since: known?.since ?? moment.wall)
        // Whoever has had the lock since may have ended the session: that is looked at first.
        guard operation != .save || error != .leaseLost || known?.error == error else { return }
        report(.storeFailed(operation, error))
    }

    mutating func storeWorked(_ operation: StoreOperation) {
        if operation == .load {
            isBeingRead = false
            for id in order
            where targets[id]?.attempt == nil && targets[id]?.failure?.cause.isAboutStore == true {
                targets[id]?.failure = nil
            }
        }
        if storeTroubles.removeValue(forKey: operation) != nil { report(.storeRecovered(operation)) }
    }
}
