// SPDX-License-Identifier: Apache-2.0

package import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes
package import Observability

/// One event loop's share of the proxy: its listeners, client connections and upstream pools.
///
/// Everything here runs on the loop's thread. A connection is one task, from accept to close.
package actor Worker: LoopConfined {
    package nonisolated let loop: EventLoop

    let configuration: WorkerConfiguration
    let table: RouteTable
    let routes: [RouteState]
    var metrics: WorkerMetrics
    var requestIDs = RequestIDs()
    var accessLog: AccessLog
    private(set) var isDraining = false
    /// Whether a drain waits no longer for what idle connections may send.
    private var hasLingered = false

    private var listeners: [Listener] = []
    /// Accepted while another worker let the last one in that there was room for: they wait as if in the queue.
    private var waiting: [(stream: ByteStream, peer: PeerAddress, listener: Int)] = []
    /// Whether the accept queues wait for room.
    private var isFull = false
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    private var emptied: [CheckedContinuation<Void, Never>] = []
    let rest: Rest
    private var flushTimer: LoopTimer?
    private var flushIsDue = false

    /// - Parameters:
    ///   - loop: must be running, or be started soon.
    package init(loop: EventLoop, configuration: WorkerConfiguration) {
        self.loop = loop
        self.configuration = configuration
        table = RouteTable(configuration.routes)
        let multis = CurlMultiSet(loop: loop)
        let routes = configuration.routes.enumerated().map { index, route in
            RouteState(
                index: index, route: route,
                pool: UpstreamPool(
                    address: route.upstream, limit: configuration.upstreamLimits[index],
                    lifetimes: UpstreamPool.Lifetimes(
                        idle: route.timeouts.upstreamIdle, age: route.timeouts.upstreamAge),
                    multis: multis))
        }
        self.routes = routes
        rest = Rest(loop: loop) { routes.contains { $0.pool.idleCount > 0 } }
        metrics = WorkerMetrics(routes: configuration.routes.count)
        accessLog = AccessLog(format: configuration.logFormat, routes: configuration.routes.map(\.path))
    }

    /// Accepts connections on `socket` until ``drain()``.
    ///
    /// - Parameter index: of the listener in the configuration.
    package func listen(on socket: ListeningSocket, listener index: Int) {
        listeners.append(
            Listener(socket, loop: loop) { stream, peer in
                // On the loop's thread, which is this actor's executor. The cycle ends in drain().
                self.accepted(stream, peer, listener: index)
            })
    }

    /// Serves what waits in the accept queues, then accepts no more; the sockets may be closed after that.
    package func stopAccepting() {
        isDraining = true
        acceptWaiting()
        listeners.forEach { $0.close() }
        listeners = []
    }

    /// Stops accepting, then returns when the last connection is gone.
    ///
    /// Requests on kept connections are answered with `Connection: close`; what stays idle is let go after `linger`.
    package func drain(linger: Duration) async {
        stopAccepting()
        let timer = LoopTimer(loop: loop) { self.closeIdleConnections() }
        timer.set(after: linger)
        await withCheckedContinuation { continuation in
            if exchanges.isEmpty { continuation.resume() } else { emptied.append(continuation) }
        }
        timer.cancel()
        flushAccessLog()
    }

    /// Cuts every connection.
    package func stop() {
        stopAccepting()
        for exchange in exchanges.values {
            exchange.upstream?.stream.close()
            exchange.connection.stream.close()
        }
        rest.cancel()
        flushAccessLog()
    }

    /// Does nothing, on the worker's loop: whoever waits for it learns that the loop turns.
    package func turn() {}

    /// What was counted so far.
    package func metricsSnapshot() -> WorkerMetrics {
        var snapshot = metrics
        for state in routes {
            snapshot.setUpstreamConnections(
                route: state.index, connecting: state.connectingConnections, active: state.activeConnections,
                idle: state.pool.idleCount)
        }
        return snapshot
    }

    // MARK: Connections

    private func accepted(_ stream: ByteStream, _ peer: PeerAddress, listener: Int) {
        guard configuration.access.admits(peer) else {
            metrics.countDenial(.peer)
            return refuse(stream, .accessDenied(.peer))
        }
        let admission = configuration.connectionBudget.enter(mayExceed: isDraining) { [loop] in
            loop.execute { self.assumeIsolated { worker in worker.resumeAccepting() } }
        }
        if admission != .withRoomForMore {
            isFull = true
            listeners.forEach { $0.pause() }
        }
        guard admission != .refused else { return waiting.append((stream, peer, listener)) }
        let connection = ServerConnection(
            stream: stream, peer: peer, limits: configuration.headLimits,
            timeouts: configuration.serverTimeouts)
        let exchange = Exchange(connection: connection, listener: listener)
        exchanges[ObjectIdentifier(exchange)] = exchange
        metrics.openConnections += 1
        Task { await self.onLoop { await self.serve(exchange) } }
    }

    /// Runs `body` as a task that never leaves the loop.
    ///
    /// Being on this actor is not enough: a continuation that is resumed by the loop may be queued on the global pool,
    /// and come back from there, unless the task itself prefers the loop.
    func onLoop(_ body: () async -> Void) async {
        await withTaskExecutorPreference(loop) { await body() }
    }

    private func resumeAccepting() {
        isFull = false
        acceptWaiting()
        if !isFull { listeners.forEach { $0.resume() } }
    }

    private func acceptWaiting() {
        let connections = waiting
        waiting = []
        for (stream, peer, index) in connections { accepted(stream, peer, listener: index) }
    }

    /// The life of one connection.
    private func serve(_ exchange: Exchange) async {
        let connection = exchange.connection
        var mustLinger = false
        do throws(MessageError) {
            while try await connection.receiveHead() {
                await self.exchange(exchange)
                mustLinger = !connection.body.isFinished || (exchange.status >= 400 && !connection.persists)
                guard connection.persists, !mustLinger, !(hasLingered && connection.stream.input.isEmpty)
                else { break }
                connection.answered()
            }
        } catch {
            exchange.begin()
            mustLinger = await refuse(error, exchange)
        }
        if mustLinger { await connection.lingerAndClose() } else { connection.stream.close() }
        ended(exchange)
    }

    private func ended(_ exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = nil
        metrics.openConnections -= 1
        configuration.connectionBudget.leave()
        guard exchanges.isEmpty else { return }
        emptied.forEach { $0.resume() }
        emptied = []
    }

    private func closeIdleConnections() {
        hasLingered = true
        for exchange in exchanges.values where exchange.connection.isIdle {
            exchange.connection.stream.close()
        }
    }

    /// Answers a head that could not be received.
    ///
    /// - Returns: whether there is an answer for the client to read.
    private func refuse(_ error: MessageError, _ exchange: Exchange) async -> Bool {
        exchange.connection.endAfterAnswer()
        switch error {
        case .malformed(let reason): await reject(exchange, .malformedRequest(reason))
        case .headTimedOut: await reject(exchange, .requestTimedOut)
        case .bodyTooLarge, .truncated, .stream: return false
        }
        record(exchange)
        return true
    }

    /// Tells somebody who may not even connect.
    private func refuse(_ stream: ByteStream, _ error: ProxyError) {
        guard let (head, body) = Rejection(error, loginURL: nil)?.message() else { return stream.close() }
        var output: [UInt8] = []
        var closing = head
        closing.fields[.connection] = "close"
        closing.serialize(into: &output)
        output += body
        let message = output
        Task { await self.onLoop { await self.dismiss(stream, with: message) } }
    }

    private func dismiss(_ stream: ByteStream, with message: [UInt8]) async {
        try? await stream.write(message, within: .seconds(1))
        stream.endSending()
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
        let timer = flushTimer ?? LoopTimer(loop: loop) { self.flushAccessLog() }
        flushTimer = timer
        timer.set(after: Self.flushInterval)
    }

    private func flushAccessLog() {
        flushIsDue = false
        guard let sink = configuration.accessLog else { return }
        accessLog.flush(to: sink)
    }
}
