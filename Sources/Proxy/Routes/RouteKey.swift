// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// Which requests a route is for: what makes a route of one configuration the same one in the next.
package struct RouteKey: Hashable, Sendable {
    private let path: String
    private let host: String?
    private let listener: ListenerKey?
    private let methods: Set<HTTPMethod>?

    package init(path: String, host: String?, listener: ListenerKey?, methods: Set<HTTPMethod>?) {
        self.path = path
        self.host = host
        self.listener = listener
        self.methods = methods
    }

    init(_ route: Route) {
        self.init(path: route.path, host: route.host, listener: route.listener, methods: route.methods)
    }
}
