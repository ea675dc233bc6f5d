// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The service manager's end of sd_notify(3): a datagram socket, and what came in.
package final class NotificationReceiver: Sendable {
    /// One datagram: its lines, `NAME=VALUE` each.
    package struct Notice: Sendable {
        package let lines: [String]

        /// The value of the first line of a name.
        package subscript(name: String) -> String? {
            lines.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
        }
    }

    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let isReading: Bool
    private let received = Monitor<[Notice]>([])

    /// - Parameters:
    ///   - name: a path, or `@` and an abstract name.
    ///   - isReading: whether datagrams are taken; else they pile up in the kernel.
    package init(at name: String, isReading: Bool = true) throws {
        self.name = name
        self.isReading = isReading
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError(operation: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == 0 ? 0 : 1))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw SocketError(operation: "bind \(name)", code: errno) }
        guard isReading else { return }
        startThread { [descriptor, received] in
            while true {
                var datagram = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &datagram, datagram.count, 0)
                guard count > 0 else { break }
                let text = String(decoding: datagram.prefix(count), as: UTF8.self)
                received.withLock { $0.append(Notice(lines: text.split(separator: "\n").map(String.init))) }
            }
            close(descriptor)
        }
    }

    deinit {
        // The number is free for others when nobody reads from it any more.
        shutdown(descriptor, Int32(SHUT_RDWR))
        if !isReading { close(descriptor) }
    }

    /// Everything so far.
    package var notices: [Notice] { received.withLock { $0 } }

    /// Waits for a datagram.
    @discardableResult
    package func notice(
        _ awaited: String, after count: Int = 0, where matches: (Notice) -> Bool
    ) throws -> Notice {
        try received.wait(for: awaited) { $0.dropFirst(count).first(where: matches) }
    }
}
