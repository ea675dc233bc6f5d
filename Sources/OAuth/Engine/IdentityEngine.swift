// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// All that becomes of one identity's tokens: a value that is told events, with the time, and gives back what is to be
/// done, in order.
///
/// There is one session, one refresh token and one ``Phase`` for the identity, and a ``TargetState`` for each thing that
/// its access tokens are asked for. Nothing in here waits, locks, reads a clock or writes. What an answer brings is in
/// ``session`` at once, and stays "unwritten" until the store has it; it is published when that is so, or has failed.
/// By topic: `+Store` (leases, reading, writing), `+Provider` (requests and their answers), `+Silence` (answers that are
/// missing), `+Commands` (people), `+Rejections` (resource servers), `+Waiters` (who waits for a token).
struct IdentityEngine: Sendable {
    /// The client as the configuration has it.
    let configured: ClientConfiguration
    /// How long the store's lease holds without a sign of life from its owner; nil where the kernel keeps the lock.
    let leaseTerm: Duration?

    /// What is being done.
    var phase = Phase.idle
    /// The store's lease, while we have it.
    ///
    /// It may be lost in any phase.
    var lease: HeldLease?

    /// The newest session that we know of.
    var session: StoredSession
    /// Whether the store holds less than ``session``.
    var isUnwritten = false
    /// Whether ``session`` is a login or a logout that is not stored: it counts for more than what is stored, whatever the
    /// generations, unless somebody logged in or out since.
    var outranksStored = false
    /// The last refresh tokens that ours has taken the place of: a stored session with one of them is older.
    var replacedTokens: [Secret] = []
    /// The largest generation that the store was seen to hold.
    var knownGeneration = 0
    /// Whether what the store holds has worked, so that it is worth keeping as the previous one.
    var hasStoredWorked = false
    /// The server and client that our tokens belong to.
    var binding: String
    /// Whether what is stored belongs to another client or server, and waits for a login to replace it.
    var holdsOthersSession = false

    /// What access tokens are asked for, the identity's own first.
    var targets: [TokenTarget: TargetState] = [:]
    /// The keys of ``targets``, in the order in which they are served.
    let order: [TokenTarget]
    var waiters: [Waiter] = []
    /// Commands that are not finished, in the order in which they came.
    var commands: [QueuedCommand] = []

    /// Refresh requests whose answer is missing, the latest last.
    var unanswered: [SentRequest] = []
    /// Requests of a session that has ended: what their answers bring is revoked.
    var orphans: Set<Ticket> = []
    /// Whether the store may hold a mark of ours.
    var isMarked = false
    /// Marks whose owners are gone, after the provider has shown that it answers.
    var forgivenMarks: Set<SpendingMark> = []
    /// Owners of marks, and since when they have given no sign of life while we could see the store.
    var missingOwners: [String: Instant] = [:]
    /// Whether the server replaces refresh tokens; nil while that is not known.
    var rotates: Bool?

    /// No refresh token is spent before: whoever has something newer writes it first.
    var settledAt: Instant?
    /// Whether the store as a whole could not be reached when it was last asked.
    var isStoreAway = false
    /// What the store could not do when it was last asked.
    var storeTroubles: [StoreOperation: StoreTrouble] = [:]
    /// When the store is to be read, because it changed or could not be read.
    var lookMoment: Instant?
    /// Whether the store was ever read; nothing is asked for before.
    var hasLooked = false
    /// When ``session`` is written, if it is unwritten.
    var writeMoment: Instant
    /// When the process ends.
    var stopMoment: Instant?

    /// Of the event in hand.
    var moment: Moment
    private var lastTicket: Ticket = 0
    private var rung: Instant?
    private var actions: [EngineAction] = []

