// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// Detects that a silent peer is dead (tcp(7), `SO_KEEPALIVE`).
///
/// A machine that loses its power or network sends nothing more. Without this, a tunnel to it would stay open
/// for ever, because no time-out limits it.
package enum TCPKeepAlive {
    /// The seconds of silence before the first probe, and between two probes.
    private static let idle: CInt = 60
    private static let interval: CInt = 10
    /// The number of unanswered probes after which the connection counts as broken.
    private static let count: CInt = 3

    /// - Parameter descriptor: a TCP socket, or a listening one, whose accepted sockets inherit the setting;
    ///   others are left alone.
    package static func enable(on descriptor: CInt) {
        set(SO_KEEPALIVE, at: SOL_SOCKET, to: 1, on: descriptor)
        set(TCP_KEEPIDLE, at: CInt(IPPROTO_TCP), to: idle, on: descriptor)
        set(TCP_KEEPINTVL, at: CInt(IPPROTO_TCP), to: interval, on: descriptor)
        set(TCP_KEEPCNT, at: CInt(IPPROTO_TCP), to: count, on: descriptor)
    }

    private static func set(_ option: CInt, at level: CInt, to value: CInt, on descriptor: CInt) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}
