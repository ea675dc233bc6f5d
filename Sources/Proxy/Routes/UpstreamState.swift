// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// One worker's connections to one route's upstream; they survive a reload that keeps the upstream.
final class UpstreamState<Pool: ExchangePool> {
    let shared: SharedUpstream
    let pool: Pool
    /// The name of the route.
    let route: String

    init(_ shared: SharedUpstream, pool: Pool, route: String) {
        self.shared = shared
        self.pool = pool
        self.route = route
    }

    /// True if no connection is in use or being opened.
    var isQuiet: Bool {
        let connections = pool.connections
        return connections.active == 0 && connections.connecting == 0
    }
}
