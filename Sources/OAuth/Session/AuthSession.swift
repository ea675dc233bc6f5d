// SPDX-License-Identifier: Apache-2.0

public import BearerdExecutorConfinement

/// Drives what is known of one identity's tokens: asks the authorization server, stores, wakes those who wait.
///
/// Every method runs on the executor given at the start. Threads that serve requests read `slot` and come here
/// only when it is empty or a resource server refused the token.
public actor AuthSession: ExecutorConfined {
    /// How long one request may wait for the renewal that an earlier one was to have, before it goes on without.
    private static let longestWithholding: Duration = .seconds(2)

    /// The executor that every method of the session runs on.
    public nonisolated let executor: any SerialExecutor
    /// The identity's name in the configuration.
    public nonisolated let identity: String
    /// Where the access token is left for the threads that serve requests.
    package nonisolated let slot = TokenSlot()

    let clock: any SessionClock
    let store: any SessionStore
    let server: AuthorizationServer
    let random: @Sendable () -> Double
    /// Signs what requests to resource servers prove.
    package nonisolated let proofs: DPoPSigner
    /// Whether tokens may be bound to a key, so that requests have no proofs but ours.
    package nonisolated let mayProve: Bool
    /// What callers' own tokens were exchanged for; nil for an identity with tokens of its own.
    package nonisolated let callers: CallerTokens?
    let exchanges = CallerExchanges()
    /// All who have our refresh token.
    nonisolated let family: SessionFamily
    private let observer: any SessionObserver
    nonisolated let listeners = SessionListeners<SessionEvent>()
    nonisolated let stateListeners = SessionListeners<IdentityState>()

    var state: AuthState
    /// How requests to the server's own protected endpoints carry the access token.
    var requestAuthorization = RequestAuthorization()
    private var tokenWaiters: [TokenWaiter<AccessTokenSnapshot>] = []
    /// Those who wait for the end of the attempt in flight, whatever it brings.
    private(set) var attemptWaiters: [TokenWaiter<Void>] = []
    private var attemptTask: Task<Void, Never>?
    /// Where the answer goes that the attempt in flight waits for; finishing it supersedes the attempt.
    var awaitedAnswer: AsyncStream<TokenRequestResult>.Continuation?
    /// A refresh token that was sent, until it is known what became of it or nobody cares.
    var sentRefresh: SentRefresh?
    /// The generation whose refresh token was sent without an answer.
    var unansweredGeneration: Int?
    /// Requests of superseded attempts, and of logins, that are not answered yet.
    var leftover: Task<Void, Never>?
    /// How often an attempt may have been superseded, and how often by the end of the session at the provider too.
    var supersessions = (all: 0, ending: 0)
    private var listener: Task<Void, Never>?
    private var saving: Task<Void, Never>?
    /// What the next attempt, or the one in flight, says beside what all say.
    var requestedAdditions: RequestedAdditions?
    private var alarm: Task<Void, Never>?
    private var alarmMoment: Instant?
    /// When to try again to write what could not be written.
    var saveRetry: Instant?
    var isSaving = false
    /// When to look again at a store that could not be read.
    var lookMoment: Instant?
    /// When the store was last read.
    var lastLook: Instant
    private var looking: Task<Void, Never>?
    /// Whether the attempt in flight waits for its turn or for the store's lock.
    var isWaiting = false
    /// Another process changed the store while a request of ours was in flight.
    var isStoreChanged = false
    private(set) var isStopped = false

    private var published: AccessTokenSnapshot?
    /// The state that the family knows of.
    private var reported: IdentityState = .empty
    /// Who logged in, by the generation of the session in which that was read.
    var knownPerson: (generation: Int, name: String?)?
    /// When the family is to be asked again whether it has a change to tell.
    private var reportMoment: Instant?

    /// A session that does nothing by itself before ``start()``: it looks at the store each time that it is asked for something.
    ///
    /// It runs on `executor` and keeps it alive, and so do the others of its `family`; what requests to resource servers
    /// prove is signed on `signer`, nil for the same; `random` is uniform in 0..<1.
    public init(
        configuration: ClientConfiguration, executor: any SerialExecutor, clock: any SessionClock,
        transport: any TokenTransport, store: any SessionStore, credentials: any CredentialSource,
        observer: any SessionObserver, family: SessionFamily = SessionFamily(),
        signingOn signer: (any SerialExecutor)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.executor = executor
        identity = configuration.name
        self.clock = clock
        lastLook = clock.now
        self.store = store
        self.observer = observer
        self.random = random
        self.family = family
        proofs = DPoPSigner(executor: signer ?? executor, clock: clock)
        mayProve = configuration.proofs != .never
        callers = configuration.exchangesCallersTokens ? CallerTokens() : nil
        server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: credentials, clock: clock)
        state = AuthState(configuration)
        family.join(self)
    }

    // MARK: The life of a session

    deinit {
        listener?.cancel()
        alarm?.cancel()
        family.leave(self)
    }

    /// Loads what is stored, fetches a token if that is due and needs no person, and keeps it fresh from then on.
    ///
    /// Returns as soon as the stored session is in use; the token request goes on by itself. The session ends with
    /// ``stop(savingFor:evenIfRefused:)``, or with its last reference once no request of it is in flight and nothing of it is in memory alone.
    public func start() async {
        guard listener == nil, !isStopped else { return }
        let changes = store.changes(of: identity)
        listener = Task(executorPreference: executor as? any TaskExecutor) { [weak self] in
            for await _ in changes { await self?.storeChanged(isWritable: true) }
        }
        await adoptStored()
        advance()
    }

    /// Ends all timers and waits for a token request in flight, so that its answer is stored; waiters are woken.
    ///
    /// Until then the session keeps itself alive. A cancelled caller waits no longer for the store's lock.
    ///
    /// - Parameters:
    ///   - limit: of trying again to store what could not be had again; nobody else uses the refresh token meanwhile.
    ///   - isForAll: whether it is tried again too where only a person can help, who may do so in time.
    /// - Returns: whether nothing is lost.
    @discardableResult
    public func stop(savingFor limit: Duration = .zero, evenIfRefused isForAll: Bool = false) async -> Bool {
        let end = clock.now + limit
        await quiesce()
        // Somebody may have taken away just now what is stored.
        if limit > .zero, !state.needsSaving { await adoptStored() }
        while state.needsSaving {
            await saveAgain()
            if await handOver() { break }
            guard isUnsaved, isForAll || state.lastStoreError?.isRefused != true, clock.now < end,
                (try? await clock.sleep(until: min(end, clock.now + Self.saveTry))) != nil
            else { break }
        }
        await giveUpKeptLock()
        listeners.finish()
        stateListeners.finish()
        for waiter in tokenWaiters { waiter.wake(with: .failure(.stopped)) }
        for waiter in attemptWaiters { waiter.wake(with: .failure(.stopped)) }
        return !isUnsaved
    }

    /// Begins nothing any more, and waits for what is under way, a login or a logout too.
    func quiesce() async {
        isStopped = true
        listener?.cancel()
        alarm?.cancel()
        if isWaiting { attemptTask?.cancel() }
        await withTaskCancellationHandler {
            await attemptTask?.value
            await saving?.value
        } onCancel: { [saving] in
            saving?.cancel()
        }
        abandonSentRefresh()
        await leftover?.value
        await looking?.value
        await family.takeTurn()
        family.endTurn()
    }

    /// Whether it keeps its token fresh by itself.
    var isStarted: Bool { listener != nil && !isStopped }

    // MARK: What others ask for

    /// A token that has not expired: at once if there is one, else that of the one refresh in flight.
    ///
    /// Cancelling the caller ends its wait, never the refresh.
    ///
    /// - Throws: ``TokenError`` at the latest after `limit`.
    public func freshToken(
        waitingAtMost limit: Duration = .seconds(10)
    ) async throws(TokenError) -> AccessTokenSnapshot {
        guard !isStopped else { throw .stopped }
        let deadline = clock.now + limit
        await loadForFirstUse()
        if state.tokenNeeded() {
            advance()
            if state.attempt != nil {
                await attemptEnd(by: min(deadline, clock.now + Self.longestWithholding))
            }
        }
        // Thousands may come while one request is in flight: they only queue up.
        if state.attempt == nil { advance() }
        var answer = state.answer(at: clock.now, until: deadline)
        if case .fail = answer, state.isUnread, state.attempt == nil {
            lookSoon()
            answer = state.answer(at: clock.now, until: deadline)
        }
        switch answer {
        case .use(let snapshot): return snapshot
        case .fail(let error): throw error
        case .wait: break
        }
        let waiter = TokenWaiter<AccessTokenSnapshot>(deadline: deadline)
        tokenWaiters.append(waiter)
        ringAlarm(by: waiter.deadline)
        return try await waiter.value()
    }

    /// Never uses the present access token again, and asks for another one.
    ///
    /// - Throws: ``TokenError`` if none came within `limit`.
    public func invalidate(waitingAtMost limit: Duration = .seconds(10)) async throws(TokenError) {
        if forgetCallers() { return }
        guard !isStopped else { throw .stopped }
        await loadForFirstUse()
        state.tokenInvalidated(at: clock.now)
        try await waitForAttempt(atMost: limit)
    }

    func waitForAttempt(atMost limit: Duration) async throws(TokenError) {
        advance()
        guard state.attempt != nil else {
            _ = try await freshToken(waitingAtMost: limit)
            return
        }
        let waiter = TokenWaiter<Void>(deadline: clock.now + limit)
        attemptWaiters.append(waiter)
        ringAlarm(by: waiter.deadline)
        try await waiter.value()
    }

    /// Waits for the end of the attempt in flight.
    ///
    /// - Returns: whether there is a token then, before `deadline`.
    @discardableResult
    func attemptEnd(by deadline: Instant) async -> Bool {
        let waiter = TokenWaiter<Void>(deadline: deadline)
        attemptWaiters.append(waiter)
        ringAlarm(by: deadline)
        return (try? await waiter.value()) != nil
    }

    // MARK: After every event

    /// Does what follows from the state as it is now; called after every event.
    func advance() {
        let now = clock.now
        if !isStopped, let action = state.nextAction(at: now) {
            switch action {
            case .requestToken: attemptTask = Task { await runAttempt() }
            }
        }
        beginExchanges()
        publish(at: now)
        wakeWaiters(at: now)
        reportState(at: now)
        setAlarm()
    }

    /// The attempt in flight has ended, with `result`.
    func attemptEnded(with result: Result<Void, TokenFailure>) {
        attemptTask = nil
        requestedAdditions = nil
        // Where the session has ended meanwhile there was nothing to ask for, and there is no token either.
        let brought: Result<Void, TokenError> =
            switch state.lastAnswer(at: clock.now) {
            case .fail(let error): .failure(error)
            case .use, .wait: .success(())
            }
        for waiter in attemptWaiters {
            switch result {
            case .success: waiter.wake(with: brought)
            case .failure: waiter.wake(with: .failure(state.reason(at: clock.now)))
            }
        }
        advance()
    }

    func report(_ event: SessionEvent) {
        observer.session(identity, reports: event)
        listeners.tell(event)
    }

    private func publish(at now: Instant) {
        let snapshot = state.published(at: now)
        if snapshot !== published {
            published = snapshot
            slot.publish(snapshot)
        }
        slot.watch(state.isWatching)
    }

    private func wakeWaiters(at now: Instant) {
        attemptWaiters.removeAll { waiter in
            if waiter.deadline <= now { waiter.wake(with: .failure(state.reason(at: now))) }
            return waiter.isWoken
        }
        tokenWaiters.removeAll { waiter in
            guard !waiter.isWoken else { return true }
            let isLate = waiter.deadline <= now
            switch isLate ? state.lastAnswer(at: now) : state.answer(at: now, until: waiter.deadline) {
            case .use(let snapshot): waiter.wake(with: .success(snapshot))
            case .fail(let error): waiter.wake(with: .failure(error))
            case .wait: return false
            }
            return true
        }
    }

    private func reportState(at now: Instant) {
        let present = state.state(at: now)
        if present != reported { stateListeners.tell(present) }
        guard present != reported || reportMoment.map({ $0 <= now }) ?? false else { return }
        reported = present
        let (change, due) = family.look(self, in: present, at: now)
        reportMoment = due
        if let change { report(.stateChanged(from: change.from, to: change.to)) }
    }

    // MARK: Time

    /// When something that could not be written is to be written; nil if there is nothing, or it is being done.
    private var saveMoment: Instant? {
        guard state.needsSaving, !isSaving, state.attempt == nil else { return nil }
        return saveRetry ?? clock.now
    }

    /// When a store that could not be read is looked at again; an attempt in flight looks itself.
    private var nextLook: Instant? {
        looking == nil && !isSaving && state.attempt == nil ? lookMoment : nil
    }

    /// Makes the alarm ring at the next moment that matters.
    private func setAlarm() {
        var moments = tokenWaiters.map(\.deadline) + attemptWaiters.map(\.deadline)
        if let moment = state.nextMoment(after: clock.now) { moments.append(moment) }
        if let saveMoment { moments.append(saveMoment) }
        if let reportMoment { moments.append(reportMoment) }
        if let nextLook { moments.append(nextLook) }
        if let moment = exchanges.nextMoment { moments.append(moment) }
        let next = moments.min()
        if next != alarmMoment { replaceAlarm(with: next) }
    }

    /// Makes the alarm ring at `moment`, unless it rings before.
    func ringAlarm(by moment: Instant) {
        if alarmMoment.map({ moment < $0 }) ?? true { replaceAlarm(with: moment) }
    }

    private func replaceAlarm(with moment: Instant?) {
        alarm?.cancel()
        alarm = nil
        alarmMoment = isStopped ? nil : moment
        guard let alarmMoment else { return }
        // What is in memory alone has to be written, whoever still wants the session.
        let keeper = state.needsSaving ? self : nil
        alarm = Task(executorPreference: executor as? any TaskExecutor) { [weak self, clock] in
            defer { withExtendedLifetime(keeper) {} }
            guard (try? await clock.sleep(until: alarmMoment)) != nil else { return }
            await self?.ring(for: alarmMoment)
        }
    }

    private func ring(for moment: Instant) {
        guard moment == alarmMoment, !isStopped else { return }
        alarmMoment = nil
        if let saveMoment, saveMoment <= clock.now {
            isSaving = true
            saving = Task {
                await saveAgain()
                advance()
            }
        }
        if let nextLook, nextLook <= clock.now {
            looking = Task {
                await adoptStored()
                looking = nil
                advance()
            }
        }
        advance()
    }
}