    /// An engine that has not looked at the store yet; the first event makes it do so.
    ///
    /// - Parameters:
    ///   - configured: the client as configured.
    ///   - targets: what routes ask for beside what the identity itself asks for.
    ///   - leaseTerm: of the store; nil where the kernel keeps the lock.
    init(
        _ configured: ClientConfiguration, targets: [TokenTarget] = [], leaseTerm: Duration?,
        at moment: Moment
    ) {
        self.configured = configured
        self.leaseTerm = leaseTerm
        self.moment = moment
        binding = configured.binding
        session = StoredSession(identity: configured.name, generation: 0, binding: configured.binding)
        writeMoment = moment.now
        lookMoment = moment.now
        order = [TokenTarget()] + targets.filter { $0 != TokenTarget() }
        for target in order { self.targets[target] = TargetState(configured.aimed(at: target)) }
    }

    var now: Instant { moment.now }

    // MARK: Events in, actions out

    /// Takes an event in.
    ///
    /// - Returns: what is to be done now, in this order.
    mutating func handle(_ event: EngineEvent, at moment: Moment) -> [EngineAction] {
        self.moment = moment
        actions.removeAll()
        if case .stopped = phase { afterStop(event) } else { take(event) }
        advance()
        takeMarkAway()
        publish()
        wake()
        ring()
        return actions
    }

    mutating func act(_ action: EngineAction) { actions.append(action) }

    mutating func report(_ report: EngineReport) { actions.append(.report(report)) }

    mutating func newTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    private mutating func take(_ event: EngineEvent) {
        switch event {
        case .tokenNeeded, .refreshRequested, .tokenInvalidated, .waiterLeft: takeWish(event)
        case .tokenRejected(let target, let rejection, let waiter, let deadline):
            tokenRejected(target, rejection, by: waiter, until: deadline)
        case .tokenAccepted(let target, let generation, let route, let isReplayed):
            tokenAccepted(target, generation: generation, route: route, isReplayed: isReplayed)
        case .credentialsChanged: credentialsChanged()
        case .timePassed: rung = nil
        case .commanded(let id, let command): commanded(id, command)
        case .performed(let ticket, let result): performed(ticket, result)
        case .stopping(let end): stopping(until: end)
        case .storeChanged, .leased, .leaseRefused, .leaseLost, .recordRead, .spent, .saved:
            takeFromStore(event)
        case .answered, .unanswered, .connectionEnded, .probed, .judged, .encodingLearned:
            takeFromProvider(event)
        }
    }

    /// Only what others must not be kept from is still done.
    private mutating func afterStop(_ event: EngineEvent) {
        if case .leased(let ticket) = event { act(.release(ticket)) }
    }

    // MARK: What is due

    /// Begins whatever is due; called after every event.
    private mutating func advance() {
        if phase.isStopped { return }
        forgetOldRequests()
        let now = now
        for target in order { targets[target]?.demandHealing(at: now) }
        if let stopMoment, stopMoment <= now { return stop() }
        switch phase {
        case .idle, .settling: advanceIdle()
        case .holding: workUnderLease()
        case .silent(let silence): advance(silence)
        case .locking where stopMoment != nil && !hasToWrite: stop()
        case .looking, .locking, .reading, .spending, .asking, .judging, .saving, .performing, .stopped: break
        }
    }

    mutating func advanceIdle() {
        if lease != nil { return workUnderLease() }
        if stopMoment != nil, !hasToWrite { return stop() }
        if !commands.isEmpty || isUnwritten && writeMoment <= now { return beginLocking() }
        guard stopMoment == nil else { return phase = .idle }
        if let lookMoment, lookMoment <= now { return look() }
        if case .settling(let end) = phase, end > now { return }
        phase = .idle
        guard dueTarget != nil else { return }
        if let token = dueRefresh {
            switch clearance(for: token) {
            case .given: break
            case .later(let end): return phase = .settling(until: end)
            case .afterProbe: return doubt(token)
            }
        }
        beginLocking()
    }

    /// The refresh token that the next attempt sends, if it sends one that only a person can replace.
    private var dueRefresh: Secret? {
        guard configured.grantType.needsPerson, let target = dueTarget,
            case .refresh(let token) = nextGrant(for: target)
        else { return nil }
        return token
    }

    /// The first target that is to be asked for now.
    var dueTarget: TokenTarget? { order.first { isDue($0) } }

    func isDue(_ target: TokenTarget) -> Bool { renewalMoment(of: target).map { $0 <= now } ?? false }

