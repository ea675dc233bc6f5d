// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// The routes of one listener that differ in nothing but the user who calls, and in whose token goes up.
struct CallerRoutes<Pool: ExchangePool> {
    /// What the route table finds for any user, and the routes for each.
    private struct Group {
        /// It carries no token, and nothing is ever forwarded by it.
        let common: RouteState<Pool>
        var byUser: [UInt32: RouteState<Pool>] = [:]
    }

    private let groups: [ObjectIdentifier: Group]
    /// All routes for the table: one for each group, and those for everybody.
    let found: [RouteState<Pool>]

    /// - Returns: `nil` where no route asks who calls.
    init?(_ routes: [RouteState<Pool>]) {
        guard routes.contains(where: { $0.plan.key.user != nil }) else { return nil }
        var groups: [RouteKey: Group] = [:]
        var found: [RouteState<Pool>] = []
        for route in routes {
            let key = route.plan.key.ofAnyUser
            guard let user = route.plan.key.user else {
                found.append(route)
                continue
            }
            if groups[key] == nil {
                let plan = PreparedRoute(key, to: route.plan.upstream, on: route.terms)
                let common = RouteState(plan: plan, upstream: route.upstream, token: nil, tally: route.tally)
                groups[key] = Group(common: common)
                found.append(common)
            }
            groups[key]?.byUser[user] = route
        }
        self.groups = Dictionary(
            groups.values.map { (ObjectIdentifier($0.common), $0) }, uniquingKeysWith: { first, _ in first })
        self.found = found
    }

    /// The route of a caller, of those that the table found as one.
    ///
    /// - Returns: `nil` where it is for other users, or nobody knows whose connection it is.
    func route(_ found: RouteState<Pool>, of peer: PeerAddress) -> RouteState<Pool>? {
        guard let group = groups[ObjectIdentifier(found)] else { return found }
        guard case .unix(let user, _) = peer else { return nil }
        return group.byUser[user]
    }
}
