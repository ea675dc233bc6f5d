// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// Finds out that a silent peer is dead (tcp(7), `SO_KEEPALIVE`).
///
/// A machine that has lost its power or its network says nothing any more: without, a tunnel to it would keep its place
/// for ever, because no time-out runs in it.
package enum TCPKeepAlive {
    /// In seconds: how long a peer may be silent before it is asked, and between two questions.
    private static let idle: CInt = 60
    private static let interval: CInt = 10
    /// So many questions without an answer, and the connection is broken.
    private static let count: CInt = 3

    /// - Parameter descriptor: a TCP socket; what a listening one accepts inherits it. Nothing happens to another kind.
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
