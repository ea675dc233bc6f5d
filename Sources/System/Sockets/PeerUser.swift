// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The user at the other end of a connection on this machine.
package enum PeerUser: Sendable, Equatable {
    case known(UInt32)
    /// No process of this network namespace has an open socket there: the connection is not accepted yet, was
    /// closed, or leads elsewhere through address translation.
    case nobody
    /// The user has no number in our user namespace.
    case ofOtherNamespace
    /// The kernel does not answer this question.
    case undiagnosed(SystemError)

    /// The number of every user without one in this namespace (`/proc/sys/kernel/overflowuid`).
    private static let overflow: UInt32 = 65534
    /// The content of `/proc/self/uid_map` if every user has a number: the initial namespace, or one like it.
    private static let wholeMap = ["0", "0", "4294967295"]

    /// Interprets a user number from the kernel.
    package init(seen user: UInt32) {
        self = user != Self.overflow || Self.seesEveryUser ? .known(user) : .ofOtherNamespace
    }

    /// The user at the other end of a Unix socket at the time of connecting or listening (`SO_PEERCRED`).
    package init(ofUnixSocket descriptor: CInt) {
        var user = uid_t()
        var process = pid_t()
        self =
            bearerd_peer_user(descriptor, &user, &process) == 0
            ? PeerUser(seen: user) : .undiagnosed(.last(.socketDiagnosis))
    }

    private static var seesEveryUser: Bool {
        guard let map = try? FileSystem.read("/proc/self/uid_map", limit: 4096).bytes else { return false }
        return String(decoding: map, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
            == wholeMap
    }

    /// Returns true if the user is known and one of `users`.
    package func isAmong(_ users: Set<UInt32>) -> Bool {
        if case .known(let user) = self { users.contains(user) } else { false }
    }

    /// A clause for people: the user, or the reason why it is not known.
    package var words: String {
        switch self {
        case .known(let user): "this is uid \(user)"
        case .nobody:
            "no process here holds the other end of the connection: nobody has accepted it, or addresses are translated"
        case .ofOtherNamespace: "its user has no number in this user namespace"
        case .undiagnosed(let error):
            "the kernel does not tell whose it is (\(error); a unit needs AF_NETLINK in RestrictAddressFamilies)"
        }
    }
}
