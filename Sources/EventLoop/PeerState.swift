// SPDX-License-Identifier: Apache-2.0

/// How a peer stands to its connection.
package enum PeerState: Sendable {
    /// It may still send.
    case present
    /// It has ended its direction, perhaps behind bytes that still wait; it may still receive.
    case hasEnded
    /// It takes nothing any more, but what it sent can be read: it has closed its end of a Unix socket.
    case hasLeft
    /// It has reset the connection.
    case hasReset
}
