// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// The peer of an accepted connection.
package enum PeerAddress: Sendable, Equatable {
    /// An IP address in text form, without the port.
    case ip(String)
    /// The user and process at the other end of a Unix socket, as the kernel knows them (`SO_PEERCRED`).
    case unix(user: UInt32, process: Int32)
    case unknown

    /// The address for logs and `X-Forwarded-For`; `unix:` for a Unix socket.
    package var text: String {
        switch self {
        case .ip(let address): address
        case .unix: "unix:"
        case .unknown: "unknown"
        }
    }

    init(of descriptor: CInt, storage: inout sockaddr_storage, length: socklen_t) {
        switch CInt(storage.ss_family) {
        case AF_UNIX:
            var user = uid_t()
            var process = pid_t()
            self =
                bearerd_peer_user(descriptor, &user, &process) == 0
                ? .unix(user: user, process: process) : .unknown
        case AF_INET:
            self = .ip(SocketAddress.text(ofIPv4: storage))
        case AF_INET6:
            self = SocketAddress.text(of: &storage, length: length).map { .ip($0.host) } ?? .unknown
        default:
            self = .unknown
        }
    }
}
