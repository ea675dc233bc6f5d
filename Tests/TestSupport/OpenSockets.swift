// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Facts from the kernel about this process's sockets.
package enum OpenSockets {
    /// The descriptors of TCP sockets over IPv4 whose peer has that port.
    package static func connected(toPort port: UInt16) -> [Int32] {
        (0..<getdtablesize()).filter { descriptor in
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getpeername(descriptor, $0, &length)
                }
            }
            return status == 0 && Int32(peer.sin_family) == AF_INET
                && UInt16(bigEndian: peer.sin_port) == port
        }
    }

    /// A socket's keep-alive (tcp(7)): whether it is on, seconds of silence, seconds between probes, probes.
    package static func keepAlive(of descriptor: Int32) -> [Int32] {
        let tcp = Int32(IPPROTO_TCP)
        return [(SOL_SOCKET, SO_KEEPALIVE), (tcp, TCP_KEEPIDLE), (tcp, TCP_KEEPINTVL), (tcp, TCP_KEEPCNT)].map
        {
            var value: Int32 = -1
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, $0, $1, &value, &length) == 0 ? value : -1
        }
    }

    /// The name of a socket's congestion control (tcp(7), `TCP_CONGESTION`).
    package static func congestionControl(of descriptor: Int32) -> String {
        var name: [UInt8] = Array(repeating: 0, count: 16)
        var length = socklen_t(name.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, &name, &length) == 0 else {
            return ""
        }
        return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
}
