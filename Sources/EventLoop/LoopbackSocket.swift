// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// The congestion control of sockets on loopback.
///
/// Nothing is ever congested there. But what a system chooses for its networks has a price at each segment: BBR, for
/// one, paces what it is given, and slows down every ten seconds to measure an empty path. Reno costs least of all, every
/// kernel has it, and everybody may choose it (tcp(7), `TCP_CONGESTION`).
package enum LoopbackSocket {
    private static let congestionControl = "reno"

    /// Chooses Reno if `address` is on loopback; anywhere else the system's choice stays.
    ///
    /// - Parameters:
    ///   - descriptor: not yet connected; what a listening one accepts inherits it.
    ///   - address: the `sockaddr` that it is about to be bound or connected to.
    package static func tune(_ descriptor: CInt, at address: UnsafeRawPointer) {
        guard isLoopback(address) else { return }
        // What cannot be had is not needed.
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_CONGESTION, congestionControl,
            socklen_t(congestionControl.utf8.count))
    }

    private static func isLoopback(_ address: UnsafeRawPointer) -> Bool {
        switch CInt(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            return UInt32(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr) >> 24 == 127
        case AF_INET6:
            var host = address.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return withUnsafeBytes(of: &host) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
        default:
            return false
        }
    }
}
