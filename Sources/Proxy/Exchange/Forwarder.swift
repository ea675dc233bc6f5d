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
    /// What holds for requests that come from here on.
    private(set) var routing: WorkerRouting<Pool>
    /// Of ``routing``.
    private(set) var version: Int
    /// Those of earlier snapshots that still have a connection in use.
    private var leftUpstreams: [UpstreamState<Pool>] = []
    private let makePool: (SharedUpstream) -> Pool
    let clients: ClientWatch<Client, Pool>
    let recorder: Recorder
    /// Whether kept connections end with the answer at hand.
    var isDraining = false

    /// - Parameter makePool: makes a way to an upstream that there is none to yet.
    init(loop: EventLoop, snapshot: RoutingSnapshot, makePool: @escaping (SharedUpstream) -> Pool) {
        self.loop = loop
        self.makePool = makePool
        recorder = Recorder(loop: loop, snapshot: snapshot)
        routing = WorkerRouting(snapshot, after: nil, tallies: &recorder.tallies, makePool: makePool)
        version = snapshot.version
        clients = ClientWatch(loop: loop, patience: snapshot.serverTimeouts.halfClosed)
        clients.leave = { [unowned self] in leave($0) }
        heedShortages()
    }

    /// Has the requests that begin from here on served by another snapshot.
    ///
    /// What stays the same is found again: connections, tokens, counts. Connections that nobody needs any more end, those
    /// in use with their requests.
    ///
    /// - Returns: the routes that are gone.
    @discardableResult
    func use(_ snapshot: RoutingSnapshot) -> Set<RouteKey> {
        let before = routing
        routing = WorkerRouting(snapshot, after: before, tallies: &recorder.tallies, makePool: makePool)
        version = snapshot.version
        clients.use(patience: snapshot.serverTimeouts.halfClosed)
        recorder.use(snapshot)
        heedShortages()
        let kept = Set(routing.routes.map { ObjectIdentifier($0.upstream) })
        var left: Set<ObjectIdentifier> = []
        leftUpstreams.removeAll(where: \.isQuiet)
        for state in before.routes.map(\.upstream) where !kept.contains(ObjectIdentifier(state)) {
            guard left.insert(ObjectIdentifier(state)).inserted else { continue }
            state.pool.close()
            leftUpstreams.append(state)
        }
        return Set(before.routes.map(\.plan.key)).subtracting(routing.routes.map(\.plan.key))
    }

    private func heedShortages() {
        for route in routing.routes { route.pool.onShortage = { [unowned self] in closeIdleUpstreams() } }
    }

    /// An exchange for the clients of one connection after another.
    func makeExchange(for client: Client, on routing: ListenerRouting<Pool>) -> Exchange {
        Exchange(client: client, routing: routing, loop: loop)
    }

    /// What was counted so far.
    func metricsSnapshot() -> WorkerMetrics {
        var counts = recorder.counts
        leftUpstreams.removeAll(where: \.isQuiet)
        for state in upstreams + leftUpstreams {
            let connections = state.pool.connections
            counts.addUpstreamConnections(
                route: state.route, connecting: connections.connecting, active: connections.active,
                idle: connections.idle)
        }
        return counts
    }

    /// Those of the snapshot, each once.
    private var upstreams: [UpstreamState<Pool>] {
        var seen: Set<ObjectIdentifier> = []
        return routing.routes.map(\.upstream).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Whether there are connections to upstreams that wait for a request.
    var hasIdleUpstreams: Bool { routing.routes.contains { $0.pool.connections.idle > 0 } }

    /// Lets go of the connections to upstreams that no request needs now.
    func closeIdleUpstreams() { for state in routing.routes { state.pool.closeIdleEverywhere() } }

    /// Whether the client's connection ends with the answer at hand.
    @inline(__always)
    func endsConnection(of exchange: Exchange) -> Bool { isDraining || exchange.routing.isClosing }
}
