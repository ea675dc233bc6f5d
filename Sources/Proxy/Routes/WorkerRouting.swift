// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// A snapshot as one worker uses it, with the worker's connections, tokens and counts.
final class WorkerRouting<Kinds: UpstreamKinds> {
    let snapshot: RoutingSnapshot
    private let version: Int
    /// The connections to upstreams, each once.
    let upstreams: [UpstreamState<Kinds>]
    private let routes: [RouteByKind<Kinds>]
    private let listeners: [ListenerKey: ListenerRouting<Kinds>]

    /// - Parameters:
    ///   - version: the worker's ``WorkerState/version``.
    ///   - before: the routing under the previous snapshot.
    ///   - tallies: the worker's counts for each route's name.
    init(
        _ snapshot: RoutingSnapshot, version: Int, after before: WorkerRouting?,
        tallies: inout [String: RouteTally],
        makePools: (SharedUpstream) -> UpstreamPools<Kinds>
    ) {
        var known: [ObjectIdentifier: UpstreamState<Kinds>] = [:]
        for state in before?.upstreams ?? [] { known[ObjectIdentifier(state.shared)] = state }
        var tokens: [RouteKey: TokenState] = [:]
        for route in before?.routes ?? [] { tokens[route.state.plan.key] = route.state.token }
        var upstreams: [ObjectIdentifier: UpstreamState<Kinds>] = [:]
        var routes: [RouteByKind<Kinds>] = []
        for plan in snapshot.routes {
            let (name, shared) = (plan.key.path, plan.upstream)
            let identifier = ObjectIdentifier(shared)
            let upstream =
                upstreams[identifier] ?? known[identifier]
                ?? UpstreamState(shared, by: makePools(shared), route: name)
            upstreams[identifier] = upstream
            let tally = tallies[name] ?? RouteTally(name)
            tallies[name] = tally
            routes.append(
                RouteByKind(
                    by: upstream.pools, plan: plan, token: .of(plan, known: tokens[plan.key]), tally: tally,
                    answers: upstream.answers))
        }
        self.snapshot = snapshot
        self.version = version
        self.upstreams = Array(upstreams.values)
        self.routes = routes
        listeners = Dictionary(
            snapshot.listeners.map {
                ($0.key, ListenerRouting($0, by: snapshot, version: version, routes: routes))
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// The routing for a listener's next requests; one that closes connections if the snapshot has no such
    /// listener.
    func routing(at listener: ListenerPolicy) -> ListenerRouting<Kinds> {
        listeners[listener.key]
            ?? ListenerRouting(listener, by: snapshot, version: version, routes: routes, isClosing: true)
    }

    /// True if the listener's connections of this protocol end, because there is no such listener, or it has another protocol.
    func ends(_ version: HTTPVersion, at listener: ListenerPolicy) -> Bool {
        listeners[listener.key]?.endsConnections(of: version) ?? true
    }

    /// The routing for a listener of the snapshot.
    subscript(key: ListenerKey) -> ListenerRouting<Kinds>? { listeners[key] }
}
