// SPDX-License-Identifier: Apache-2.0

/// The state of a connection's peer.
package enum PeerState: Sendable {
    /// The peer may still send.
    case present
    /// The peer has ended its direction, perhaps after bytes that still wait; it may still receive.
    case hasEnded
    /// The peer has closed its end of a Unix socket: it takes no more data, but what it sent can be read.
    case hasLeft
    /// The peer has reset the connection.
    case hasReset
}
