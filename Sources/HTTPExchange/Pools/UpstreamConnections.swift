// SPDX-License-Identifier: Apache-2.0

/// The numbers of a pool's connections to its upstream; one carries an exchange, or several where its
/// protocol can.
package struct UpstreamConnections: Equatable, Sendable {
    /// Connections that are being opened.
    package var connecting: Int
    /// Connections that carry an exchange.
    package var active: Int
    /// Connections that are open and unused.
    package var idle: Int

    package init(connecting: Int, active: Int, idle: Int) {
        self.connecting = connecting
        self.active = active
        self.idle = idle
    }
}
