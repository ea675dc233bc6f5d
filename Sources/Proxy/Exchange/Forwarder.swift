// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPExchange
internal import HTTPMessages
internal import Observability

/// Takes one request after another through one event loop's share of the proxy: see ``exchange(_:)``.
///
/// It knows messages, whatever protocols carry them, and never a socket. Confined to the loop's thread: all its
/// functions run on the executor of their caller, so that none of the calls on a request's way has to ask for the
/// executor it is on already.
final class Forwarder<Client: ClientExchange, Pool: ExchangePool> {
    typealias Exchange = Proxy.Exchange<Client, Pool>

    let loop: EventLoop
    let configuration: WorkerConfiguration
    let table: RouteTable
    let routes: [RouteState<Pool>]
    let clients: ClientWatch<Client, Pool>
    let recorder: Recorder
    /// Whether kept connections end with the answer at hand.
    var isDraining = false

    /// - Parameter pools: one for each route, in their order.
    init(loop: EventLoop, configuration: WorkerConfiguration, pools: [Pool]) {
        self.loop = loop
        self.configuration = configuration
        table = RouteTable(configuration.routes)
        clients = ClientWatch(loop: loop, patience: configuration.serverTimeouts.halfClosed)
        routes = zip(configuration.routes, pools).enumerated().map { index, pair in
            RouteState(
                plan: PreparedRoute(index: index, route: pair.0), pool: pair.1,
                report: configuration.upstreamReports[index])
        }
        recorder = Recorder(loop: loop, configuration: configuration)
        clients.leave = { [unowned self] in leave($0) }
        for route in routes { route.pool.onShortage = { [unowned self] in closeIdleUpstreams() } }
    }

    /// An exchange for the clients of one connection after another.
    func makeExchange(for client: Client, listener: Int) -> Exchange {
        Exchange(client: client, listener: listener, loop: loop)
    }

    /// What was counted so far.
    func metricsSnapshot() -> WorkerMetrics {
        var snapshot = recorder.metrics
        for state in routes {
            snapshot.setUpstreamConnections(
                route: state.index, connecting: state.pool.connectingCount, active: state.activeConnections,
                idle: state.pool.idleCount)
        }
        return snapshot
    }

    /// Whether there are connections to upstreams that wait for a request.
    var hasIdleUpstreams: Bool { routes.contains { $0.pool.idleCount > 0 } }

    /// Lets go of the connections to upstreams that no request needs now.
    func closeIdleUpstreams() { for state in routes { state.pool.closeIdleEverywhere() } }
}
