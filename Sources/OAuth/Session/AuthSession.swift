// SPDX-License-Identifier: Apache-2.0

public import BearerdExecutorConfinement

/// The tokens of one identity: asked of the authorization server, stored, and given to those who wait.
///
/// Every method runs on the executor given at the start.
///
/// The state of the identity has one owner in the process, which this session shares with those that ask for tokens
/// of another scope, audience or resource with the same refresh token.
public actor AuthSession: ExecutorConfined {
    /// The executor that every method of the session runs on.
    public nonisolated let executor: any SerialExecutor
    /// The identity's name in the configuration.
    public nonisolated let identity: String
    /// Where the access token is left for the threads that serve requests: they call a method only when it is empty, or a
    /// resource server has refused the token.
    package nonisolated let slot = TokenSlot()

    /// The owner of all that is known.
    nonisolated let core: Identity
    /// The number of what this session asks for among the targets of the identity, which knows of it from ``join()`` on.
    nonisolated let target: TargetID
    private let configured: ClientConfiguration
    let clock: any SessionClock
    let store: any SessionStore
    let server: AuthorizationServer
    let random: @Sendable () -> Double
    /// Signs what requests to resource servers prove.
    package nonisolated let proofs: DPoPSigner
    /// True if tokens may be bound to a key, so that requests have no proofs but ours.
    package nonisolated let mayProve: Bool
    /// The tokens that callers' own were exchanged for; nil for an identity with tokens of its own.
    package nonisolated let callers: CallerTokens?
    let exchanges = CallerExchanges()
    var exchangeAlarm: Task<Void, Never>?

    /// How requests to the server's own protected endpoints carry the access token.
    var requestAuthorization = RequestAuthorization()
    /// The name of the person who logged in, and the generation of the session in which it was read.
    var knownPerson: (generation: Int, name: String?)?
    private(set) var isStopped = false
    /// Called once a login waits for the store, with how long it does at most.
    var onStoreWait: (@Sendable (Duration) -> Void)?
    /// True if a login that waits for the store is to give up.
    var isStoreWaitOver = false
    private var hasJoined = false
    /// Counts the refreshes that were asked for.
    var additionsMade = 0
    nonisolated let stateListeners = SessionListeners<SessionState>()

    /// A session that does nothing by itself before ``start()``: it looks at the store each time that it is asked for something.
    ///
    /// - Parameters:
    ///   - configuration: the client, and the server that it asks. A program looks at its ``ClientConfiguration/problems`` first; one of
    ///     a parameter or a header fails each request.
    ///   - executor: runs the session, which keeps it alive; the sessions of a family share it.
    ///   - clock: the time, for expiries and for waits.
    ///   - transport: carries requests to the authorization server.
    ///   - store: keeps the session beyond the process.
    ///   - credentials: the client's secret, key and so on, asked at each use.
    ///   - observer: hears of events, on the executor.
    ///   - family: shared by all sessions of one name in the process.
    ///   - signer: signs what requests to resource servers prove; nil for the executor.
    ///   - random: uniform in 0..<1, for jitter; a test fixes it.
    public init(
        configuration: ClientConfiguration, executor: any SerialExecutor, clock: any SessionClock,
        transport: any TokenTransport, store: any SessionStore, credentials: any CredentialSource,
        observer: any SessionObserver, family: SessionFamily = SessionFamily(),
        signingOn signer: (any SerialExecutor)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        let core = Identity(
            configuration, executor: executor, clock: clock, store: store, observer: observer,
            family: family, random: random)
        self.init(
            of: core, asking: configuration, target: 0, transport: transport, credentials: credentials,
            signingOn: signer, random: random)
    }

    /// A session for another scope, audience or resource of the identity that `other` belongs to.
    ///
    /// They share the refresh token, and all that is known of the authorization server and the store.
    ///
    /// - Parameters:
    ///   - configuration: the client of `other`, aimed at what this one asks for.
    ///   - other: a session of the identity.
    ///   - transport: to the authorization server.
    ///   - credentials: the client's secret, key and so on.
    ///   - signer: signs what requests to resource servers prove; nil for the executor.
    package init(
        configuration: ClientConfiguration, beside other: AuthSession, transport: any TokenTransport,
        credentials: any CredentialSource, signingOn signer: (any SerialExecutor)? = nil
    ) {
        self.init(
            of: other.core, asking: configuration, target: other.core.newTarget(), transport: transport,
            credentials: credentials, signingOn: signer, random: other.random)
    }

    private init(
        of core: Identity, asking configuration: ClientConfiguration, target: TargetID,
        transport: any TokenTransport, credentials: any CredentialSource,
        signingOn signer: (any SerialExecutor)?, random: @escaping @Sendable () -> Double
    ) {
        self.core = core
        self.target = target
        executor = core.executor
        identity = core.name
        configured = configuration
        clock = core.clock
        store = core.store
        self.random = random
        proofs = DPoPSigner(executor: signer ?? core.executor, clock: core.clock)
        mayProve = configuration.proofs != .never
        callers = configuration.exchangesCallersTokens ? CallerTokens() : nil
        server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: credentials, clock: core.clock)
    }

    deinit {
        exchangeAlarm?.cancel()
        guard hasJoined, !isStopped else { return }
        let (core, target) = (core, target)
        Task(executorPreference: executor as? any TaskExecutor) { await core.drop(target) }
    }

    // MARK: The identity

    /// Takes part in the identity from here on; only the first call counts.
    func join() {
        guard !hasJoined else { return }
        hasJoined = true
        let (target, configured) = (target, configured)
        core.assumeIsolated { $0.admit(self, target, configured) }
    }

    /// All that is known of the identity, as it is now.
    var engine: IdentityEngine {
        join()
        return core.assumeIsolated { $0.engine }
    }

    /// The session as it is now.
    var session: StoredSession { core.assumeIsolated { $0.engine.session } }

    /// Has the identity take an event in.
    func take(_ event: EngineEvent) { core.assumeIsolated { $0.take(event) } }

    /// Waits for the answer to an event about a token, which says how long.
    func wait(
        _ event: @Sendable (TargetID, WaiterID) -> EngineEvent
    ) async throws(TokenError) -> AccessTokenSnapshot? {
        try await waiter(event).value()
    }

    private func waiter(
        _ event: @Sendable (TargetID, WaiterID) -> EngineEvent
    ) -> OneTimeWaiter<AccessTokenSnapshot?> {
        join()
        let target = target
        return core.assumeIsolated { core in core.wait { event(target, $0) } }
    }

    // MARK: The life of a session

    /// True while it keeps its token fresh by itself.
    var isStarted: Bool { core.assumeIsolated { $0.isStarted } }

    /// Loads what is stored, fetches a token if that is due and needs no person, and keeps it fresh from then on.
    ///
    /// Returns as soon as the stored session is in use; the token request goes on by itself. The session ends with
    /// ``stop(savingFor:evenIfRefused:)``, or with its last reference once no request of it is in flight and nothing of it is in memory alone.
    public func start() async {
        guard !isStopped else { return }
        join()
        await core.start()
    }

    /// Ends all timers and waits for a token request in flight, so that its answer is stored; waiters are woken.
    ///
    /// A request that the configuration alone makes again is given up.
    ///
    /// Until then the session keeps itself alive. A cancelled caller waits no longer for the store's lock.
    ///
    /// - Parameters:
    ///   - limit: of trying again to store what could not be had again; nobody else uses the refresh token meanwhile.
    ///   - isForAll: whether it is tried again too where only a person can help, who may do so in time.
    /// - Returns: whether nothing is lost.
    @discardableResult
    public func stop(savingFor limit: Duration = .zero, evenIfRefused isForAll: Bool = false) async -> Bool {
        isStopped = true
        beginExchanges()
        defer { stateListeners.finish() }
        join()
        return await core.stop(target, savingFor: limit, evenIfRefused: isForAll)
    }

    /// Ends it as ``stop(savingFor:evenIfRefused:)`` does, but not while it alone has what could not be had again.
    ///
    /// Returns when that is written, or another session of the identity sees to it.
    package func retire() async {
        isStopped = true
        beginExchanges()
        join()
        await core.retire(target)
    }

    /// Counts this session no more in the state of its identity, because it is about to end.
    package nonisolated func leaveFamily() { core.family.leave(slot) }

    /// Has it ask for tokens only where somebody waits for one, from here on.
    package func serveWaitersOnly() {
        join()
        take(.targetLeaves(target))
    }

    /// Why what could not be had again is in memory alone; nil if it is not.
    package var unsavedReason: String? { core.assumeIsolated { $0.unsavedReason } }

    /// True if that is the end of a session, as by a logout.
    package var isEndUnsaved: Bool { core.assumeIsolated { $0.isEndUnsaved } }

    // MARK: What others ask for

    /// The end of a wait that a program limits, as far away as clocks can count.
    func end(of limit: Duration) -> Instant {
        clock.now + min(max(limit, .zero), ClientConfiguration.longestLifetime)
    }

    /// A token that has not expired: at once if there is one, else that of the one refresh in flight.
    ///
    /// Cancelling the caller ends its wait, never the refresh.
    ///
    /// - Throws: ``TokenError`` at the latest after `limit`.
    package func freshToken(
        waitingAtMost limit: Duration = .seconds(10)
    ) async throws(TokenError) -> AccessTokenSnapshot {
        try await token(waitingAtMost: limit, isRenewed: false)
    }

    func token(
        waitingAtMost limit: Duration, isRenewed: Bool
    ) async throws(TokenError) -> AccessTokenSnapshot {
        guard !isStopped else { throw .stopped }
        let deadline = end(of: limit)
        await loadForFirstUse(until: deadline)
        let token = try await wait {
            .tokenNeeded($0, by: $1, until: deadline, isRenewed: isRenewed)
        }
        guard let token else { throw .stopped }
        return token
    }

    /// Never uses the present access token again, and asks for another one.
    ///
    /// - Throws: ``TokenError`` if none came within `limit`.
    public func invalidate(waitingAtMost limit: Duration = .seconds(10)) async throws(TokenError) {
        guard !isStopped else { throw .stopped }
        let deadline = end(of: limit)
        await loadForFirstUse(until: deadline)
        if forgetCallers() { return }
        _ = try await wait { .tokenInvalidated($0, by: $1, until: deadline) }
    }

    /// Reports that a resource server refused a token.
    ///
    /// - Returns: a token for one more request; nil if the response is to go through.
    package func accessTokenRejected(
        _ rejection: TokenRejection, waitingAtMost limit: Duration
    ) async -> AccessTokenSnapshot? {
        let deadline = end(of: limit)
        return try? await wait { .tokenRejected($0, rejection, by: $1, until: deadline) }
    }

    /// Reports that a resource server accepted a token; needed while ``TokenSlot/isWatched``, and for repeated requests.
    package func accessTokenAccepted(generation: Int, route: String, isReplayed: Bool = false) {
        join()
        take(.tokenAccepted(target, generation: generation, route: route, isReplayed: isReplayed))
    }

    /// Tells the session that a credential or an authority has changed.
    ///
    /// A failure for which it waited is over, and it asks again.
    public func credentialsChanged() {
        exchanges.failures = CallerFailures()
        take(.credentialsChanged)
        beginExchanges()
    }
}
