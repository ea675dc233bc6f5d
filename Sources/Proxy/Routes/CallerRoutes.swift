// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting

/// A listener's routes that differ only in the calling user, and hence in the token.
struct CallerRoutes<Kinds: UpstreamKinds> {
    /// Routes that differ only in the calling user.
    private struct Group {
        /// The route that stands for the group in the route table; it carries no token and forwards nothing.
        let common: RouteByKind<Kinds>
        var byUser: [UInt32: RouteByKind<Kinds>] = [:]
    }

    private let groups: [ObjectIdentifier: Group]
    /// The routes for the table: one for each group, and those for all users.
    let found: [RouteByKind<Kinds>]

    /// - Returns: nil if no route depends on the calling user.
    init?(_ routes: [RouteByKind<Kinds>]) {
        guard routes.contains(where: { $0.state.plan.key.user != nil }) else { return nil }
        var groups: [RouteKey: Group] = [:]
        var found: [RouteByKind<Kinds>] = []
        for route in routes {
            let state = route.state
            let key = state.plan.key.ofAnyUser
            guard let user = state.plan.key.user else {
                found.append(route)
                continue
            }
            if groups[key] == nil {
                let plan = PreparedRoute(key, to: state.shared, on: state.terms)
                let common = RouteByKind(
                    by: route.pools, plan: plan, token: nil, tally: state.tally, answers: state.answers)
                groups[key] = Group(common: common)
                found.append(common)
            }
            groups[key]?.byUser[user] = route
        }
        self.groups = Dictionary(
            groups.values.map { (ObjectIdentifier($0.common.state), $0) },
            uniquingKeysWith: { first, _ in first })
        self.found = found
    }

    /// The route of the caller's user, where the table found a group.
    ///
    /// - Returns: nil if the group has no route for that user, or the user is unknown.
    func route(_ found: RouteByKind<Kinds>, of peer: PeerAddress) -> RouteByKind<Kinds>? {
        guard let group = groups[ObjectIdentifier(found.state)] else { return found }
        guard case .unix(let user, _) = peer else { return nil }
        return group.byUser[user]
    }
}
