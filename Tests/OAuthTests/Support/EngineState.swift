// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// An ``IdentityEngine`` with one target whose store answers at once, and whose provider and clock are in the test's hand.
struct EngineState {
    enum Answer {
        case use(AccessTokenSnapshot)
        case wait
        case fail(TokenError)
    }

    enum Verdict {
        case pass
        case replay(AccessTokenSnapshot)
        case wait
    }

    var engine: IdentityEngine
    /// What the store holds.
    private(set) var record: StoredSession?
    /// The request that the provider has not answered.
    private(set) var asked: (ticket: Ticket, grant: Grant)?
    /// What is to be stored before the answer counts.
    private(set) var unsaved: (ticket: Ticket, session: StoredSession)?
    private var isTold = true
    private var lastWaiter = 0
    private var answers: [WaiterID: EngineAction.Answer] = [:]
    private var hasAdopted = false

    init(_ configuration: ClientConfiguration, at now: Instant) {
        engine = IdentityEngine(
            configuration, at: Moment(now: now, wall: WallTime(secondsSinceEpoch: 1_700_000_000), jitter: 0))
    }

    var session: StoredSession {
        get { engine.session }
        set { engine.session = newValue }
    }
    var rotates: Bool? {
        get { engine.rotates }
        set { engine.rotates = newValue }
    }
    var isUnsaved: Bool {
        get { engine.isUnwritten }
        set { engine.isUnwritten = newValue }
    }
    var needsSaving: Bool { engine.needsWriting }
    var hasStoredWorked: Bool { engine.hasStoredWorked }
    var binding: String { engine.binding }
    var target: TargetState { engine.targets[0] ?? TargetState(engine.configured) }
    var request: String { target.request }
    var access: AccessToken? { target.access }
    var isWatching: Bool { target.unauthorized != nil }

    // MARK: Events

    /// Has the engine take an event in, and answers what it asks of the store.
    @discardableResult
    mutating func take(_ event: EngineEvent, at now: Instant, jitter: Double = 0) -> [SessionEvent] {
        var moment = engine.moment
        moment.wall = moment.wall + (now - moment.now)
        moment.now = now
        moment.jitter = jitter
        var reports: [SessionEvent] = []
        var events = [event]
        while !events.isEmpty {
            let hadAttempt = target.attempt != nil
            for action in engine.handle(events.removeFirst(), at: moment) {
                switch action {
                case .lock(let ticket, _): events.append(.leased(ticket))
                case .read(let ticket):
                    events.append(.recordRead(ticket, .success(StoreRecord(session: record))))
                case .spend(let ticket, _): events.append(.spent(ticket, .success(false)))
                case .save(let ticket, let session, _, _):
                    if asked == nil, target.attempt != nil, target.pending != nil || isAnswered {
                        unsaved = (ticket, session)
                    } else {
                        record = session
                        events.append(.saved(ticket))
                    }
                case .ask(let ticket, _, let grant, _, _):
                    asked = (ticket, grant)
                    events.append(.requestBegan(ticket))
                case .judge(let ticket, _, let outcome, _): events.append(.judged(ticket, outcome))
                case .wake(let id, let answer): answers[id] = answer
                case .report(let report): reports.append(report)
                case .lookForClaim(let ticket): events.append(.claimed(ticket, false))
                case .release, .claim, .hangUp, .probe, .revoke, .perform, .followClients, .publish, .finish,
                    .ring, .quiet:
                    break
                }
            }
            if !hadAttempt, target.attempt != nil { isTold = false }
        }
        return reports
    }

    private var isAnswered: Bool {
        if case .saving(_, _, .ending) = engine.phase { true } else { false }
    }

    @discardableResult
    mutating func found(_ stored: StoredSession, at now: Instant, wall: WallTime, jitter: Double) -> Bool {
        record = stored
        engine.moment.wall = wall + (engine.moment.now - now)
        let before = engine.session.generation
        let reports = take(.storeChanged(isWritable: false), at: now, jitter: jitter)
        // While an answer is awaited the engine looks under its lease, or later.
        if case .asking = engine.phase {
            engine.moment.now = now
            engine.compare(with: stored)
            return engine.session.generation != before
        }
        return reports.contains { if case .adopted = $0 { true } else { false } }
    }

    /// Whether an attempt has begun that nobody was told of.
    mutating func nextAction(at now: Instant, jitter: Double = 0) -> Grant? {
        engine.isStarted = true
        take(.timePassed, at: now, jitter: jitter)
        engine.isStarted = false
        guard !isTold else { return nil }
        isTold = true
        return asked?.grant
    }

