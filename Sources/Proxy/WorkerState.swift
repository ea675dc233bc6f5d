// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// The state that all forwarders of a worker share: the snapshot in force, the connections to upstreams,
/// counts and logs.
///
/// Confined to the loop's thread.
final class WorkerState<Kinds: UpstreamKinds> {
    /// The routing for requests that begin from now on.
    private(set) var routing: WorkerRouting<Kinds>
    /// Grows each time that the rules for requests change, even if only a key or an authority changed.
    private(set) var version = 1
    let recorder: Recorder
    /// For answers that come without one.
    var date = DateField()
    /// nil if nothing is traced.
    var tracer: Tracer?
    /// True if kept connections end with their current response.
    var isDraining: Bool {
        get { drains }
        set { drains = newValue }
    }
    /// True if no exchange is waited for any longer.
    var isStopped = false
    /// Private for the sake of the compiler, which proves how it is used: it is asked with each request.
    private var drains = false
    /// Upstreams of earlier snapshots that still have a connection in use.
    private var leftUpstreams: [UpstreamState<Kinds>] = []
    private let makePools: (SharedUpstream) -> UpstreamPools<Kinds>

    /// - Parameter makePools: makes the pools of an upstream that has none yet.
    init(
        loop: EventLoop, snapshot: RoutingSnapshot,
        makePools: @escaping (SharedUpstream) -> UpstreamPools<Kinds>
    ) {
        self.makePools = makePools
        recorder = Recorder(loop: loop, snapshot: snapshot)
        tracer = snapshot.tracing.map { Tracer($0) }
        routing = WorkerRouting(
            snapshot, version: version, after: nil, tallies: &recorder.tallies, makePools: makePools)
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
            snapshot, version: version, after: before, tallies: &recorder.tallies, makePools: makePools)
        recorder.use(snapshot)
        tracer = snapshot.tracing.map { Tracer($0) }
        heedShortages()
        let kept = Set(routing.upstreams.map { ObjectIdentifier($0) })
        leftUpstreams.removeAll(where: \.isQuiet)
        for state in before.upstreams where !kept.contains(ObjectIdentifier(state)) {
            state.pools.all.forEach { $0.close() }
            leftUpstreams.append(state)
        }
    }

    private func heedShortages() {
        for state in routing.upstreams {
            for pool in state.pools.all { pool.onShortage = { [unowned self] in closeIdleUpstreams() } }
        }
    }

    /// The counts so far.
    func metricsSnapshot() -> WorkerMetrics {
        var counts = recorder.counts
        leftUpstreams.removeAll(where: \.isQuiet)
        for state in routing.upstreams + leftUpstreams {
            for connections in state.pools.all.map(\.connections) {
                counts.addUpstreamConnections(
                    route: state.route, connecting: connections.connecting, active: connections.active,
                    idle: connections.idle)
            }
        }
        return counts
    }

    /// Gives up what the pools of upstreams keep for later exchanges.
    func releaseMemory() {
        for pool in routing.upstreams.flatMap(\.pools.all) { pool.releaseMemory() }
    }

    /// True if connections to upstreams are open and unused.
    var hasIdleUpstreams: Bool { routing.upstreams.flatMap(\.pools.all).contains { $0.connections.idle > 0 } }

    /// Closes the connections to upstreams that no request uses now.
    func closeIdleUpstreams() {
        for pool in routing.upstreams.flatMap(\.pools.all) { pool.closeIdleEverywhere() }
    }
}
