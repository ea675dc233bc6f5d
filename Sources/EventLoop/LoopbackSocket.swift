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
        // A congestion control that cannot be had is not needed.
        setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_CONGESTION, congestionControl,
            socklen_t(congestionControl.utf8.count))
    }

    /// Returns true for a loopback or link-local address (RFC 3927, RFC 4291 §2.5.6), to which no router leads.
    package static func isNearby(_ address: UnsafeRawPointer) -> Bool {
        let host = host(in: address)
        return isLoopback(host)
            || host.starts(with: host.count == 4 ? [169, 254] : [0xFE])
                && (host.count == 4 || host[1] & 0xC0 == 0x80)
    }

    private static func isLoopback(_ address: UnsafeRawPointer) -> Bool { isLoopback(host(in: address)) }

    private static func isLoopback(_ host: [UInt8]) -> Bool {
        host.count == 4 ? host[0] == 127 : host.last == 1 && host.dropLast().allSatisfy { $0 == 0 }
    }

    /// The bytes of an IP address in network order, 4 or 16; none for another family.
    ///
    /// They are taken by their offset in `sockaddr_in` and `sockaddr_in6` (ip(7), ipv6(7)): a C struct here would be one in
    /// every target that inlines this, which the compiler does not survive.
    private static func host(in address: UnsafeRawPointer) -> [UInt8] {
        let place: (offset: Int, count: Int)
        switch CInt(address.loadUnaligned(as: UInt16.self)) {
        case AF_INET: place = (4, 4)
        case AF_INET6: place = (8, 16)
        default: return []
        }
        return Array(UnsafeRawBufferPointer(start: address + place.offset, count: place.count))
    }
}
