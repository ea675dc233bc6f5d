// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdObservability
internal import BearerdRouting

/// The state that all forwarders of a worker share: the snapshot in force, the connections to upstreams,
/// counts and logs.
///
/// Confined to the loop's thread.
final class WorkerState<Pool: ExchangePool> {
    /// The routing for requests that begin from now on.
    private(set) var routing: WorkerRouting<Pool>
    /// Grows each time that the rules for requests change, even if only a key or an authority changed.
    private(set) var version = 1
    let recorder: Recorder
    /// nil if nothing is traced.
    var tracer: Tracer?
    /// True if kept connections end with their current response.
    var isDraining = false
    /// Upstreams of earlier snapshots that still have a connection in use.
    private var leftUpstreams: [UpstreamState<Pool>] = []
    private let makePool: (SharedUpstream) -> Pool

    /// - Parameter makePool: makes the pool for an upstream that has none yet.
    init(loop: EventLoop, snapshot: RoutingSnapshot, makePool: @escaping (SharedUpstream) -> Pool) {
        self.makePool = makePool
        recorder = Recorder(loop: loop, snapshot: snapshot)
        tracer = snapshot.tracing.map { Tracer($0) }
        routing = WorkerRouting(
            snapshot, version: version, after: nil, tallies: &recorder.tallies, makePool: makePool)
        heedShortages()
    }

    var snapshot: RoutingSnapshot { routing.snapshot }

    /// Applies a snapshot to the requests that begin from now on.
    ///
    /// Connections, tokens and counts of what stays the same are kept. Unneeded connections end, those in use
    /// together with their requests.
    ///
    /// - Parameter snapshot: passing the current one again has requests judged anew, by a key or an authority
    ///   that changed.
    func use(_ snapshot: RoutingSnapshot) {
        let before = routing
        version += 1
        routing = WorkerRouting(
            snapshot, version: version, after: before, tallies: &recorder.tallies, makePool: makePool)
        recorder.use(snapshot)
        tracer = snapshot.tracing.map { Tracer($0) }
        heedShortages()
        let kept = Set(routing.routes.map { ObjectIdentifier($0.upstream) })
        var left: Set<ObjectIdentifier> = []
        leftUpstreams.removeAll(where: \.isQuiet)
        for state in before.routes.map(\.upstream) where !kept.contains(ObjectIdentifier(state)) {
            guard left.insert(ObjectIdentifier(state)).inserted else { continue }
            state.pool.close()
            leftUpstreams.append(state)
        }
    }

    private func heedShortages() {
        for route in routing.routes { route.pool.onShortage = { [unowned self] in closeIdleUpstreams() } }
    }

    /// The counts so far.
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

    /// The upstreams of the snapshot, each once.
    private var upstreams: [UpstreamState<Pool>] {
        var seen: Set<ObjectIdentifier> = []
        return routing.routes.map(\.upstream).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// True if connections to upstreams are open and unused.
    var hasIdleUpstreams: Bool { routing.routes.contains { $0.pool.connections.idle > 0 } }

    /// Closes the connections to upstreams that no request uses now.
    func closeIdleUpstreams() { for state in routing.routes { state.pool.closeIdleEverywhere() } }
}
