// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import OAuth

extension ReadinessReport {
    /// Judges the identities of these routes.
    ///
    /// The name of an identity's state decides nothing: with an unexpired token a route can serve, and so can one
    /// without an identity.
    ///
    /// - Parameter oneSuffices: true if it is enough that one of the routes can serve, false if all must.
    package init(
        routes: [AdminRoute], oneSuffices: Bool = false, statuses: [SessionStatus], isDraining: Bool,
        now: Instant
    ) {
        func canServe(_ route: AdminRoute) -> Bool {
            guard let identity = route.identity else { return true }
            return statuses.contains {
                $0.name == identity && $0.hasUsableToken(for: route.target, at: now)
            }
        }
        var waiting = statuses.filter { status in
            routes.contains { $0.identity == status.name && !status.hasUsableToken(for: $0.target, at: now) }
        }
        if oneSuffices, routes.contains(where: canServe) { waiting = [] }
        self.init(
            reasons: (isDraining ? [.draining] : [])
                + waiting.map { .noToken(identity: $0.name, state: $0.state) })
    }
}
