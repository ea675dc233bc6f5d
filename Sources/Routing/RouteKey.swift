// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The requests that a route matches; routes of two configurations are the same if their keys are equal.
package struct RouteKey: Hashable, Sendable {
    /// A prefix of the request's path, in whole segments; as configured, it names the route in logs and metrics.
    package var path: String
    /// The host that a request must name; nil for any.
    package var host: HostPattern?
    /// The listener that a request must come in on, as configured; nil for any.
    package var listen: ListenAddress?
    /// The accepted methods; nil for any.
    package var methods: Set<HTTPMethod>?

    /// The user that a request must come from, in a route with identities by user; nil for any.
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

    /// The path in the spelling by which it is compared with those of requests.
    package var canonicalPath: [UInt8] { RequestPath.canonical(path.utf8.span) }

    /// The key without the user: it is the same for all users of one route.
    package var ofAnyUser: RouteKey {
        var key = self
        key.user = nil
        return key
    }
}
