// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import Cryptography
import DevelopmentProvider
import EventLoop
import HTTPClient
internal import HTTPExchange
import HTTPServer
import HTTPMessages
import OAuth
import Observability
import Proxy
import System
import TLS

/// The running process: everything that `bearerd run` puts together, and the order in which it comes and goes.
///
/// Lives on the control loop, which is the main thread.
actor Daemon: LoopConfined {
    /// How a run ended.
    enum Outcome {
        /// Every connection was served to its end.
        case drained
        /// The grace was over before the last connection was.
        case graceIsOver
    }

    /// Kept connections that stay silent during a drain are let go after this time.
    private static let linger = Duration.seconds(1)

    nonisolated let loop: EventLoop

    var configuration: Configuration
    /// Where the configuration is; nil if it is in no file.
    let file: String?
    let sandbox: SandboxOutcome
    let log: Log
    let writer: OutputWriter
    let manager: ServiceManager
    private var watchdog: Watchdog?
    private let startedAt = ContinuousClock.now
    var engine: Engine
    /// Of the TCP addresses of `listen`; nil where they are plain.
    var certificate: CertificateWatch?
    /// What clients of the data listeners must send; nil where they need nothing.
    var accessKey: KeyWatch?
    var adminKey: KeyWatch?
    var sockets: DaemonSockets
    var composer = RoutingComposer()
    var workers: [Worker] = []
    private let budget: ConnectionBudget
    private let freeDescriptors: Int
    /// The admin listener's.
    var adminService: HTTPService?
    /// Sessions of configurations before that may still be needed.
    var retired: [AuthSession] = []
    var reloads = ReloadCounts(lastSuccess: Double(WallClock.secondsSinceEpoch))
    /// The reload that was begun last, and the one that is to follow it.
    var currentReload: Task<Result<[String], ReloadRefusal>, Never>?
    var pendingReload: Task<Result<[String], ReloadRefusal>, Never>?
    private var threads: [LoopThread] = []
    private var services: [HTTPService] = []
    private let serviceLimits: ServiceLimits
    private(set) var isDraining = false
    private var shutdownRequest: CheckedContinuation<Void, Never>?
    private var notices: DrainNotices?
    /// Set while a drain goes on.
    private var noticeTimer: LoopTimer?
    /// The identities, one for each session, whose ends the drain waits for.
    private var endingSessions: [String] = []

    /// Puts everything together; nothing is served before ``run()``.
    init(
        configuration: Configuration, sockets: DaemonSockets, loop: EventLoop, log: Log, writer: OutputWriter,
        manager: ServiceManager, file: String?, sandbox: SandboxOutcome
    ) throws {
        self.configuration = configuration
        self.file = file
        self.sandbox = sandbox
        self.loop = loop
        self.log = log
        self.writer = writer
        self.manager = manager
        engine = try Engine(
            configuration: configuration, loop: loop, log: log,
            hooks: StateChangeHooks(configuration, log: log), manager: manager)
        certificate = try configuration.tls.map {
            CertificateWatch($0, tls: ServerTLS(try $0.load()), log: log)
        }
        accessKey = try configuration.access.key.map { try KeyWatch($0, log: log) }
        adminKey = try configuration.admin?.key.map { try KeyWatch($0, log: log) }
        self.sockets = sockets
        var timeouts = ServerTimeouts()
        timeouts.header = configuration.timeouts.header ?? .zero
        timeouts.idle = configuration.timeouts.idle ?? .zero
        // Where descriptors are few, clients need most of them.
        freeDescriptors = CurrentProcess.freeDescriptorCount
        serviceLimits = ServiceLimits(connections: freeDescriptors / 8, timeouts: timeouts)
        budget = ConnectionBudget(limit: configuration.limits.connections)
    }

    /// Serves until ``shutDown()``, then drains.
    func run() async throws -> Outcome {
        try await startDevelopmentServers()
        await engine.start()
        certificate?.start(on: engine.files.thread)
        heedFiles()
        try await startWorkers()
        try await startAdmin()
        log.notice("ready", [.version: .string(Version.text), .workers: .integer(workers.count)])
        manager.ready()
        watchdog = Watchdog(manager, on: loop) { await self.loopsTurn() }
        CurrentProcess.trimMemory()
        await withCheckedContinuation { continuation in
            if isDraining { continuation.resume() } else { shutdownRequest = continuation }
        }
        let outcome = await drain()
        for worker in workers { await worker.stop() }
        sockets.admin?.removeFile()
        return outcome
    }

    /// Begins the drain; what SIGTERM does.
    func shutDown() {
        guard !isDraining else { return }
        isDraining = true
        log.notice("draining")
        manager.stopping(within: configuration.shutdown.delay + configuration.shutdown.grace + Self.linger)
        shutdownRequest?.resume()
        shutdownRequest = nil
    }

    // MARK: Start

    private func startDevelopmentServers() async throws {
        guard configuration.development.isOn else { return }
        log.warning("the development servers are on: for trying and for tests only")
        let servers = try DevelopmentServers(configuration, on: sockets)
        for (name, listener, responder) in servers.all {
            try await serve(responder, on: listener, name: name)
        }
    }

    private func startWorkers() async throws {
        let loops = try (0..<sockets.workerCount).map { try EventLoop(name: "worker-\($0)") }
        let snapshot = try composer.snapshot(of: configuration, on: ground) { engine.session(for: $0) }
        budget.use(limit: connectionLimit())
        for loop in loops {
            workers.append(Worker(loop: loop, snapshot: snapshot, budget: budget))
            threads.append(try loop.start())
        }
        for (index, worker) in workers.enumerated() {
            for (key, listener) in sockets.data {
                for socket in listener.sockets[index] {
                    do {
                        try await worker.listen(on: socket, at: key)
                    } catch {
                        throw CommandFailure(error, watching: listener.address)
                    }
                }
            }
        }
        for (_, listener) in sockets.data { announce(listener.address, as: "proxy") }
    }

    var ground: RoutingComposer.Ground {
        RoutingComposer.Ground(
            listeners: sockets.data, security: certificate?.tls, accessKey: accessKey?.key,
            trust: engine.trust, log: log, lines: writer)
    }

    /// As many as are configured, or as descriptors allow.
    func useConnectionLimit() { budget.use(limit: connectionLimit()) }

    private func connectionLimit() -> Int {
        let wanted = configuration.limits.connections
        let limit = ConnectionBudget.limit(
            of: wanted, freeDescriptors: freeDescriptors,
            upstreams: configuration.routes.count * configuration.limits.upstreamConnections,
            workers: sockets.workerCount, reserved: sockets.serviceCount * serviceLimits.connections)
        if limit < wanted {
            log.warning(
                "fewer descriptors than limits.connections needs: raise the hard limit (systemd: LimitNOFILE=)",
                [.count: .integer(limit)])
        }
        return limit
    }

    private func startAdmin() async throws {
        guard let adminListener = sockets.admin, let responder = adminResponder else { return }
        adminService = try await serve(responder, on: adminListener, name: "admin")
    }

    /// What answers on the admin listener, by the configuration in force; nil without one.
    var adminResponder: AdminResponder? {
        guard let admin = configuration.admin, let adminListener = sockets.admin else { return nil }
        let settings = AdminSettings(
            version: Version.text, routes: configuration.adminRoutes,
            hosts: HostList(HostNames.of(adminListener) + configuration.allowedHosts),
            key: adminKey?.key, needsKey: !adminListener.address.isLoopback, allowsQuit: admin.allowsQuit,
            warnings: configuration.protectionsTurnedOff)
        return AdminResponder(
            settings: settings,
            identities: Identities(groups: engine.groups, reporter: engine.reporter),
            process: DaemonControl(daemon: self, writer: writer, startedAt: startedAt))
    }

    @discardableResult
    private func serve(
        _ responder: any HTTPResponder, on listener: BoundListener, name: String
    ) async throws -> HTTPService {
        let service = HTTPService(loop: loop, responder: responder, limits: serviceLimits)
        for socket in listener.sockets.joined() {
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
        sockets.data.forEach { $0.listener.removeFile() }
        // A socket that several workers watch is closed when none of them does; a client that comes later is refused.
        for worker in workers { await worker.stopAccepting() }
        sockets.data.forEach { $0.listener.close() }
        let race = DrainRace()
        for worker in workers {
            Task(executorPreference: loop) {
                await worker.drain(linger: Self.linger)
                race.finishedOne()
            }
        }
        let deadline = ContinuousClock.now + shutdown.grace
        let connections = await race.wait(for: workers.count, grace: shutdown.grace, on: loop)
        let sessions = await endSessions(within: max(ContinuousClock.now.duration(to: deadline), Self.linger))
        noticeTimer = nil
        let outcome = connections == .drained ? sessions : connections
        log.notice("stopped", [.outcome: outcome == .drained ? "drained" : "cut"])
        return outcome
    }

    /// Waits for token requests in flight, whose answer may hold the only refresh token that is still good, and for what
    /// is still to be stored.
    private func endSessions(within limit: Duration) async -> Outcome {
        let race = DrainRace()
        let sessions = engine.sessions + retired
        endingSessions = sessions.map(\.identity)
        let ends = sessions.map { session in
            Task(executorPreference: loop) {
                await session.stop()
                await self.sessionEnded(session.identity)
                race.finishedOne()
            }
        }
        let outcome = await race.wait(for: sessions.count, grace: limit, on: loop)
        if outcome == .graceIsOver {
            for end in ends { end.cancel() }
            log.warning(
                "a token request, or storing what it brought, was given up: the grace is over",
                [.identity: .string(DrainNotices.names(endingSessions))])
        }
        return outcome
    }

    private func sessionEnded(_ identity: String) {
        if let index = endingSessions.firstIndex(of: identity) { endingSessions.remove(at: index) }
    }

    /// Says each second what the drain waits for.
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
        notices?.tell(metrics, endingSessions, log)
        noticeTimer.set(after: DrainNotices.interval)
    }

    // MARK: What the admin listener asks

    /// Whether every worker answers within a second.
    func loopsTurn() async -> Bool {
        for worker in workers {
            guard await answers(worker) else { return false }
        }
        return true
    }

    private func answers(_ worker: Worker) async -> Bool {
        let race = DrainRace()
        Task(executorPreference: loop) {
            await worker.turn()
            race.finishedOne()
        }
        return await race.wait(for: 1, grace: .seconds(1), on: loop) == .drained
    }

    /// What all workers counted.
    func workerMetrics() async -> WorkerMetrics {
        var total = WorkerMetrics()
        for worker in workers { total.merge(await worker.metricsSnapshot()) }
        return total
    }
}
