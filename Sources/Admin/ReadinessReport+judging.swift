// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import OAuth

extension ReadinessReport {
    /// Judges the identities that these routes name.
    ///
    /// The name of an identity's state decides nothing: with an unexpired token a route is ready.
    package init(routes: [AdminRoute], statuses: [IdentityStatus], isDraining: Bool, now: Instant) {
        let waiting = statuses.filter { status in
            routes.contains { $0.identity == status.name && !status.hasUsableToken(for: $0.target, at: now) }
        }
        self.init(
            reasons: (isDraining ? [.draining] : [])
                + waiting.map { .noToken(identity: $0.name, state: $0.state) })
    }
}
