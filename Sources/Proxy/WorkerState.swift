// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdObservability
internal import BearerdRouting

/// What all requests of one worker have in common, whatever protocols carry them: the snapshot in force, the connections to
/// upstreams, what is counted and logged.
///
/// Each ``Forwarder`` of the worker has it. Confined to the loop's thread.
final class WorkerState<Pool: ExchangePool> {
    /// What holds for requests that come from here on.
    private(set) var routing: WorkerRouting<Pool>
    /// Another one each time that what requests are judged by has changed, which may be a key or an authority alone.
    private(set) var version = 1
    let recorder: Recorder
    /// nil where nothing is traced.
    var tracer: Tracer?
    /// Whether kept connections end with the answer at hand.
    var isDraining = false
    /// Those of earlier snapshots that still have a connection in use.
    private var leftUpstreams: [UpstreamState<Pool>] = []
    private let makePool: (SharedUpstream) -> Pool

    /// - Parameter makePool: makes a way to an upstream that there is none to yet.
    init(loop: EventLoop, snapshot: RoutingSnapshot, makePool: @escaping (SharedUpstream) -> Pool) {
        self.makePool = makePool
        recorder = Recorder(loop: loop, snapshot: snapshot)
        tracer = snapshot.tracing.map { Tracer($0) }
        routing = WorkerRouting(
            snapshot, version: version, after: nil, tallies: &recorder.tallies, makePool: makePool)
        heedShortages()
    }

    var snapshot: RoutingSnapshot { routing.snapshot }

    /// Has the requests that begin from here on served by another snapshot.
    ///
    /// What stays the same is found again: connections, tokens, counts. Connections that nobody needs any more end, those
    /// in use with their requests.
    ///
    /// - Parameter snapshot: the same one has requests judged anew by what has changed beside it.
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
}
