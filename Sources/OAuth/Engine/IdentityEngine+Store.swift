// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Leases, reading and writing.
extension IdentityEngine {
    /// How often an attempt waits for the lease, a few seconds each time, before it counts as failed.
    private static let patience = 6
    /// A person's wish waits longer than any rotation of another process takes.
    private static let personsPatience = 14
    /// Between two tries to write, and two looks at a store that cannot be read.
    static let pauseAfterTrouble: Duration = .seconds(5)
    private static let replacedTokensKept = 8
    /// While the process waits for nothing but the write.
    private static let pauseWhileStopping: Duration = .seconds(1)

    mutating func takeFromStore(_ event: EngineEvent) {
        switch event {
        case .storeChanged: lookMoment = now
        case .leased(let ticket): leased(ticket)
        case .leaseRefused(let ticket, let error): leaseRefused(ticket, error)
        case .leaseLost(let ticket): leaseLost(ticket)
        case .recordRead(let ticket, let result): recordRead(ticket, result)
        case .spent(let ticket, let result): spent(ticket, result)
        case .saved(let ticket, let result): saved(ticket, result)
        default: break
        }
    }

    // MARK: The lease

    mutating func beginLocking(after refusals: Int = 0) {
        let ticket = newTicket()
        phase = .locking(ticket, refusals: refusals)
        act(.lock(ticket))
    }

    private mutating func leased(_ ticket: Ticket) {
        guard case .locking(ticket, _) = phase else { return act(.release(ticket)) }
        storeWorked(.lock)
        lease = HeldLease(ticket: ticket)
        read()
    }

    private mutating func leaseRefused(_ ticket: Ticket, _ error: StoreError) {
        guard case .locking(ticket, let refusals) = phase else { return }
        storeFailed(.lock, error)
        usePending()
        let limit = commands.isEmpty ? Self.patience : Self.personsPatience
        let isWanted = hasToWrite || dueTarget != nil
        if error.isBusy, isWanted, stopMoment != nil || refusals + 1 < limit {
            return beginLocking(after: refusals + 1)
        }
        giveUp(error)
    }

    /// The lease is somebody else's by now, or nobody's.
    private mutating func leaseLost(_ ticket: Ticket) {
        guard lease?.ticket == ticket else { return }
        lease = nil
        switch phase {
        case .reading, .holding:
            writeMoment = now
            beginLocking()
        case .idle, .looking, .settling, .locking, .spending, .asking, .silent, .judging, .saving,
            .performing,
            .stopped:
            break
        }
    }

    mutating func releaseLease() {
        guard let lease else { return }
        act(.release(lease.ticket))
        self.lease = nil
    }

    /// Nothing that needs the lease can be done now.
    private mutating func giveUp(_ error: StoreError) {
        usePending()
        releaseLease()
        phase = .idle
        writeMoment = now + (stopMoment == nil ? Self.pauseAfterTrouble : Self.pauseWhileStopping)
        finishAll(error)
        for target in order where isDue(target) {
            if case .original = grantWithoutStore(for: target, error) {
                return ask(target, .original)
            }
            failed(target, TokenFailure(error))
        }
    }

    /// A grant that needs no session is made without a store, unless the store is only busy or away: then others have
    /// what we need.
    private func grantWithoutStore(for target: TokenTarget, _ error: StoreError) -> Grant? {
        if configured.grantType.needsPerson || error.isBusy || error.isOutage { return nil }
        return .original
    }

    // MARK: Reading

    private mutating func read() {
        let ticket = newTicket()
        phase = .reading(ticket)
        act(.read(ticket))
    }

    mutating func look() {
        let ticket = newTicket()
        lookMoment = nil
        phase = .looking(ticket)
        act(.read(ticket))
    }

    private mutating func recordRead(_ ticket: Ticket, _ result: Result<StoreRecord, StoreError>) {
        let isUnderLease: Bool
        switch phase {
        case .looking(ticket): isUnderLease = false
        case .reading(ticket): isUnderLease = true
        default: return
        }
        switch result {
        case .failure(let error):
            storeFailed(.load, error)
            lookMoment = now + Self.pauseAfterTrouble
            hasLooked = true
            if isUnderLease { giveUp(error) } else { phase = .idle }
        case .success(let record):
            storeWorked(.load)
            hasLooked = true
            if isUnderLease {
                lookMoment = nil
                lease?.stored = record.session
                let marks = record.marks.filter { !$0.isOurs }
                lease?.marks = marks
                noteOwners(of: marks)
            }
            compare(with: record.session)
            if isUnderLease { workUnderLease() } else { phase = .idle }
        }
    }

