// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The user at the other end of a connection on this machine.
package enum PeerUser: Sendable, Equatable {
    case known(UInt32)
    /// No process of this network namespace holds an open socket there: it waits to be accepted, was left, or is somewhere
    /// else because addresses are translated.
    case nobody
    /// A user that has no number in our user namespace.
    case ofOtherNamespace
    /// The kernel answers no such question.
    case undiagnosed(SystemError)

    /// What the kernel says for every user that has no number here (`/proc/sys/kernel/overflowuid`).
    private static let overflow: UInt32 = 65534
    /// `/proc/self/uid_map` where every user has a number: the initial namespace, or one like it.
    private static let wholeMap = ["0", "0", "4294967295"]

    /// Judges a number that the kernel has told.
    package init(seen user: UInt32) {
        self = user != Self.overflow || Self.seesEveryUser ? .known(user) : .ofOtherNamespace
    }

    /// The user at the other end of a Unix socket, as it was when it connected or listened (`SO_PEERCRED`).
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

    /// Whether it is one of these users.
    package func isAmong(_ users: Set<UInt32>) -> Bool {
        if case .known(let user) = self { users.contains(user) } else { false }
    }

    /// Who it is, or why that is not known: a clause.
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
