// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc

/// The two ends of a TCP connection, by which the kernel knows whose the peer's is.
package struct ConnectionEnds: Sendable {
    private let ends: bearerd_ends

    /// Takes the addresses of a connected socket; nil for anything but TCP.
    package init?(of descriptor: CInt) {
        var ends = bearerd_ends()
        guard bearerd_ends_of(descriptor, &ends) == 0 else { return nil }
        self.ends = ends
    }

    /// Whether the peer's address is a loopback one.
    package var isLoopback: Bool {
        withUnsafeBytes(of: ends.peer_host) { host in
            ends.family == AF_INET
                ? host[0] == 127 : host[15] == 1 && host[..<15].allSatisfy { $0 == 0 }
        }
    }

    /// Asks the kernel for the one socket at the other end (`NETLINK_SOCK_DIAG`).
    ///
    /// Blocks for a second at most, as the kernel may have to load a module first. The answer is about whatever has these
    /// addresses at that moment: it counts only if the connection is still open afterwards.
    package func peerUser() -> PeerUser {
        var user = uid_t()
        let status = withUnsafePointer(to: ends) { bearerd_peer_holder($0, &user) }
        switch status {
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