    private mutating func noteOwners(of marks: [SpendingMark]) {
        let missing = marks.filter { !$0.isOwnerAlive }.map(\.owner)
        missingOwners = missingOwners.filter { missing.contains($0.key) }
        for owner in missing where missingOwners[owner] == nil { missingOwners[owner] = now }
        forgivenMarks.formIntersection(marks)
    }

    // MARK: Which one is newer

    /// Takes over what is stored if that is newer, else has ours written in its place.
    private mutating func compare(with stored: StoredSession?) {
        guard let stored else {
            if isWorthKeeping { foundBehind() }
            return
        }
        keepPending(of: stored)
        if outranksStored {
            noteEnded(stored)
            guard stored.begins(after: session) else { return }
            outdo()
            return adopt(stored)
        }
        if isNewer(stored) { return adopt(stored) }
        knownGeneration = max(knownGeneration, stored.generation)
        if stored.generation < session.generation, isWorthKeeping { foundBehind() }
    }

    /// Whether what is stored takes the place of ours.
    ///
    /// Facts come first: the generation tells only how often a session was changed.
    private func isNewer(_ stored: StoredSession) -> Bool {
        let isSameSession = stored.origin == session.origin
        if isSameSession, isReplaced(stored.refreshToken) { return false }
        // The store has held more than that: it has gone back.
        if stored.generation < knownGeneration { return false }
        let isSameToken =
            stored.refreshToken.map { $0.equals(session.refreshToken) } ?? (session.refreshToken == nil)
        if stored.generation > session.generation { return true }
        if isSameSession { return !isSameToken && (isUnwritten || stored.generation == session.generation) }
        return stored.generation == session.generation || stored.begins(after: session)
    }

    /// Whether `token` is one that ours has taken the place of.
    func isReplaced(_ token: Secret?) -> Bool { replacedTokens.contains { $0.equals(token) } }

    /// Whether the store holds a refresh token that is spent, and ours has taken its place.
    var holdsWhatStoreLacks: Bool {
        isUnwritten && lease.map { isReplaced($0.stored?.refreshToken) } ?? false
    }

    private var isWorthKeeping: Bool {
        session.refreshToken != nil || !session.accessTokens.isEmpty
    }

    /// Another refresh token takes the place of `token`.
    mutating func replace(_ token: Secret) {
        replacedTokens.append(token)
        if replacedTokens.count > Self.replacedTokensKept { replacedTokens.removeFirst() }
    }

    /// The store has lost what it held: somebody took it away, or put an older copy in its place.
    private mutating func foundBehind() {
        guard !isUnwritten else { return }
        isUnwritten = true
        writeMoment = now
        settle()
    }

    /// From here on, for one term of the lease, others write first what they could not.
    private mutating func settle() {
        guard let leaseTerm else { return }
        settledAt = now + leaseTerm
        missingOwners = [:]
    }

    /// A login that waits in the store is no part of what two sessions are compared for.
    private mutating func keepPending(of stored: StoredSession) {
        guard stored.binding == binding, stored.generation >= session.generation else { return }
        session.pendingCode = stored.pendingCode
        session.pendingRequest = stored.pendingRequest
        session.pendingBinding = stored.pendingBinding
    }

    private mutating func adopt(_ stored: StoredSession) {
        follow(stored)
        let knewOthers = holdsOthersSession
        guard stored.binding == binding else {
            session.generation = max(session.generation, stored.generation)
            holdsOthersSession = stored.refreshToken != nil
            if stored.pendingBinding == binding {
                session.pendingCode = stored.pendingCode
                session.pendingRequest = stored.pendingRequest
            }
            if holdsOthersSession, !knewOthers { report(.othersSessionFound) }
            return
        }
        // What others are answered says nothing of a request of ours that is wrong in itself.
        let isNews = stored.origin != session.origin || stored.refusal != session.refusal
        let isRenewed = stored.lastRefresh != session.lastRefresh
        var stored = stored
        let generation = stored.generation
        for target in order {
            let isMisconfigured = targets[target]?.failure?.failure.kind == .misconfigured
            if isNews || isRenewed && !isMisconfigured {
                targets[target]?.failure = nil
                targets[target]?.doubts = 0
            }
            let moment = moment
            targets[target]?.adopt(&stored, at: moment)
        }
        if stored.pendingBinding ?? binding != binding {
            stored.pendingCode = nil
            stored.pendingRequest = nil
        }
        // A newer beginning of a lower generation: ours must not go back, or a token could not be told from an older one.
        isUnwritten = generation < session.generation
        knownGeneration = max(knownGeneration, generation)
        if stored.origin != session.origin {
            replacedTokens = []
        } else if let token = session.refreshToken, !token.equals(stored.refreshToken) {
            replace(token)
        }
        stored.generation = max(generation, isUnwritten ? session.generation + 1 : 0)
        session = stored
        outranksStored = false
        hasStoredWorked = false
        holdsOthersSession = false
        report(.adopted(generation: session.generation))
    }

