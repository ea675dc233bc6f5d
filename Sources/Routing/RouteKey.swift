// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// Which requests a route is for: what makes a route of one configuration the same one in the next.
package struct RouteKey: Hashable, Sendable {
    /// The beginning of the request's path, in whole segments; as configured, the route's name in logs and metrics.
    package var path: String
    /// The host that a request must name; `nil` for any.
    package var host: HostPattern?
    /// The listener that a request must come in on, as configured; `nil` for any.
    package var listen: ListenAddress?
    /// The methods that are let through; `nil` for any.
    package var methods: Set<HTTPMethod>?

    /// The user that a request must come from, of a route with an identity for each; `nil` for any.
    package var user: UInt32?

    package init(
        path: String = "/", host: HostPattern? = nil, listen: ListenAddress? = nil,
        methods: Set<HTTPMethod>? = nil, user: UInt32? = nil
    ) {
        self.path = path
        self.host = host
        self.listen = listen
        self.methods = methods
        self.user = user
    }

    /// The key without the user who calls: what the routes for each user of one route have in common.
    package var ofAnyUser: RouteKey {
        var key = self
        key.user = nil
        return key
    }
}
