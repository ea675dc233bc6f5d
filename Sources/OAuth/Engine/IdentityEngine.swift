// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSONText

/// All that becomes of one identity's tokens: a value that is told events, with the time, and gives back what is to be
/// done, in order.
///
/// There is one session, one refresh token and one ``Phase`` for the identity, and a ``TargetState`` for each thing that its
/// access tokens are asked for. Nothing in here waits, locks, reads a clock or writes. What an answer brings is in ``session``
/// at once, and stays "unwritten" until the store has it; it is published when that is so, or has failed. By topic:
/// `+Attempts` (what is due), `+Lease` (locking, reading, writing), `+Adoption` (which session is newer), `+Asking` and
/// `+Answers` (the authorization server), `+Commands` (people), `+Superseding` (what they do later counts), `+Rejections`
/// (resource servers), `+Waiters` (who waits for a token), `+Adrift` (requests that were left), `+Inheritance` (sessions of
/// another identity of the name), `+Events` (which event goes where), `+Status` (what people see).
struct IdentityEngine: Sendable {
    /// The client as the configuration has it.
    let configured: ClientConfiguration

    var phase = Phase.idle
    /// The store's lease, while we have it.
    var lease: HeldLease?

    /// The newest session that we know of.
    var session: StoredSession
    /// The session before a login, until that is stored or could not be: nobody gets a token of the new one earlier.
    var sessionBefore: StoredSession?
    /// True if ``session`` has changed since it was last stored or loaded.
    var isUnwritten = false
    /// True if the store holds less than ``session``: somebody took it away, or put an older copy in its place.
    var isStoreBehind = false
    /// True if ``session`` is a login or a logout that is not stored: it counts for more than what is stored, whatever the
    /// generations, unless somebody logged in or out since.
    var outranksStored = false
    /// The last refresh tokens that ours has taken the place of: a stored session with one of them is older.
    var replacedTokens: [Secret] = []
    /// The largest generation that the store was seen to hold.
    var knownGeneration = 0
    /// The largest generation that was read from the store or written to it, and not only handed over by another identity.
    var seenGeneration = 0
    /// The refresh token that the store was last seen to hold.
    var knownToken: Secret?
    /// True if the store was last seen to hold tokens.
    var hasStoredTokens = false
    /// The refresh token that we were given and the store was never seen to hold, so that nobody else can have sent it.
    var ownToken: Secret?
    /// True if what the store holds has worked, so that it is worth keeping as the previous one.
    var hasStoredWorked = false
    /// The server and client that our tokens belong to.
    var binding: String
    /// The stored session, if it is another client's, and kept until a person replaces it.
    var othersSession: OthersSession?

    /// The targets that access tokens are asked for.
    var targets: [TargetID: TargetState] = [:]
    /// The keys of ``targets``, in the order in which they came; the first stands for the identity as a whole.
    var order: [TargetID] = []
    /// Targets with an attempt, in the order in which they are served.
    var queue: [TargetID] = []
    var waiters: [Waiter] = []
    /// Commands that are not finished, in the order in which they came.
    var commands: [QueuedCommand] = []

    /// A request that made room for a person in another process, and may be taken up again.
    var adrift: Asking?
    /// The digest of the refresh token for which `refreshTokenMayBeSpent` was reported, or needs no report.
    var toldDoubt: String?
    /// Requests of a session that has ended, with the clients that sent them: what their answers bring is revoked.
    var orphans: [Ticket: Asking.Client] = [:]
    /// The authorization server's failures since it last answered what was asked for; nil if there were none.
    var providerTrouble: ProviderTrouble?
    /// True if the server has replaced a refresh token, false if several answers have brought no other one; nil while that is not
    /// known.
    var rotates: Bool?
    /// How many answers in a row have brought no other refresh token.
    var answersWithoutToken = 0

    /// No refresh token is spent before: whoever has something newer writes it first.
    var settledAt: Instant?
    /// The end of the time in which others write first, because the store was found to hold less than it did; nil without one.
    ///
    /// Until then no refresh token is sent: another process may have the newer session.
    var returnEnd: Instant?
    /// True if the store held less when it was last read.
    var hasReturned = false
    /// No attempt takes the lease before: a person comes first.
    var pauseEnd: Instant?
    /// When the store was last asked for something.
    var storeAskedAt: Instant
    /// The operations that the store could not do when it was last asked.
    var storeTroubles: [StoreOperation: StoreTrouble] = [:]
    /// When the store is to be read, because it changed or could not be read.
    var nextRead: Instant?
    /// The look at the store that goes on without a lease.
    var readTicket: Ticket?
    /// When the store was last read.
    var storeReadAt: Instant
    /// True while a look at a store that could not be read is under way or about to be.
    var isBeingRead = false
    /// When ``session`` is written, if it needs to be.
    var writeMoment: Instant
    /// When we last found that somebody else had our lease, and claimed it; nil if that never was.
    var lossMoment: Instant?

