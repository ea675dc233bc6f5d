// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// One worker's connections to one route's upstream; they survive a reload that keeps the upstream.
final class UpstreamState<Kinds: UpstreamKinds> {
    let shared: SharedUpstream
    let pools: UpstreamPools<Kinds>
    /// This worker's answers on the route.
    let answers: RecentAnswers
    /// The name of the route.
    let route: String

    init(_ shared: SharedUpstream, by pools: UpstreamPools<Kinds>, route: String) {
        self.shared = shared
        self.pools = pools
        answers = shared.judge.makeShare()
        self.route = route
    }

    /// True if no connection is in use or being opened.
    var isQuiet: Bool {
        pools.all.allSatisfy { pool in
            let connections = pool.connections
            return connections.active == 0 && connections.connecting == 0
        }
    }
}