    /// The client that the stored session belongs to is the one that asks from now on.
    mutating func follow(_ stored: StoredSession) {
        func following(_ client: ClientConfiguration) -> ClientConfiguration {
            client.registered(stored.registration).registered(stored.grantClient)
        }
        binding = following(configured).binding
        let configured = configured
        for target in order { targets[target]?.client = following(configured.aimed(at: target)) }
    }

    // MARK: Writing

    mutating func save(judging later: JudgedLater? = nil) {
        guard let lease else { return }
        session.generation = max(session.generation, (lease.stored?.generation ?? 0) + 1)
        let ticket = newTicket()
        phase = .saving(ticket, session, judging: later)
        act(.save(ticket, session, over: lease.stored, keepingPrevious: hasStoredWorked))
    }

    private mutating func saved(_ ticket: Ticket, _ result: Result<Void, StoreError>) {
        guard case .saving(ticket, let written, let later) = phase else { return }
        switch result {
        case .success:
            storeWorked(.save)
            lease?.stored = written
            knownGeneration = max(knownGeneration, written.generation)
            hasStoredWorked = false
            if written.generation > session.generation {
                adopt(written)
                commandSaved()
            } else if written.generation == session.generation {
                isUnwritten = false
                outranksStored = false
            }
            if !isUnwritten { finishApplied() }
        case .failure(let error):
            storeFailed(.save, error)
            writeMoment = now + (stopMoment == nil ? Self.pauseAfterTrouble : Self.pauseWhileStopping)
            if error == .leaseLost {
                lease = nil
                writeMoment = now
            }
            if error == .outdated, lease != nil {
                writeMoment = now
                if later == nil { return read() }
            }
            finishAll(error)
        }
        usePending()
        if let later, isCurrent(later.request, later.outcome) {
            return judge(later.outcome, of: later.request)
        }
        workUnderLease()
    }

    /// What was brought is used: it is written, or could not be.
    mutating func usePending() {
        let generation = session.generation
        for target in order {
            if let token = targets[target]?.pending { targets[target]?.use(token) }
            if targets[target]?.isEnding == true { targets[target]?.forget(upTo: generation - 1) }
        }
    }

    // MARK: With the lease in hand

    /// Does what is to be done next, in this order: what a person wants, what must be written, what is due.
    mutating func workUnderLease() {
        guard lease != nil else { return phase = .idle }
        if isUnwritten, writeMoment <= now {
            let isSettled = settledAt.map { $0 <= now } ?? true
            return isSettled || isMarked || session.refreshToken == nil ? save() : reserve()
        }
        if performNext() { return }
        if stopMoment == nil, let target = dueTarget { return renew(target, with: nextGrant(for: target)) }
        // The store holds a refresh token that is spent: nobody may read it before ours is written.
        if holdsWhatStoreLacks { return phase = .holding }
        releaseLease()
        phase = .idle
    }

    // MARK: What people hear of it

    func isAboutUs(_ error: StoreError) -> Bool { error != .outdated && error != .leaseLost }

    mutating func storeFailed(_ operation: StoreOperation, _ error: StoreError) {
        if error.isOutage { isStoreAway = true }
        storeTroubles[operation] = StoreTrouble(
            error: error, since: storeTroubles[operation]?.since ?? moment.wall)
        report(.storeFailed(operation, error))
    }

    mutating func storeWorked(_ operation: StoreOperation) {
        if isStoreAway {
            isStoreAway = false
            settle()
        }
        if operation == .load {
            for target in order where targets[target]?.failure?.failure.isAboutStore == true {
                targets[target]?.failure = nil
            }
        }
        if storeTroubles.removeValue(forKey: operation) != nil { report(.storeRecovered(operation)) }
    }
}
