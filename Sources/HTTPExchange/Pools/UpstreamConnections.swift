// SPDX-License-Identifier: Apache-2.0

/// How many connections a pool has to its upstream; each carries one exchange, or several where its protocol can.
package struct UpstreamConnections: Equatable, Sendable {
    /// Those that are being made.
    package var connecting: Int
    /// Those that carry an exchange.
    package var active: Int
    /// Those that wait for one.
    package var idle: Int

    package init(connecting: Int, active: Int, idle: Int) {
        self.connecting = connecting
        self.active = active
        self.idle = idle
    }
}
