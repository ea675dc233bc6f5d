// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdConfiguration
import BearerdCryptography
import BearerdDevelopmentProvider
import BearerdEventLoop
import BearerdHTTPClient
internal import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdObservability
import BearerdProxy
import BearerdSystem
import BearerdTLS
import OAuth

/// The running process of `bearerd run`: its parts, and the order in which they start and stop.
///
/// It lives on the control loop, which is the main thread.
actor Daemon: LoopConfined {
    /// The way in which a run ended.
    enum Outcome {
        /// Every connection was served to its end.
        case drained
        /// The grace was over before the last connection ended.
        case graceIsOver
    }

    /// The time after which a drain closes kept connections that stay silent.
    private static let linger = Duration.seconds(1)

    /// The longest time after the grace: the last attempt to store, spans, workers, and lines of files.
    private static let timeAfterGrace = linger * 4

    /// The time after which spans that wait for export are given up.
    private static let spanLimit = Duration.seconds(5)

    nonisolated let loop: EventLoop

    /// The configuration in force, with its parts; replaced by each reload.
    var active: ActiveConfiguration
    var configuration: Configuration { active.configuration }
    var sessions: ConfiguredSessions { active.sessions }
    /// The path of the configuration; nil if it came from no file.
    let file: String?
    let sandbox: SandboxOutcome
    let log: Log
    let writer: OutputWriter
    let manager: ServiceManager
    private var watchdog: Watchdog?
    private let startedAt = ContinuousClock.now
    private let startTime = WallTime(sinceEpoch: WallClock.sinceEpoch)
    /// Writes the audit; nil until a configuration has one.
    var audit: AppendedFile?
    let sockets: DaemonSockets
    /// The number of the last attempt to watch new listeners, and its first failure.
    var listenerWatch: (number: Int, failure: CommandFailure?) = (0, nil)
    var workers: [Worker] = []
    /// The workers' last counts, and the silent workers.
    var reports = WorkerReports()
    /// True once everything exists that a reload changes.
    private(set) var isStarted = false
    private var startWaiters: [CheckedContinuation<Void, Never>] = []
    var readiness = ReadinessNotices()
    var readinessTimer: LoopTimer?
    /// Made when a route fails for the first time, and runs while one does.
    var routeTimer: LoopTimer?
    var isWatchingRoutes = false
    private let budget: ConnectionBudget
    /// The number of client connections that the budget allows.
    private(set) var usedConnectionLimit = 0
    private let freeDescriptors: Int
    /// Serves the admin listener.
    var adminService: HTTPService?
    /// The state of the admin listener that outlives configurations.
    private let adminMemory = AdminMemory()
    let redirectListeners: RedirectListeners
    /// The key of the store, unless it is in the Secret Service; nil without one.
    let storeKey: Secret?
    /// Sessions of earlier configurations that may still be needed.
    var retired: [AuthSession] = []
    var reloads = ReloadCounts(lastSuccess: Double(WallClock.secondsSinceEpoch))
    /// The last reload, if it was refused.
    var refusedReload: RefusedReload?
    /// The reload that runs, and the one that follows it.
    var currentReload: Task<Result<[String], ReloadRefusal>, Never>?
    var pendingReload: Task<Result<[String], ReloadRefusal>, Never>?
    private var threads: [LoopThread] = []
    private var services: [HTTPService] = []
    private(set) var developmentServers: DevelopmentServers?
    private let serviceLimits: ServiceLimits
    private(set) var isDraining = false
    private var shutdownRequest: CheckedContinuation<Void, Never>?
    private var notices: DrainNotices?
    var certificateNotices = CertificateNotices()
    /// Set during a drain.
    private var noticeTimer: LoopTimer?
    /// The sessions for whose end the drain waits.
    var endingSessions: [AuthSession] = []

    /// Makes the parts without serving anything; call ``run()`` next.
    init(
        configuration: Configuration, keyringKey: Secret?, commands: CommandHelper?, sockets: DaemonSockets,
        loop: EventLoop, log: Log,
        writer: OutputWriter,
        manager: ServiceManager, file: String?, before: FileState?, sandbox: SandboxOutcome
    ) throws {
        self.file = file
        self.sandbox = sandbox
        self.loop = loop
        redirectListeners = RedirectListeners(loop: loop)
        self.log = log
        self.writer = writer
        self.manager = manager
        let sessions = try ConfiguredSessions(
            configuration: configuration, loop: loop, log: log, keyringKey: keyringKey, commands: commands,
            hooks: StateChangeHooks(configuration, log: log), manager: manager)
        if let file { sessions.files.remember(file, as: before) }
        storeKey = try configuration.store.givenKey.map { try $0.read() }.flatMap(SealingKey.bytes)
        if let hidden = configuration.store.hiddenSessions {
            log.warning("there are sessions that are not used", [.reason: .string(hidden)])
        }
        let tracing = try configuration.telemetry.destination(trust: sessions.trust).map {
            Tracing(configuration.telemetry, sendingTo: $0, on: loop, log: log)
        }
        sessions.reporter.use(tracing)
        active = ActiveConfiguration(
            configuration: configuration, sessions: sessions, listeners: sockets.data,
            certificate: try configuration.tls.map {
                CertificateWatch($0, tls: ServerTLS(try $0.load()), log: log)
            },
            accessKeys: try configuration.access.keys.map { try KeyWatch($0.source, log: log) },
            adminKey: try configuration.admin?.key.map { try KeyWatch($0, log: log) }, tracing: tracing)
        self.sockets = sockets
        if let file = sockets.audit.take() {
            audit = try AppendedFile(tellingOfAudit: log)
            audit?.use(file)
        }
        var timeouts = ServerTimeouts()
        timeouts.header = configuration.timeouts.header
        timeouts.idle = configuration.timeouts.idle
        // Where descriptors are few, clients need most of them.
        freeDescriptors = CurrentProcess.freeDescriptorCount
        serviceLimits = ServiceLimits(connections: freeDescriptors / 8, timeouts: timeouts)
        budget = ConnectionBudget(limit: configuration.limits.connections)
    }

    /// Serves until ``shutDown()``, then drains.
    func run() async throws -> Outcome {
        try await startDevelopmentServers()
        await sessions.start()
        active.certificate?.start(on: sessions.files.executor)
        watchFiles()
        try await startWorkers()
        try await startAdmin()
        Task(executorPreference: loop) { await self.keepHistory() }
        isStarted = true
        startWaiters.forEach { $0.resume() }
        startWaiters = []
        log.notice("started", [.version: .string(Version.text), .workers: .integer(workers.count)])
        manager.ready()
        watchReadiness()
        await lookAtReadiness()
        await tellOfLogins()
        watchdog = Watchdog(manager, on: loop) { await self.silentWorkers().isEmpty }
        CurrentProcess.dropText()
        CurrentProcess.trimHeap()
        await withCheckedContinuation { continuation in
            if isDraining { continuation.resume() } else { shutdownRequest = continuation }
        }
        let outcome = await drain()
        audit?.flush()
        sockets.admin?.removeFile()
        return outcome
    }

    /// Begins to drain, as SIGTERM does.
    func shutDown() {
        guard !isDraining else { return }
        isDraining = true
        log.notice("draining")
        manager.stopping(
            within: configuration.shutdown.delay + configuration.shutdown.grace + Self.timeAfterGrace)
        shutdownRequest?.resume()
        shutdownRequest = nil
    }

    /// Waits until a reload can change the daemon.
    func untilStarted() async {
        guard !isStarted else { return }
        await withCheckedContinuation { startWaiters.append($0) }
    }

    // MARK: Start

    private func startDevelopmentServers() async throws {
        guard configuration.development.isOn else { return }
        log.warning("the development servers are on: for trying and for tests only")
        let servers = try DevelopmentServers(configuration, on: sockets)
        developmentServers = servers
        for server in servers.all {
            try await serve(
                server.responder, on: server.listener, name: server.name, beside: server.other)
        }
    }

    private func startWorkers() async throws {
        let loops = try (0..<sockets.workerCount).map { try EventLoop(name: Self.name(of: $0)) }
        let snapshot = try snapshot(by: &active)
        useConnectionLimit()
        for loop in loops {
            workers.append(Worker(loop: loop, snapshot: snapshot, budget: budget))
            threads.append(try loop.start())
        }
        try requireDescriptors()
        for (key, listener) in active.listeners {
            for (worker, share) in zip(workers, listener.shares) {
                for socket in share {
                    do {
                        try await worker.listen(
                            on: socket, at: key, security: active.certificate?.tls)
                    } catch {
                        throw CommandFailure(error, watching: listener.address)
                    }
                }
            }
        }
        for (_, listener) in active.listeners { announce(listener.address, as: "proxy") }
    }

    /// Makes the snapshot for the workers under a configuration.
    func snapshot(by active: inout ActiveConfiguration) throws -> RoutingSnapshot {
        let (configuration, sessions) = (active.configuration, active.sessions)
        let inputs = RoutingComposer.Inputs(
            listeners: active.listeners, admin: sockets.admin?.address, security: active.certificate?.tls,
            accessKeys: active.accessKeys.map(\.key), trust: sessions.trust, log: log, lines: writer,
            audit: audit,
            tracing: active.tracing?.settings(of: configuration.telemetry),
            onFailing: { [weak self, loop] in
                Task(executorPreference: loop) { await self?.watchRoutes() }
            })
        return try active.composer.snapshot(of: configuration, from: inputs) { sessions.session(for: $0) }
    }

    /// Applies the limit of client connections.
    func useConnectionLimit() {
        usedConnectionLimit = connectionLimit()
        budget.use(limit: usedConnectionLimit)
    }

    private func connectionLimit() -> Int {
        let wanted = configuration.limits.connections
        let limit = configuration.connectionLimit(
            freeDescriptors: freeDescriptors, reserved: sockets.serviceCount * serviceLimits.connections)
        if limit < wanted {
            log.warning(
                "fewer descriptors than limits.connections needs: raise the hard limit (systemd: LimitNOFILE=)",
                [.count: .integer(limit)])
        }
        return limit
    }

    private func startAdmin() async throws {
        guard let adminListener = sockets.admin, let responder = adminResponder else { return }
        await redirectListeners.use(configuration, admin: adminListener.address, answering: responder)
        adminService = try await serve(responder, on: adminListener, name: "admin")
    }

    /// Makes the responder of the admin listener for the configuration in force; nil without one.
    var adminResponder: AdminResponder? {
        guard let admin = configuration.admin, let adminListener = sockets.admin else { return nil }
        let redirects = configuration.loginRedirects(to: adminListener.address)
        var settings = AdminSettings(
            version: Version.text, routes: configuration.adminRoutes,
            hosts: HostList(
                HostNames.of(adminListener) + configuration.allowedHosts
                    + redirects.values.flatMap(\.ownHosts)),
            key: active.adminKey?.key, needsKey: !adminListener.address.isLoopback,
            peerUserIDs: admin.peerUserIDs, allowsQuit: admin.allowsQuit,
            redirects: redirects, clients: configuration.clientFacts,
            warnings: configuration.protectionsTurnedOff,
            listeners: active.listeners.map { key, listener in
                let configured = configuration.listeners.first { $0.address == key.address }
                return "\(listener.address)" + (configured.map { " (\($0.spokenProtocols))" } ?? "")
            }, configurationFile: absoluteFile)
        settings.storeDirectory = configuration.store.directory
        return AdminResponder(
            settings: settings,
            identities: Identities(groups: sessions.groups, reporter: sessions.reporter),
            process: DaemonControl(
                daemon: self, writer: writer, audit: audit, tracing: active.tracing, startedAt: startedAt,
                startTime: startTime),
            receivers: redirectListeners, memory: adminMemory)
    }

    /// The absolute path of the configuration; nil if it came from no file.
    private var absoluteFile: String? {
        guard let file, !file.hasPrefix("/") else { return file }
        return CurrentProcess.workingDirectory.map { "\($0)/\(file)" }
    }

    @discardableResult
    private func serve(
        _ responder: any HTTPResponder, on listener: BoundListener, name: String,
        beside other: (any OtherProtocol)? = nil
    ) async throws -> HTTPService {
        let service = HTTPService(loop: loop, responder: responder, limits: serviceLimits, other: other)
        for socket in listener.shares.joined() {
            do {
                try await service.listen(on: socket)
            } catch {
                throw CommandFailure(error, watching: listener.address)
            }
        }
        services.append(service)
        announce(listener.address, as: name)
        return service
    }

    func announce(_ address: ListenAddress, as name: String) {
        log.info("listening", [.listener: .string(name), .address: .string(address.description)])
    }

    // MARK: End

    private func drain() async -> Outcome {
        let shutdown = configuration.shutdown
        notices = DrainNotices(delay: shutdown.delay, grace: shutdown.grace)
        tellOfDrain()
        if shutdown.delay > .zero { await loop.pause(for: shutdown.delay) }
        active.listeners.forEach { $0.listener.removeFile() }
        // A socket that several workers watch is closed when none of them does; a client that comes later is refused.
        let deadline = ContinuousClock.now + shutdown.grace
        let (accepted, _) = await eachWorker(within: shutdown.grace) { await $1.stopAccepting() }
        active.listeners.forEach { $0.listener.close() }
        let (drained, _) = await eachWorker(within: max(ContinuousClock.now.duration(to: deadline), .zero)) {
            await $1.drain(linger: Self.linger)
        }
        let connections = accepted && drained ? Outcome.drained : .graceIsOver
        // What is left is ended, and recorded before anybody says that all is over.
        _ = await eachWorker(within: Self.linger) { await $1.stop() }
        let sessions = await endSessions(within: max(ContinuousClock.now.duration(to: deadline), Self.linger))
        let rest = max(.zero, min(ContinuousClock.now.duration(to: deadline + Self.linger), Self.spanLimit))
        notices?.flushEnd = .now + rest
        await active.tracing?.finish(within: rest)
        noticeTimer = nil
        let outcome = connections == .drained ? sessions : connections
        log.notice("stopped", [.outcome: outcome == .drained ? "drained" : "cut"])
        return outcome
    }

    /// Starts to log each second what the drain waits for.
    private func tellOfDrain() {
        let timer = LoopTimer(loop: loop) { self.assumeIsolated { $0.secondPassed() } }
        timer.set(after: DrainNotices.interval)
        noticeTimer = timer
    }

    private func secondPassed() {
        Task(executorPreference: loop) { await self.tellWhatIsLeft() }
    }

    private func tellWhatIsLeft() async {
        let metrics = await workerMetrics()
        // A worker that is slow to answer may do so when the drain is over.
        guard let noticeTimer else { return }
        let unstored = endingSessions.isEmpty ? [] : unstored
        notices?.tell(metrics, endingSessions.map(\.identity), unstored, log)
        manager.waiting(toStore: DrainNotices.names(unstored.map(\.identity)))
        noticeTimer.set(after: DrainNotices.interval)
    }

    // MARK: For the admin listener

    /// Records the traffic at regular steps, where somebody can look at it, and looks whether a certificate ends.
    private func keepHistory() async {
        while !isDraining {
            if sockets.admin != nil { adminMemory.history.take(await workerMetrics(endsStep: true)) }
            tellOfCertificates()
            await loop.pause(for: TrafficHistory.step)
        }
    }
}
