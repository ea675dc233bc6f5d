// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// A listener's routes that differ only in the calling user, and hence in the token.
struct CallerRoutes<Pool: ExchangePool> {
    /// Routes that differ only in the calling user.
    private struct Group {
        /// The route that stands for the group in the route table; it carries no token and forwards nothing.
        let common: RouteState<Pool>
        var byUser: [UInt32: RouteState<Pool>] = [:]
    }

    private let groups: [ObjectIdentifier: Group]
    /// The routes for the table: one for each group, and those for all users.
    let found: [RouteState<Pool>]

    /// - Returns: nil if no route depends on the calling user.
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

    /// The route of the caller's user, where the table found a group.
    ///
    /// - Returns: nil if the group has no route for that user, or the user is unknown.
    func route(_ found: RouteState<Pool>, of peer: PeerAddress) -> RouteState<Pool>? {
        guard let group = groups[ObjectIdentifier(found)] else { return found }
        guard case .unix(let user, _) = peer else { return nil }
        return group.byUser[user]
    }
}
