// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// One worker's connections to one route's upstream; they outlive the snapshot for as long as the next one has it too.
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

    /// Whether there is no connection that is used or being made.
    var isQuiet: Bool {
        let connections = pool.connections
        return connections.active == 0 && connections.connecting == 0
    }
}
