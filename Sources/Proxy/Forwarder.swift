// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes
internal import Observability

/// Serves the client connections of one event loop: from the first byte of a connection to its end.
///
/// Confined to the loop's thread. A connection is one task, as long as its client is not silent, and all its functions
/// run on the executor of their caller, so that none of the calls on a request's way has to ask for the executor it is
/// on already.
final class Forwarder {
    let configuration: WorkerConfiguration
    let table: RouteTable
    let routes: [RouteState]
    private(set) lazy var rest = Rest(loop: loop) { [unowned self] in
        dismissVacant()
    } isConnected: { [unowned self] in
        routes.contains { $0.pool.idleCount > 0 }
    }
    let clients: ClientWatch
    var metrics: WorkerMetrics
    var requestIDs = RequestIDs()
    var accessLog: AccessLog
    /// Whether kept connections end with the answer at hand.
    var isDraining = false
    /// Whether a drain waits no longer for what idle connections may send.
    private var hasLingered = false
    /// How long a drain waits for clients that are silent, slow with a head, or have their last answer; nil before one.
    private var linger: Duration?
    private var lingerTimer: LoopTimer?

    /// How many exchanges at most wait for a connection.
    private static let vacancies = 64
    /// How long a client may be silent before its connection waits without a task.
    private static let dormantAfter = Duration.seconds(1)

    let loop: EventLoop
    /// Those that have a connection, in no order.
    private var exchanges: [Exchange] = []
    /// Those that wait for one, each with its task: what a connection needs is used again.
    private var vacant: [Exchange] = []
    /// Made with the first connection, and let go of at the end of a drain: it knows the worker.
    private var dormant: DormantConnections?
    private var emptied: [CheckedContinuation<Void, Never>] = []
    private var flushTimer: LoopTimer?
    private var flushIsDue = false

    init(loop: EventLoop, configuration: WorkerConfiguration) {
        self.loop = loop
        self.configuration = configuration
        table = RouteTable(configuration.routes)
        clients = ClientWatch(loop: loop, patience: configuration.serverTimeouts.halfClosed)
        let multis = CurlMultiSet(loop: loop)
        let routes = configuration.routes.enumerated().map { index, route in
            RouteState(
                index: index, route: route,
                pool: UpstreamPool(
                    address: route.upstream, limit: configuration.upstreamLimits[index],
                    lifetimes: UpstreamPool.Lifetimes(
                        idle: route.timeouts.upstreamIdle, age: route.timeouts.upstreamAge),
                    multis: multis),
                report: configuration.upstreamReports[index])
        }
        self.routes = routes
        metrics = WorkerMetrics(routes: configuration.routes.count)
        accessLog = AccessLog(format: configuration.logFormat, routes: configuration.routes.map(\.path))
        // The pools go with us, and so does the watch.
        clients.exchanges = { [unowned self] in exchanges }
        clients.leave = { [unowned self] in leave($0) }
        for route in routes { route.pool.onShortage = { [unowned self] in closeIdleUpstreams() } }
    }

    /// Returns when the last connection is gone.
    func drain(linger: Duration) async {
        dismissVacant()
        self.linger = linger
        for exchange in exchanges { exchange.connection.hurry() }
        let timer = LoopTimer(loop: loop) { [unowned self] in endWaits(pace: linger) }
        lingerTimer = timer
        timer.set(after: linger)
        await withCheckedContinuation { continuation in
            emptied.append(continuation)
            resumeIfEmpty()
        }
        timer.cancel()
        lingerTimer = nil
        dormant = nil
        flushAccessLog()
    }

    /// Cuts every connection.
    func stop() {
        dismissVacant()
        dormant?.closeAll()
        for exchange in exchanges {
            exchange.upstream?.stream.close()
            exchange.connection.stream.close()
        }
        rest.cancel()
        flushAccessLog()
    }

    /// What was counted so far.
    func metricsSnapshot() -> WorkerMetrics {
        var snapshot = metrics
        for state in routes {
            snapshot.setUpstreamConnections(
                route: state.index, connecting: state.pool.connectingCount, active: state.activeConnections,
                idle: state.pool.idleCount)
        }
        return snapshot
    }

