// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// A snapshot as one worker uses it, with the worker's connections, tokens and counts.
final class WorkerRouting<Pool: ExchangePool> {
    let snapshot: RoutingSnapshot
    private let version: Int
    let routes: [RouteState<Pool>]
    private let listeners: [ListenerKey: ListenerRouting<Pool>]

    /// - Parameters:
    ///   - version: the worker's ``WorkerState/version``.
    ///   - before: the routing under the previous snapshot.
    ///   - tallies: the worker's counts for each route's name.
    init(
        _ snapshot: RoutingSnapshot, version: Int, after before: WorkerRouting?,
        tallies: inout [String: RouteTally],
        makePool: (SharedUpstream) -> Pool
    ) {
        var upstreams: [ObjectIdentifier: UpstreamState<Pool>] = [:]
        var tokens: [RouteKey: TokenState] = [:]
        for state in before?.routes ?? [] {
            upstreams[ObjectIdentifier(state.upstream.shared)] = state.upstream
            tokens[state.plan.key] = state.token
        }
        var routes: [RouteState<Pool>] = []
        for plan in snapshot.routes {
            let (name, shared) = (plan.key.path, plan.upstream)
            let upstream =
                upstreams[ObjectIdentifier(shared)]
                ?? UpstreamState(shared, pool: makePool(shared), route: name)
            upstreams[ObjectIdentifier(shared)] = upstream
            let tally = tallies[name] ?? RouteTally(name)
            tallies[name] = tally
            routes.append(
                RouteState(
                    plan: plan, upstream: upstream, token: .of(plan, known: tokens[plan.key]), tally: tally))
        }
        self.snapshot = snapshot
        self.version = version
        self.routes = routes
        listeners = Dictionary(
            snapshot.listeners.map {
                ($0.key, ListenerRouting($0, by: snapshot, version: version, routes: routes))
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// The routing for a listener's next requests; one that closes connections if the snapshot has no such
    /// listener.
    func routing(at listener: ListenerPolicy) -> ListenerRouting<Pool> {
        listeners[listener.key]
            ?? ListenerRouting(listener, by: snapshot, version: version, routes: routes, isClosing: true)
    }

    /// The routing for a listener of the snapshot.
    subscript(key: ListenerKey) -> ListenerRouting<Pool>? { listeners[key] }
}
