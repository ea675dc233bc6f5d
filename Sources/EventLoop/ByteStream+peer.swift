// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
package import BearerdSystem

extension ByteStream {
    /// The ends of a TCP connection, by which its peer's user is found; nil for anything else.
    package var ends: ConnectionEnds? { isOpen ? ConnectionEnds(of: readiness.descriptor) : nil }

    /// Whether a TCP connection is still the one that it was: its addresses are nobody else's before its end.
    package var isConnected: Bool { isOpen && ConnectionEnds.areConnected(readiness.descriptor) }

    /// How many of the bytes that were sent the peer has not taken; a system call.
    package var untakenCount: Int { isOpen ? Int(bearerd_untaken(readiness.descriptor)) : 0 }

    /// Whether the peer's kernel has taken all that was sent; a system call.
    package var isTaken: Bool { !isOpen || bearerd_untaken(readiness.descriptor) <= 0 }

    /// Whether the kernel has something to receive, if only the end; a system call.
    package var hasArrivals: Bool { isOpen && bearerd_peer_state(readiness.descriptor) != 0 }

    /// Asks how the peer stands to the connection, whatever still waits to be received; a system call or two.
    package func lookAtPeer() -> PeerState {
        guard isOpen else { return .hasReset }
        let seen = bearerd_peer_state(readiness.descriptor)
        if seen & BEARERD_PEER_RESET != 0 { return .hasReset }
        if seen & BEARERD_PEER_LEFT != 0 { return .hasLeft }
        // Not for TLS to find: it takes an end without its announcement for a failure, and would send nothing more.
        if seen & BEARERD_PEER_ENDED != 0 || readiness.peerHasEnded { return .hasEnded }
        guard readiness.isReadable else { return .present }
        return hasFoundEnd(hasArrived: seen & BEARERD_PEER_SENT != 0) ? .hasEnded : .present
    }
}