    // MARK: Connections

    /// Judges a peer by where it comes from, and tells one that may not connect.
    func admits(_ stream: ByteStream, from peer: PeerAddress, on worker: isolated Worker) -> Bool {
        guard configuration.access.admits(peer) else {
            metrics.countDenial(.peer)
            refuse(stream, .accessDenied(.peer), on: worker)
            return false
        }
        return true
    }

    /// Serves a connection that has a place in the budget, until it ends.
    func serve(_ stream: ByteStream, from peer: PeerAddress, listener: Int, on worker: isolated Worker) {
        metrics.openConnections += 1
        if dormant == nil { dormant = makeDormant(on: worker) }
        attach(stream, from: peer, listener: listener, isSecured: false, on: worker)
    }

    private func makeDormant(on worker: isolated Worker) -> DormantConnections {
        let limit = max(configuration.serverTimeouts.idle - Self.dormantAfter, .zero)
        return DormantConnections(loop: loop, limit: limit) { [unowned self] connection in
            // On the loop's thread, which is the worker's executor.
            attach(
                connection.stream, from: connection.peer, listener: connection.listener, isSecured: true,
                on: worker)
        }
    }

    private func attach(
        _ stream: ByteStream, from peer: PeerAddress, listener: Int, isSecured: Bool,
        on worker: isolated Worker
    ) {
        if let exchange = vacant.popLast() {
            exchange.take(stream, from: peer, listener: listener)
            exchange.isSecured = isSecured
            begin(exchange)
            return resume(exchange, with: true)
        }
        let connection = ServerConnection(
            stream: stream, peer: peer, limits: configuration.headLimits,
            timeouts: configuration.serverTimeouts, dormantAfter: Self.dormantAfter)
        let exchange = Exchange(
            connection: connection, listener: listener, limits: configuration.headLimits)
        exchange.isSecured = isSecured
        begin(exchange)
        _ = startTask { await self.attend(exchange) }
    }

    /// Serves one connection after another.
    private func attend(_ exchange: Exchange) async {
        repeat { await serve(exchange) } while await isNeededAgain(exchange)
    }

    private func isNeededAgain(_ exchange: Exchange) async -> Bool {
        await withCheckedContinuation { continuation in
            guard vacant.count < Self.vacancies, !isDraining else {
                return continuation.resume(returning: false)
            }
            exchange.vacancy = continuation
            vacant.append(exchange)
        }
    }

    private func resume(_ exchange: Exchange, with isNeeded: Bool) {
        let vacancy = exchange.vacancy
        exchange.vacancy = nil
        vacancy?.resume(returning: isNeeded)
    }

    private func dismissVacant() {
        let dismissed = vacant
        vacant = []
        for exchange in dismissed { resume(exchange, with: false) }
    }

    /// Runs `body` as a task of the caller's actor that never leaves the loop.
    ///
    /// Being on the actor is not enough: a continuation that is resumed by the loop may be queued on the global pool,
    /// and come back from there, unless the task itself prefers the loop. A function that is not async has no actor to
    /// give.
    func startTask(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping () async -> Void
    ) -> Task<Void, Never> {
        Task {
            _ = isolation  // a closure has the isolation that it captures
            await withTaskExecutorPreference(loop) {
                _ = isolation
                await body()
            }
        }
    }

    /// The life of one connection, or as much of it as passes before its client falls silent.
    private func serve(_ exchange: Exchange) async {
        let connection = exchange.connection
        var mustLinger = false
        do throws(MessageError) {
            let isSecured = exchange.isSecured ? true : try await connection.secure()
            guard isSecured else {
                metrics.countDenial(.tls)
                await self.linger(exchange)
                return ended(exchange)
            }
            while try await connection.receiveHead() {
                if hasLingered { connection.comeBeforeEnd() }
                clients.begin(exchange)
                await self.exchange(exchange)
                clients.end(exchange)
                mustLinger = !connection.body.isFinished || (exchange.status >= 400 && !connection.persists)
                guard connection.persists, !mustLinger, !(hasLingered && connection.stream.input.isEmpty)
                else { break }
                connection.answered()
            }
        } catch {
            exchange.begin()
            mustLinger = await refuse(error, exchange)
        }
        if connection.isDormant, !hasLingered { return park(exchange) }
        if mustLinger { await self.linger(exchange) } else { await connection.finish() }
        ended(exchange)
    }

