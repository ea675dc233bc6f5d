// SPDX-License-Identifier: Apache-2.0

internal import HTTPClient
internal import OAuth

/// One worker's share of a route: its upstream connections, its view of the token, its prepared bytes.
final class RouteState {
    let index: Int
    let route: Route
    let pool: UpstreamPool
    var token: TokenReader?
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    /// Upstream connections that carry a request, and that are being opened.
    var activeConnections = 0
    var connectingConnections = 0

    let upstreamPrefix: [UInt8]
    let upstreamAuthority: [UInt8]
    /// How many bytes of the target `strip_prefix` drops.
    let strippedCount: Int

    init(index: Int, route: Route, pool: UpstreamPool) {
        self.index = index
        self.route = route
        self.pool = pool
        token = route.session.map { TokenReader($0.slot) }
        upstreamPrefix = Array(route.upstreamPrefix.utf8)
        upstreamAuthority = Array(route.upstreamAuthority.utf8)
        let path = route.path.utf8
        strippedCount = route.stripPrefix ? (path.last == UInt8(ascii: "/") ? path.count - 1 : path.count) : 0
    }

    /// Whether the target is forwarded as it came.
    var keepsTarget: Bool { upstreamPrefix.isEmpty && strippedCount == 0 }
}
