// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdHTTPMessages
import BearerdRouting

extension RouteKey {
    /// The requests that the route takes, as the admin listener tells them.
    var scope: RouteScope {
        RouteScope(
            path: path, host: host?.description, methods: methods?.map(\.rawValue).sorted() ?? [],
            listen: listen?.description)
    }
}
