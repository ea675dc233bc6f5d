// SPDX-License-Identifier: Apache-2.0

internal import CSystem

extension ByteStream {
    /// What has passed on a connection: two that are equal say that nothing did in between.
    package struct Movement: Equatable, Sendable {
        private let received: UInt64
        private let sent: UInt64
        private let untaken: Int32

        /// - Parameters:
        ///   - received: bytes so far.
        ///   - sent: bytes so far.
        ///   - untaken: how many of those the peer has not taken.
        package init(received: UInt64, sent: UInt64, untaken: Int32) {
            self.received = received
            self.sent = sent
            self.untaken = untaken
        }
    }

    /// What has passed so far; a system call.
    package var movement: Movement {
        Movement(
            received: bytesReceived, sent: bytesSent,
            untaken: isOpen ? bearerd_untaken(readiness.descriptor) : 0)
    }

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
