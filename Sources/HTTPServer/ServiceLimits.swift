// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// How much a small service takes upon itself.
package struct ServiceLimits: Sendable {
    /// The largest body of a request, in bytes.
    package static let bodyBytes: UInt64 = 64 << 10
    private static let mostConnections = 64
    private static let fewestConnections = 8

    /// Connections at once; one more takes the place of the oldest that is silent, or else waits.
    package var connections: Int
    /// `header` is the time for a whole request, from its first byte to the last of its body.
    package var timeouts: ServerTimeouts

    /// - Parameter connections: never fewer than 8, nor more than 64.
    package init(connections: Int = mostConnections, timeouts: ServerTimeouts = ServerTimeouts()) {
        self.connections = min(max(connections, Self.fewestConnections), Self.mostConnections)
        self.timeouts = timeouts
    }

    /// How many requests may be answered at once, but for probes: whoever waits long leaves room for those.
    var requestsAtOnce: Int { connections - Self.fewestConnections / 2 }
}
