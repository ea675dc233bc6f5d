// SPDX-License-Identifier: Apache-2.0

import BearerdExecutorConfinement
import BearerdHTTPMessages
import Synchronization

/// The one owner of what this process knows of an identity: carries out what its ``IdentityEngine`` wants, and tells it
/// what came of that.
///
/// Its targets are ``AuthSession``s on the same executor, which make the requests to the authorization server.
actor Identity: ExecutorConfined {
    nonisolated let executor: any SerialExecutor
    nonisolated let name: String
    nonisolated let family: SessionFamily
    nonisolated let listeners = SessionListeners<SessionEvent>()
    private nonisolated let lastTarget = Atomic<Int>(0)

    let clock: any SessionClock
    let store: any SessionStore
    private let observer: any SessionObserver
    private let random: @Sendable () -> Double

    var engine: IdentityEngine
    /// The targets that take part.
    var members: [TargetID: Member] = [:]
    /// The leases that the engine knows by ticket.
    var leases: [Ticket: any StoreLease] = [:]
    /// The claim by which whoever has the lease learns that we want it.
    var claim: (any Sendable)?
    /// Requests to the authorization server on their way.
    var requests: [Ticket: Task<Void, Never>] = [:]
    var locking: Task<Void, Never>?
    var releasing: Task<Void, Never>?
    /// Requests that nobody waits for but the end of the process, logins among them.
    var leftovers: Task<Void, Never>?

    /// The sessions while something is under way: who has let go of one has its answers judged and stored all the same, by
    /// the threads that live as long as it.
    private var kept: [TargetID: AuthSession] = [:]
    private var waiters: [WaiterID: OneTimeWaiter<AccessTokenSnapshot?>] = [:]
    private var lastID = 0
    private var commands: [CommandID: CheckedContinuation<CommandResult, Never>] = [:]
    private var readWaiters: [Ticket: [OneTimeWaiter<StoreError?>]] = [:]
    /// The ends of what the store is asked for.
    var storeLimits: [Ticket: Task<Void, Never>] = [:]
    var quietWaiters: [OneTimeWaiter<Void>] = []
    var listener: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var alarmMoment: Instant?
    /// When the family is to be asked again whether it has a change to tell.
    private var reportMoment: Instant?
    private var reportAlarm: Task<Void, Never>?

    /// A session that takes part, and what it was last known for.
    struct Member {
        weak var session: AuthSession?
        let slot: TokenSlot
        var reported = SessionState.empty
    }

    init(
        _ configuration: ClientConfiguration, executor: any SerialExecutor, clock: any SessionClock,
        store: any SessionStore, observer: any SessionObserver, family: SessionFamily,
        random: @escaping @Sendable () -> Double
    ) {
        self.executor = executor
        name = configuration.name
        self.family = family
        self.clock = clock
        self.store = store
        self.observer = observer
        self.random = random
        engine = IdentityEngine(
            configuration, at: Moment(now: clock.now, wall: clock.wallNow, jitter: random()))
        family.join(self)
    }

    deinit {
        listener?.cancel()
        alarm?.cancel()
        reportAlarm?.cancel()
    }

    /// A number for one more target.
    nonisolated func newTarget() -> TargetID { lastTarget.add(1, ordering: .relaxed).newValue }

    /// Has `session` take part.
    func admit(_ session: AuthSession, _ target: TargetID, _ client: ClientConfiguration) {
        guard members[target] == nil else { return }
        members[target] = Member(session: session, slot: session.slot)
        family.join(session.slot)
        if target != 0 { take(.targetJoined(target, client)) }
        follow(target)
        shareEncoding()
    }

    /// Makes a target's requests use the client that the session belongs to.
    private func follow(_ target: TargetID) {
        let (client, registration) = (engine.client(of: target), engine.registration)
        let (secret, isFirst) = (engine.presentedSecret, target == engine.order.first)
        members[target]?.session?.assumeIsolated { session in
            session.follow(client, registration, secret: secret, isFirst: isFirst)
        }
    }

    // MARK: Events

    /// Has the engine take an event in, and does what follows.
    func take(_ event: EngineEvent) {
        if case .asking(let asking) = engine.phase,
            let place = members[asking.target]?.session?.awaitedEndpoint
        {
            engine.unansweredEndpoint = place
        }
        let moment = Moment(now: clock.now, wall: clock.wallNow, jitter: random())
        let actions = engine.handle(event, at: moment)
        blameServer()
        for action in actions { carryOut(action) }
        // Whoever has the lease would take our own claim for another's.
        if case .locking = engine.phase {} else { claim = nil }
        kept = engine.isAtRest ? [:] : members.compactMapValues(\.session)
        reportStates()
    }

    /// Publishes which server fails or is awaited, before those who wait hear that there is no token.
    private func blameServer() {
        // Exchanges of callers' tokens fail one by one.
        guard !engine.configured.exchangesCallersTokens else { return }
        for (target, member) in members {
            var server = engine.targets[target]?.failure?.cause.server
            if server == nil, case .asking(let asking) = engine.phase, asking.target == target {
                server = member.session?.awaitedEndpoint.flatMap { HTTPURL($0)?.hostAndPort }
            }
            member.slot.blame(server)
        }
    }

    /// A waiter for the answer to an event about a token.
    func wait(_ event: (WaiterID) -> EngineEvent) -> OneTimeWaiter<AccessTokenSnapshot?> {
        let waiter = OneTimeWaiter<AccessTokenSnapshot?>()
        lastID += 1
        waiters[lastID] = waiter
        take(event(lastID))
        return waiter
    }

    /// Has a command carried out.
    func perform(_ command: EngineCommand) async -> CommandResult {
        if command.isPersons {
            for namesake in family.namesakes(of: self) { Task { await namesake.take(.roomWanted) } }
        }
        lastID += 1
        let id = lastID
        return await withCheckedContinuation { continuation in
            commands[id] = continuation
            take(.commanded(id, command))
        }
    }

    /// Reads the store, unless it is being read or written anyway, and takes over what is newer.
    ///
    /// - Returns: why nobody knows what is stored; nil at the `deadline`, and to a cancelled caller.
    @discardableResult
    func look(until deadline: Instant? = nil) async -> StoreError? {
        take(.storeChanged(isWritable: false))
        guard let ticket = engine.readTicket else { return nil }
        let waiter = OneTimeWaiter<StoreError?>()
        readWaiters[ticket, default: []].append(waiter)
        return await outcome(of: waiter, until: deadline ?? clock.now + Self.storeLimit) ?? nil
    }

    /// The error for which the store takes no session before a person has acted; nil if it takes one.
    func refusal() async -> StoreError? {
        let refusal = await outcome { [store, name] () -> StoreError? in
            do throws(StoreError) {
                _ = try await store.load(name)
                return nil
            } catch {
                return error.isRefused ? error : nil
            }
        }
        return refusal ?? nil
    }

    /// True if the store holds tokens, or does not tell.
    func isSessionStored() async -> Bool {
        await outcome { [store, name] in (try? await store.load(name)?.holdsTokens ?? false) ?? true } ?? true
    }

    /// Waits for something that a store does, until it has had its time (``storeLimit``); nothing is heard of it then.
    ///
    /// - Returns: nil where it is not done in time, or the caller is cancelled.
    func outcome<Value: Sendable>(of work: @escaping @Sendable () async -> Value) async -> Value? {
        let (waiter, end) = (OneTimeWaiter<Value>(), clock.now + Self.storeLimit)
        Task { waiter.wake(with: .success(await work())) }
        return await outcome(of: waiter, until: end)
    }

    /// - Returns: nil where it is not woken before `end`, or the caller is cancelled.
    func outcome<Value: Sendable>(of waiter: OneTimeWaiter<Value>, until end: Instant) async -> Value? {
        let alarm = Task(executorPreference: executor as? any TaskExecutor) { [clock] in
            guard (try? await clock.sleep(until: end)) != nil else { return }
            waiter.wake(with: .failure(.cancelled))
        }
        defer { alarm.cancel() }
        return try? await waiter.value()
    }

    // MARK: Actions

    private func carryOut(_ action: EngineAction) {
        switch action {
        case .lock(let ticket, let isClaiming): lock(ticket, isClaiming: isClaiming)
        case .claim: Task { await claimLease() }
        case .release(let ticket, let isLeft): release(ticket, leavingMark: isLeft)
        case .read(let ticket): read(ticket)
        case .spend(let ticket, let session): spend(session, ticket)
        case .save(let ticket, let session, let read, let keepsPrevious):
            save(session, over: read, keepingPrevious: keepsPrevious, ticket)
        case .lookForClaim(let ticket): lookForClaim(ticket)
        case .ask(let ticket, let target, let grant, let additions, let waitsLong):
            ask(ticket, target, grant, additions, waitsLong: waitsLong)
        case .hangUp(let ticket): requests.removeValue(forKey: ticket)?.cancel()
        case .probe(let ticket, let target): probe(ticket, target)
        case .judge(let ticket, let target, let outcome, let refreshed):
            let session = members[target]?.session
            Task {
                take(.judged(ticket, await session?.judge(outcome, of: refreshed) ?? Self.unjudged(outcome)))
            }
        case .revoke(let token, let hint, let client):
            let session = firstSession
            leave(behind: Task { await session?.revoke(leftover: token, hint, of: client) })
        case .perform(let ticket, let command, let stored): perform(ticket, command, for: stored)
        case .followClients:
            for target in engine.order { follow(target) }
        case .publish(let target, let snapshot): members[target]?.slot.publish(snapshot)
        case .wake(let id, let answer):
            let waiter = waiters.removeValue(forKey: id)
            switch answer {
            case .token(let snapshot): waiter?.wake(with: .success(snapshot))
            case .failure(let error): waiter?.wake(with: .failure(error))
            case .letThrough: waiter?.wake(with: .success(nil))
            }
        case .finish(let id, let result): commands.removeValue(forKey: id)?.resume(returning: result)
        case .report(let event): report(event)
        case .ring(let moment): ring(at: moment)
        case .quiet:
            for waiter in quietWaiters { waiter.wake(with: .success(())) }
            quietWaiters = []
        }
    }

    /// Tells the engine what was read, and those who asked for it.
    func tell(_ result: Result<StoreRecord, StoreError>, of ticket: Ticket) {
        storeLimits.removeValue(forKey: ticket)?.cancel()
        take(.recordRead(ticket, result))
        var failure: StoreError?
        if case .failure(let error) = result { failure = error }
        for waiter in readWaiters.removeValue(forKey: ticket) ?? [] { waiter.wake(with: .success(failure)) }
    }

    func report(_ event: SessionEvent) {
        if case .adopted = event { shareEncoding() }
        observer.session(name, reports: event)
        listeners.tell(event)
    }

    /// Has every target's requests use what was learnt of the server.
    func shareEncoding() {
        let encoding = engine.session.basicEncoding
        for member in members.values {
            member.session?.assumeIsolated { $0.server.learnedEncoding = encoding }
        }
    }

    // MARK: The state of the identity

    /// Tells of a state that has changed; what is being stored is not told before it is.
    private func reportStates() {
        for (target, member) in members { member.slot.watch(engine.targets[target]?.unauthorized != nil) }
        if case .saving = engine.phase { return }
        // What is stored is not known yet.
        if engine.readTicket != nil, !engine.isStarted { return }
        let now = clock.now
        let isDue = reportMoment.map { $0 <= now } ?? false
        for target in engine.order {
            guard let member = members[target] else { continue }
            let present = engine.state(of: target)
            guard present != member.reported || isDue else { continue }
            if present != member.reported { member.session?.stateListeners.tell(present) }
            members[target]?.reported = present
            let (change, due) = family.look(member.slot, in: present, at: now)
            reportMoment = due
            if let change { report(.stateChanged(from: change.from, to: change.to)) }
        }
        guard let reportMoment, reportMoment > now else { return }
        reportAlarm?.cancel()
        reportAlarm = Task(executorPreference: executor as? any TaskExecutor) { [weak self, clock] in
            guard (try? await clock.sleep(until: reportMoment)) != nil else { return }
            await self?.take(.timePassed)
        }
    }

    /// Takes in a failure, or a success, of exchanges of callers' tokens.
    func noteExchange(for target: TargetID, _ change: @Sendable (LastFailure?) -> LastFailure?) {
        engine.setFailure(change(engine.targets[target]?.failure), of: target)
        take(.timePassed)
    }

    // MARK: Time

    private func ring(at moment: Instant?) {
        alarm?.cancel()
        alarm = nil
        alarmMoment = moment
        guard let moment else { return }
        // What is in memory alone has to be written, and a lease given back, whoever still wants the session.
        let keeper = engine.needsWriting || engine.lease != nil ? self : nil
        alarm = Task(executorPreference: executor as? any TaskExecutor) { [weak self, clock] in
            defer { withExtendedLifetime(keeper) {} }
            guard (try? await clock.sleep(until: moment)) != nil else { return }
            await self?.alarmRang(for: moment)
        }
    }

    private func alarmRang(for moment: Instant) {
        guard alarmMoment == moment else { return }
        alarmMoment = nil
        take(.timePassed)
    }
}
