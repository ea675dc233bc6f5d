// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// Sets the congestion control of sockets on loopback.
///
/// Nothing is ever congested there, but the system's choice for its networks costs time at each segment: BBR
/// paces its data, and slows down every ten seconds to measure an empty path. Reno costs least, every kernel
/// has it, and every process may choose it (tcp(7), `TCP_CONGESTION`).
package enum LoopbackSocket {
    private static let congestionControl = "reno"

    /// Chooses Reno if `address` is on loopback; elsewhere the system's choice stays.
    ///
    /// - Parameters:
    ///   - descriptor: not yet connected; sockets accepted from a listening one inherit the setting.
    ///   - address: the `sockaddr` that the descriptor is about to be bound or connected to.
    package static func tune(_ descriptor: CInt, at address: UnsafeRawPointer) {
        guard isLoopback(address) else { return }
        // What cannot be had is not needed.
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_CONGESTION, congestionControl,
            socklen_t(congestionControl.utf8.count))
    }

    /// Returns true for a loopback or link-local address (RFC 3927, RFC 4291 §2.5.6), to which no router leads.
    package static func isNearby(_ address: UnsafeRawPointer) -> Bool {
        switch CInt(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            let host = UInt32(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr)
            return host >> 24 == 127 || host >> 16 == 0xA9FE
        case AF_INET6:
            var host = address.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            let isOfLink = withUnsafeBytes(of: &host) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
            return isOfLink || isLoopback(address)
        default:
            return false
        }
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