    /// When the next attempt for `target` begins by itself; nil if none does.
    func renewalMoment(of target: TokenTarget) -> Instant? {
        guard let state = targets[target], canRenew, state.pending == nil, !state.isEnding, hasLooked else {
            return nil
        }
        if state.isAskedFor { return now }
        guard session.refusal == nil, session.barredRequests[state.request] == nil else { return nil }
        if let failure = state.failure { return failure.retry }
        guard state.demand == nil, let access = state.access else { return now }
        return access.renewal
    }

    /// Whether a token can be asked for without a person.
    var canRenew: Bool {
        !configured.exchangesCallersTokens
            && (!configured.grantType.needsPerson || session.refreshToken != nil)
    }

    /// What to ask for `target` with.
    func nextGrant(for target: TokenTarget) -> Grant {
        guard let state = targets[target], !state.client.asksByItself, let token = session.refreshToken
        else { return .original }
        let wasGrantedForAnother =
            !configured.grantType.needsPerson && session[state.request] == nil
            && !session.accessTokens.isEmpty
        return wasGrantedForAnother ? .original : .refresh(token)
    }

    // MARK: The end

    /// What keeps a stopping engine from the end.
    enum Pending: Equatable, Sendable {
        /// The newest session is in memory alone.
        case unwritten
        /// An answer to a refresh token is awaited.
        case answer
    }

    /// What is still waited for; nil if nothing is.
    var pending: Pending? {
        if hasToWrite { return .unwritten }
        switch phase {
        case .idle, .looking, .settling, .locking, .reading, .holding, .stopped: return nil
        case .silent: return unanswered.contains(where: \.isConnected) ? .answer : nil
        case .spending, .asking, .judging, .performing: return .answer
        case .saving: return .unwritten
        }
    }

    var hasToWrite: Bool { isUnwritten || !commands.isEmpty }

    private mutating func stopping(until end: Instant) {
        stopMoment = end
        for waiter in waiters { act(.refuse(waiter.id, .cancelled)) }
        waiters = []
        writeMoment = min(writeMoment, now)
    }

    mutating func stop() {
        if let lease { act(.release(lease.ticket)) }
        lease = nil
        if isUnwritten { report(.sessionLost) }
        finishAll(.busy(by: nil))
        // Whoever comes after us must not send a refresh token that we do not know the answer to.
        if pending == nil { takeMarkAway() }
        isMarked = false
        phase = .stopped
        act(.stop(isSessionLost: isUnwritten))
    }

    // MARK: After every event

    private mutating func publish() {
        for target in order {
            guard let state = targets[target] else { continue }
            let snapshot = phase.isStopped || state.isWithheld ? nil : state.usable(at: now)
            guard snapshot !== state.published else { continue }
            targets[target]?.published = snapshot
            act(.publish(target, snapshot))
        }
    }

    private mutating func ring() {
        let next = phase.isStopped ? nil : nextMoment
        guard next != rung else { return }
        rung = next
        act(.ring(at: next))
    }

    /// The next moment at which something changes without an event.
    private var nextMoment: Instant? {
        var moments = waiters.flatMap(\.moments)
        for target in order {
            guard let state = targets[target] else { continue }
            if let access = state.access { moments.append(access.snapshot.expiry) }
            if let healing = state.healingMoment { moments.append(healing) }
            if let renewal = renewalMoment(of: target) { moments.append(renewal) }
        }
        if isUnwritten { moments.append(writeMoment) }
        if let lookMoment { moments.append(lookMoment) }
        if let stopMoment { moments.append(stopMoment) }
        if isMarked, let settledAt { moments.append(settledAt) }
        moments += unanswered.filter(\.isConnected).map { $0.sentAt + Self.longestLateness }
        switch phase {
        case .settling(let end): moments.append(end)
        case .silent(let silence):
            switch silence.probe {
            case .due(let moment), .answered(let moment): moments.append(moment)
            case .asked: break
            }
        default: break
        }
        return moments.filter { $0 > now }.min()
    }
}

extension Phase {
    var isStopped: Bool { if case .stopped = self { true } else { false } }
}
