// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// The limits of a small service.
package struct ServiceLimits: Sendable {
    /// The largest body of a request, in bytes.
    package static let bodyBytes: UInt64 = 64 << 10
    private static let mostConnections = 64
    private static let fewestConnections = 8

    /// The most connections at once; a further one replaces the oldest silent one, or else waits.
    package var connections: Int
    /// The time-outs; `header` covers a whole request, from its first byte to the last of its body.
    package var timeouts: ServerTimeouts

    /// - Parameter connections: never fewer than 8, nor more than 64.
    package init(connections: Int = mostConnections, timeouts: ServerTimeouts = ServerTimeouts()) {
        self.connections = min(max(connections, Self.fewestConnections), Self.mostConnections)
        self.timeouts = timeouts
    }

    /// The most requests answered at once, without probes; the rest of the connections is left for those.
    var requestsAtOnce: Int { connections - Self.fewestConnections / 2 }
}