    /// True once tokens are kept fresh whether or not somebody waits for them.
    var isStarted = false
    /// True once nothing begins any more.
    var isStopping = false
    /// When somebody last logged out, here or elsewhere; a login whose code was sent before that does not count.
    var loggedOutAt: Instant?
    private var isQuietTold = false
    /// The part of the authorization server that has not answered, for people.
    var unansweredEndpoint = "the authorization server"

    /// The time of the event that is being handled.
    var moment: Moment
    private var lastTicket: Ticket = 0
    var rung: Instant?
    private var actions: [EngineAction] = []

    /// An engine that knows nothing, and has one target.
    ///
    /// - Parameters:
    ///   - configured: the client as configured.
    ///   - target: the number of what it asks for itself.
    init(_ configured: ClientConfiguration, target: TargetID = 0, at moment: Moment) {
        self.configured = configured
        self.moment = moment
        binding = configured.binding
        session = StoredSession(identity: configured.name, generation: 0, binding: configured.binding)
        writeMoment = moment.now
        storeReadAt = moment.now
        storeAskedAt = moment.now
        targets[target] = TargetState(configured)
        order = [target]
    }

    var now: Instant { moment.now }

    // MARK: Events in, actions out

    /// Takes an event in.
    ///
    /// - Returns: what is to be done now, in this order.
    mutating func handle(_ event: EngineEvent, at moment: Moment) -> [EngineAction] {
        self.moment = moment
        // What is kept here would take the memory of the largest action for as long as the identity lives.
        defer { actions = [] }
        // Thousands may come while one request is in flight: they only queue up.
        if queuesUp(event) { return actions }
        if phase.isStopped { takeAfterStop(event) } else { take(event) }
        advance()
        if !targets.values.contains(where: { $0.pending != nil || $0.isEnding }) { sessionBefore = nil }
        publish()
        wake()
        for _ in order where endNeedlessRequest() { advance() }
        ring()
        tellOfQuiet()
        return actions
    }

    /// Sets the last failure of exchanges of callers' tokens.
    mutating func setFailure(_ failure: LastFailure?, of id: TargetID) { targets[id]?.failure = failure }

    mutating func act(_ action: EngineAction) {
        switch action {
        case .lock, .read, .spend, .save: storeAskedAt = now
        case .release, .claim, .lookForClaim, .ask, .hangUp, .probe, .judge, .revoke, .perform,
            .followClients,
            .publish, .wake, .finish, .report, .ring, .quiet:
            break
        }
        actions.append(action)
    }

    mutating func report(_ event: SessionEvent) { actions.append(.report(event)) }

    mutating func newTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    // MARK: Its life

    mutating func join(_ id: TargetID, _ client: ClientConfiguration) {
        var state = TargetState(client)
        state.client = following(client)
        var stored = session
        if session.binding.hasSameBytes(as: binding) { state.adopt(&stored, at: moment) }
        targets[id] = state
        order.append(id)
    }

    mutating func forget(_ id: TargetID) {
        // Nothing is sent for it any more.
        if case .asking(var asking) = phase, asking.target == id, asking.meanwhile == nil {
            takeBack(&asking)
            phase = .asking(asking)
            if asking.requests.isEmpty { endAsking(asking, with: nil) }
        }
        for waiter in waiters where waiter.target == id { act(.wake(waiter.id, cancellation(of: waiter))) }
        waiters.removeAll { $0.target == id }
        queue.removeAll { $0 == id }
        order.removeAll { $0 == id }
        targets[id] = nil
    }

    private func cancellation(of waiter: Waiter) -> EngineAction.Answer {
        if case .verdict = waiter.wish { .letThrough } else { .failure(.stopped) }
    }

    /// True if another configuration's identity has taken its place, or it ends.
    var isLeaving: Bool { isStopping || areTargetsLeaving }

    private var areTargetsLeaving: Bool { targets.values.allSatisfy(\.isLeaving) }

    /// Only what is on its way to the authorization server, and commands, go on.
    mutating func stopping() {
        isStopping = true
        isQuietTold = false
        let current = targetInHand
        for id in queue where id != current { targets[id]?.attempt = nil }
        queue.removeAll { $0 != current }
        if case .locking = phase, commands.isEmpty, !needsWriting { phase = .idle }
    }

    mutating func hurry() {
        guard case .locking = phase else { return }
        giveUp(.busy(by: nil))
    }

    mutating func stop() {
        abandonAdrift()
        if case .asking(var asking) = phase {
            takeBack(&asking)
            for ticket in asking.requests { act(.hangUp(ticket)) }
            if asking.refreshToken != nil, !asking.requests.isEmpty { lease?.leavesMark = true }
        }
        releaseLease()
        phase = .stopped
        failCommands(.busy(by: nil))
        for waiter in waiters { act(.wake(waiter.id, cancellation(of: waiter))) }
        waiters = []
    }

    private mutating func tellOfQuiet() {
        let wasQuiet = isQuietTold
        isQuietTold = isQuiet
        if isQuietTold, !wasQuiet { act(.quiet) }
    }

