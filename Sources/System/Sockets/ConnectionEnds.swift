// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The addresses and ports of both ends of a TCP connection, by which the kernel finds the peer's user.
package struct ConnectionEnds: Sendable {
    /// The record that `bearerd_ends_of` fills.
    private let bytes: [UInt8]

    /// Reads the addresses of a connected socket; nil for anything but TCP.
    package init?(of descriptor: CInt) {
        var bytes = [UInt8](repeating: 0, count: Int(BEARERD_ENDS_BYTES))
        guard bearerd_ends_of(descriptor, &bytes) == 0 else { return nil }
        self.bytes = bytes
    }

    /// True if the peer's address is a loopback one.
    package var isLoopback: Bool { bearerd_is_peer_loopback(bytes) == 1 }

    /// Asks the kernel for the user of the socket at the other end (`NETLINK_SOCK_DIAG`).
    ///
    /// Blocks for a second at most, because the kernel may have to load a module. The answer is about the
    /// socket that has these addresses at that moment, so it is valid only if the connection is still open
    /// afterwards.
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
    /// Returns true if a TCP socket is connected and not reset by its peer.
    package static func areConnected(_ descriptor: CInt) -> Bool { bearerd_is_connected(descriptor) == 1 }
}
