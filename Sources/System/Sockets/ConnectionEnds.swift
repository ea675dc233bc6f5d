// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The two ends of a TCP connection, by which the kernel knows whose the peer's is.
package struct ConnectionEnds: Sendable {
    /// What `bearerd_ends_of` says.
    private let bytes: [UInt8]

    /// Takes the addresses of a connected socket; nil for anything but TCP.
    package init?(of descriptor: CInt) {
        var bytes = [UInt8](repeating: 0, count: Int(BEARERD_ENDS_BYTES))
        guard bearerd_ends_of(descriptor, &bytes) == 0 else { return nil }
        self.bytes = bytes
    }

    /// Whether the peer's address is a loopback one.
    package var isLoopback: Bool { bearerd_is_peer_loopback(bytes) == 1 }

    /// Asks the kernel for the one socket at the other end (`NETLINK_SOCK_DIAG`).
    ///
    /// Blocks for a second at most, as the kernel may have to load a module first. The answer is about whatever has these
    /// addresses at that moment: it counts only if the connection is still open afterwards.
    package func peerUser() -> PeerUser {
        var user = uid_t()
        switch bearerd_peer_holder(bytes, &user) {
        case 0: return PeerUser(seen: user)
        case 1: return .nobody
        default: return .undiagnosed(.last(.socketDiagnosis))
        }
    }
}

extension ConnectionEnds {
    /// Whether a TCP socket is connected, and its peer has not reset it.
    package static func areConnected(_ descriptor: CInt) -> Bool { bearerd_is_connected(descriptor) == 1 }
}