    /// The answer brings a token.
    ///
    /// - Returns: what is to be stored.
    @discardableResult
    mutating func received(
        _ grant: TokenResponse, sentAt: Instant, wall: WallTime, jitter: Double
    ) -> StoredSession {
        var outcome = TokenRequestResult(result: .success(grant), sentAt: sentAt, wall: wall)
        outcome.refreshToken = grant.refreshToken
        answer(outcome, jitter: jitter)
        return unsaved?.session ?? engine.session
    }

    /// The answer brings no token.
    ///
    /// - Returns: what is to be stored, if anything is.
    @discardableResult
    mutating func failed(
        _ failure: TokenFailure, refreshToken: Secret?, at now: Instant, wall: WallTime, jitter: Double
    ) -> StoredSession? {
        var outcome = TokenRequestResult(result: .failure(failure), sentAt: now, wall: wall)
        outcome.refreshToken = refreshToken
        answer(outcome, jitter: jitter)
        return unsaved?.session
    }

    private mutating func answer(_ outcome: TokenRequestResult, jitter: Double) {
        guard let asked else { return }
        self.asked = nil
        take(
            .answered(asked.ticket, TokenRequestReport(outcome: outcome)), at: engine.moment.now,
            jitter: jitter)
    }

    /// What the answer brought is stored, or cannot be.
    mutating func attemptEnded(at now: Instant, isSaved: Bool) {
        guard let unsaved else { return }
        self.unsaved = nil
        if isSaved { record = unsaved.session }
        take(
            isSaved
                ? .saved(unsaved.ticket)
                : .notSaved(unsaved.ticket, .unavailable("no space"), hasMoved: false), at: now)
    }

    mutating func tokenNeeded(at now: Instant) -> Bool {
        let isFirst = target.isWithheld && access != nil
        lastWaiter += 1
        take(.tokenNeeded(0, by: lastWaiter, until: now, isRenewed: false), at: now)
        return isFirst
    }

    mutating func refreshRequested(at now: Instant) throws(TokenError) {
        lastWaiter += 1
        let waiter = lastWaiter
        guard engine.canRenew else { throw .loginRequired }
        take(.refreshRequested(0, TokenAdditions(), by: waiter, until: now), at: now)
    }

    mutating func tokenInvalidated(at now: Instant) {
        lastWaiter += 1
        take(.tokenInvalidated(0, by: lastWaiter, until: now), at: now)
    }

    mutating func tokenAccepted(
        generation: Int, route: String, isReplayed: Bool = false
    ) {
        take(
            .tokenAccepted(0, generation: generation, route: route, isReplayed: isReplayed),
            at: engine.moment.now)
    }

    mutating func tokenRejected(_ rejection: TokenRejection, at now: Instant) -> Verdict {
        lastWaiter += 1
        let waiter = lastWaiter
        take(.tokenRejected(0, rejection, by: waiter, until: now + .seconds(10)), at: now)
        defer { engine.waiters.removeAll { $0.id == waiter } }
        switch answers.removeValue(forKey: waiter) {
        case .token(let snapshot)?: return .replay(snapshot)
        case .letThrough?, .failure?: return .pass
        case nil: return .wait
        }
    }

    func isNews(_ rejection: TokenRejection) -> Bool { target.isNews(rejection) }

    mutating func credentialsChanged(at now: Instant) { take(.credentialsChanged, at: now) }

    mutating func leave() { take(.targetLeaves(0), at: engine.moment.now) }

    // MARK: What is known

    private func engine(at now: Instant) -> IdentityEngine {
        var engine = engine
        engine.moment.now = now
        return engine
    }

    func answer(at now: Instant, until deadline: Instant) -> Answer {
        let engine = engine(at: now)
        switch engine.token(target, until: deadline) {
        case .token(let snapshot)?: return .use(snapshot)
        case .failure(let error)?: return .fail(error)
        case .letThrough?, nil: return .wait
        }
    }

    func verdict(on rejection: TokenRejection, at now: Instant) -> Verdict {
        if let token = target.usable(at: now), token.generation > rejection.generation {
            return .replay(token)
        }
        return target.isBeingRenewed ? .wait : .pass
    }

    func published(at now: Instant) -> AccessTokenSnapshot? {
        target.isWithheld ? nil : target.usable(at: now)
    }

    func state(at now: Instant) -> SessionState { engine(at: now).state(of: 0) }

    func status(at now: Instant) -> SessionStatus { engine.status(of: 0, at: now) }

    /// The next moment at which something changes without an event.
    func nextMoment(after now: Instant) -> Instant? {
        var engine = engine(at: now)
        engine.isStarted = true
        return engine.nextMoment
    }
}
