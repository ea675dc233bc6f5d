// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem
internal import CBearerdSystem

extension ByteStream {
    /// True if a receive may find something.
    package var isReadable: Bool { readiness.isReadable }

    /// True if the peer has ended its direction, perhaps after bytes that still wait.
    package var peerHasEnded: Bool { readiness.peerHasEnded }

    /// The addresses and ports of both ends of a TCP connection, by which its peer's user is found; nil for
    /// other sockets.
    package var ends: ConnectionEnds? { isOpen ? ConnectionEnds(of: readiness.descriptor) : nil }

    /// True while a TCP connection exists, so that no other connection has its addresses.
    package var isConnected: Bool { isOpen && ConnectionEnds.areConnected(readiness.descriptor) }

    /// The number of sent bytes that the peer has not taken; a system call.
    package var untakenCount: Int { isOpen ? Int(bearerd_untaken(readiness.descriptor)) : 0 }

    /// True if the peer's kernel has taken everything that was sent; a system call.
    package var isTaken: Bool { !isOpen || bearerd_untaken(readiness.descriptor) <= 0 }

    /// True if bytes are on their way over TCP whose receipt the peer's kernel has not acknowledged; a system call.
    ///
    /// Those that it has no room for are not on their way, as long as it answers when it is asked for room.
    package var awaitsAcknowledgement: Bool {
        isOpen && bearerd_awaits_acknowledgement(readiness.descriptor) != 0
    }

    /// True if the kernel has data to receive, or the peer's end; a system call.
    package var hasArrivals: Bool { isOpen && bearerd_peer_state(readiness.descriptor) != 0 }

    /// Looks at the state of the peer, even if data from it still waits to be received; one or two system
    /// calls.
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