    private func linger(_ exchange: Exchange) async {
        exchange.letGo()
        await exchange.connection.lingerAndClose(within: linger ?? ServerConnection.longestLinger)
    }

    private func begin(_ exchange: Exchange) {
        exchange.position = exchanges.count
        exchanges.append(exchange)
    }

    private func ended(_ exchange: Exchange) {
        detach(exchange)
        metrics.openConnections -= 1
        configuration.connectionBudget.leave()
        resumeIfEmpty()
    }

    /// Lets the connection wait by itself; the exchange is free for another.
    private func park(_ exchange: Exchange) {
        detach(exchange)
        let connection = exchange.connection
        dormant?.add(connection.stream, from: connection.peer, listener: exchange.listener)
    }

    private func detach(_ exchange: Exchange) {
        guard let last = exchanges.popLast(), last !== exchange else { return }
        exchanges[exchange.position] = last
        last.position = exchange.position
    }

    private func resumeIfEmpty() {
        guard exchanges.isEmpty, dormant?.isEmpty ?? true else { return }
        emptied.forEach { $0.resume() }
        emptied = []
    }

    /// Lets go of the connections to upstreams that no request needs now.
    func closeIdleUpstreams() { for state in routes { state.pool.closeIdleEverywhere() } }

    /// Ends what a drain does not wait for; those who begin a head meanwhile have until the next call.
    private func endWaits(pace: Duration) {
        hasLingered = true
        lingerTimer?.set(after: pace)
        for exchange in exchanges { exchange.connection.hurry() }
        dormant?.closeAll()
        for exchange in exchanges where exchange.connection.isIdle {
            // Not closed: its task says the end in good order.
            exchange.connection.stream.readiness.interruptReader()
        }
    }

    /// Answers a head that could not be received.
    ///
    /// - Returns: whether there is an answer for the client to read.
    private func refuse(_ error: MessageError, _ exchange: Exchange) async -> Bool {
        exchange.connection.endAfterAnswer()
        // The body is that of the request before.
        exchange.connection.body.begin(.none, on: exchange.connection.stream)
        switch error {
        case .malformed(let reason): await reject(exchange, .malformedRequest(reason))
        case .headTimedOut: await reject(exchange, .requestTimedOut)
        case .unencrypted:
            metrics.countDenial(.tls)
            await reject(exchange, .unencryptedRequest)
        case .bodyTooLarge, .truncated, .stream: return false
        }
        record(exchange)
        return true
    }

    /// Tells somebody who may not even connect.
    private func refuse(_ stream: ByteStream, _ error: ProxyError, on worker: isolated Worker) {
        guard let (head, body) = Rejection(error, identity: nil)?.message() else { return stream.close() }
        var output: [UInt8] = []
        var closing = head
        Self.date(&closing)
        closing.fields.append(line: requestIDs.nextLine(), of: .xRequestID)
        closing.fields[.connection] = "close"
        closing.serialize(into: &output)
        output += body
        let message = output
        _ = startTask { await self.dismiss(stream, with: message) }
    }

    private func dismiss(_ stream: ByteStream, with message: [UInt8]) async {
        try? await stream.write(message, within: .seconds(1))
        await stream.endSending(within: .seconds(1))
        _ = try? await stream.fill(within: .seconds(1))
        stream.close()
    }

    // MARK: Access log

    /// Lines are written in batches, at the latest this long after the first of them.
    private static let flushInterval = Duration.milliseconds(100)

    /// Sees to it that what is in the access log is written soon.
    func accessLogChanged() {
        if accessLog.isFull { return flushAccessLog() }
        guard !flushIsDue else { return }
        flushIsDue = true
        let timer = flushTimer ?? LoopTimer(loop: loop) { [unowned self] in flushAccessLog() }
        flushTimer = timer
        timer.set(after: Self.flushInterval)
    }

    private func flushAccessLog() {
        flushIsDue = false
        guard let sink = configuration.accessLog else { return }
        accessLog.flush(to: sink)
    }
}
