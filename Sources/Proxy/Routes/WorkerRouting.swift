// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// One worker's take on a snapshot.
final class WorkerRouting<Pool: ExchangePool> {
    let snapshot: RoutingSnapshot
    private let version: Int
    let routes: [RouteState<Pool>]
    private let listeners: [ListenerKey: ListenerRouting<Pool>]

    /// - Parameters:
    ///   - version: the worker's.
    ///   - before: of the snapshot before.
    ///   - tallies: by the routes' names.
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

    /// What holds for a listener's requests from here on.
    func routing(at listener: ListenerPolicy) -> ListenerRouting<Pool> {
        listeners[listener.key]
            ?? ListenerRouting(listener, by: snapshot, version: version, routes: routes, isClosing: true)
    }

    /// What holds for a listener of the snapshot.
    subscript(key: ListenerKey) -> ListenerRouting<Pool>? { listeners[key] }
}