    /// True if nothing would be lost were the sessions let go of now: no request is under way, no lease is held, and nothing
    /// is in memory alone.
    var isAtRest: Bool {
        if phase.isStopped { return true }
        guard commands.isEmpty, queue.isEmpty, orphans.isEmpty, !needsWriting, lease == nil else {
            return false
        }
        switch phase {
        case .idle, .settling, .locking, .stopped: return true
        case .reading, .spending, .asking, .judging, .saving, .performing, .holding: return false
        }
    }

    /// True if nothing is under way any more, and nothing begins.
    var isQuiet: Bool {
        if phase.isStopped { return true }
        guard isStopping, commands.isEmpty, queue.isEmpty, orphans.isEmpty, !isAdriftAwaited else {
            return false
        }
        switch phase {
        case .idle, .settling, .holding, .stopped: return true
        case .locking, .reading, .spending, .asking, .judging, .saving, .performing: return false
        }
    }

    /// The target whose attempt is under way with the authorization server or the store.
    var targetInHand: TargetID? {
        switch phase {
        case .spending(_, let id, _): id
        case .asking(let asking), .judging(_, let asking, _): asking.target
        case .saving(_, _, .judging(let asking, _)): asking.target
        case .saving(_, _, .ending(let id, _)): id
        case .idle, .settling, .locking, .reading, .saving, .holding, .performing, .stopped: nil
        }
    }

    // MARK: After every event

    /// Begins whatever is due.
    private mutating func advance() {
        if phase.isStopped { return }
        let now = now
        for id in order { targets[id]?.demandHealing(at: now) }
        keepTokenAdrift()
        beginAttempts()
        switch phase {
        case .idle, .settling: advanceIdle()
        case .holding: workUnderLease()
        case .asking: advanceAsking()
        case .locking, .reading, .spending, .judging, .saving, .performing, .stopped: break
        }
        if let nextRead, nextRead <= now { look() }
    }

    /// Gives the lease back before the answer to a request comes whose target is to end, once nobody waits for it: the
    /// identity of another configuration may want the lease.
    ///
    /// A request that can replace nothing is hung up, the more so one to a source, whose program would run on. Another one
    /// goes on once the authorization server is silent: its mark tells whoever has the lease next, as it does another process.
    /// One of which nothing is on its way, because it is being prepared, its connection has died, or the refresh token may be
    /// spent, ends as well.
    ///
    /// - Returns: false if there is no such request.
    private mutating func endNeedlessRequest() -> Bool {
        guard case .asking(let asking) = phase else { return false }
        if asking.refreshToken == nil {
            let isTargetLeaving = targets[asking.target]?.isLeaving ?? true
            let isAwaited = waiters.contains { $0.target == asking.target }
            // What the configuration brings again by itself is no loss, and who waits for it at the end hears that at once.
            let endsAtOnce = isStopping && (configured.source != nil || !configured.grantType.needsPerson)
            guard endsAtOnce || isTargetLeaving && !isAwaited else { return false }
            letGo()
            abandonAdrift()
            endDemand(for: asking.target)
        } else {
            guard asking.rule?.mayGiveWay(at: now) ?? false, asking.meanwhile == nil, !asking.lacksMark,
                waiters.isEmpty, areTargetsLeaving
            else { return false }
            letGo()
            for id in order { endDemand(for: id) }
        }
        return true
    }

    private mutating func endDemand(for id: TargetID) {
        targets[id]?.isAwaited = false
        targets[id]?.demand = nil
        endAttempt(of: id, nil)
    }

    private mutating func publish() {
        for id in order {
            guard let state = targets[id] else { continue }
            let snapshot = phase.isStopped || state.isWithheld ? nil : state.usable(at: now)
            guard snapshot !== state.published else { continue }
            targets[id]?.published = snapshot
            act(.publish(id, snapshot))
        }
    }

    private mutating func ring() {
        let next = phase.isStopped ? nil : nextMoment
        guard next != rung else { return }
        rung = next
        act(.ring(at: next))
    }

    /// Has the alarm ring at `moment` at the latest.
    mutating func ring(by moment: Instant) {
        if let rung, rung <= moment { return }
        rung = moment
        act(.ring(at: moment))
    }

    /// The next moment at which something changes without an event.
    var nextMoment: Instant? {
        var moments = waiters.map { $0.moment(after: now) }
        for id in order {
            guard let state = targets[id] else { continue }
            if let access = state.access { moments.append(access.snapshot.expiry) }
            if let healing = state.healingMoment { moments.append(healing) }
            if mayBegin(id), let renewal = renewalMoment(of: id) { moments.append(renewal) }
        }
        switch phase {
        case .idle, .holding:
            if needsWriting, !isStopping { moments.append(writeMoment) }
        case .settling(let end): moments += needsWriting ? [end, writeMoment] : [end]
        case .asking(let asking):
            if let next = nextMoment(of: asking) { moments.append(next) }
        case .locking, .reading, .spending, .judging, .saving, .performing, .stopped: break
        }
        if let nextRead, mayReadUnlocked { moments.append(nextRead) }
        return moments.filter { $0 > now }.min()
    }
}
