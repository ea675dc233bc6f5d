// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A stream socket of the test; the descriptor is closed when the object goes.
package final class Socket: ByteStream {
    /// Valid as long as the object lives.
    package let descriptor: Int32

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { Glibc.close(descriptor) }

    /// A socket that listens at `path`, or at a free port of 127.0.0.1, or at this one of 127.0.0.`host`.
    package static func listening(
        unixPath path: String? = nil, host: UInt8 = 1, port: UInt16 = 0
    ) throws -> (socket: Socket, address: Address) {
        if let path {
            let socket = try Socket.make(AF_UNIX)
            try withUnixAddress(path) { try check("bind", bind(socket.descriptor, $0, $1)) }
            try check("listen", listen(socket.descriptor, 512))
            return (socket, .unix(path: path))
        }
        let socket = try Socket.make(AF_INET)
        // What an earlier server's connections left behind does not keep a port from the next.
        var on: Int32 = 1
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        try withInternetAddress(host: host, port: port) {
            try check("bind", bind(socket.descriptor, $0, $1))
        }
        try check("listen", listen(socket.descriptor, 512))
        return (socket, .tcp(port: try socket.localPort()))
    }

    /// A socket that listens at a free port of every address.
    package static func listeningEverywhere() throws -> (socket: Socket, address: Address) {
        let socket = try Socket.make(AF_INET)
        try withInternetAddress(host: nil, port: 0) { try check("bind", bind(socket.descriptor, $0, $1)) }
        try check("listen", listen(socket.descriptor, 512))
        return (socket, .tcp(port: try socket.localPort()))
    }

    /// A port of 127.0.0.1 on which nobody listens, held by the result so that nobody else gets it.
    ///
    /// Whoever lets go of it to have a program listen there can still count on it: the kernel gives ports of this range to
    /// nobody by itself (`ip_local_port_range`).
    package static func refusing() throws -> (socket: Socket, address: Address) {
        while true {
            let socket = try Socket.make(AF_INET)
            let port = UInt16.random(in: 10_000..<32_000)
            let result = withInternetAddress(port: port) { bind(socket.descriptor, $0, $1) }
            if result == 0 { return (socket, .tcp(port: port)) }
            guard errno == EADDRINUSE else { throw SocketError(operation: "bind", code: errno) }
        }
    }

    /// Connects, with `receiveBuffer` bytes of kernel buffer if given.
    package static func connected(to address: Address, receiveBuffer: Int32? = nil) throws -> Socket {
        switch address {
        case .tcp(let port):
            let socket = try Socket.make(AF_INET)
            if var size = receiveBuffer {
                setsockopt(
                    socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            try withInternetAddress(port: port) {
                try socket.finishConnect(connect(socket.descriptor, $0, $1))
            }
            var on: Int32 = 1
            setsockopt(
                socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            return socket
        case .unix(let path):
            let socket = try Socket.make(AF_UNIX)
            try withUnixAddress(path) { try socket.finishConnect(connect(socket.descriptor, $0, $1)) }
            return socket
        }
    }

    /// Waits for a connection; nil once the listening socket was shut down.
    package func accept() -> Socket? {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 { return Socket(descriptor: accepted) }
            guard errno == EAGAIN || errno == EINTR || errno == ECONNABORTED else { return nil }
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&interest, 1, -1) >= 0 || errno == EINTR else { return nil }
            // A Unix socket that was shut down says EAGAIN for ever.
            if interest.revents & Int16(POLLHUP) != 0 { return nil }
        }
    }

    package func read(upTo limit: Int, within time: Duration) throws -> [UInt8] {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialised in
                count = recv(descriptor, buffer.baseAddress, limit, 0)
                initialised = max(count, 0)
            }
            if count >= 0 { return bytes }
            try wait(for: POLLIN, after: "recv", within: time)
        }
    }

    package func write(_ bytes: [UInt8], within time: Duration) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(
                    descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL)
                )
            }
            if count >= 0 { sent += count } else { try wait(for: POLLOUT, after: "send", within: time) }
        }
    }

    package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    package func cut() { close() }

    /// Has the kernel drop what comes from now on, unacknowledged, as a way that is gone does.
    package func dropArrivals() throws {
        // One instruction of a packet filter: take 0 bytes (BPF_RET | BPF_K).
        var instruction: UInt64 = 6
        try withUnsafeMutablePointer(to: &instruction) { filter in
            var program = (length: UInt64(1), filter: filter)
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            try check("setsockopt", setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size))
        }
    }

    package func reset() {
        // Connecting to "no address" aborts a connection at once (connect(2)), and the descriptor stays ours.
        var unspecified = sockaddr()
        unspecified.sa_family = sa_family_t(AF_UNSPEC)
        if connect(descriptor, &unspecified, socklen_t(MemoryLayout<sockaddr>.size)) != 0 { close() }
    }

    /// Waits until the descriptor is ready, if the call before said that it was not.
    package func wait(for events: Int32, after operation: String, within time: Duration) throws {
        if errno == EINTR { return }
        guard errno == EAGAIN || errno == EINPROGRESS else {
            throw SocketError(operation: operation, code: errno)
        }
        var interest = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        let limit = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        let ready = poll(&interest, 1, Int32(limit))
        if ready == 0 { throw TimedOut("\(operation) on a socket") }
    }

    private func finishConnect(_ result: Int32) throws {
        if result == 0 { return }
        try wait(for: POLLOUT, after: "connect", within: patience)
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        if code != 0 { throw SocketError(operation: "connect", code: code) }
    }

    private func localPort() throws -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        try check("getsockname", result)
        return UInt16(bigEndian: address.sin_port)
    }

    private static func make(_ family: Int32) throws -> Socket {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try check("socket", descriptor)
        return Socket(descriptor: descriptor)
    }
}

private func check(_ operation: String, _ result: Int32) throws {
    if result < 0 { throw SocketError(operation: operation, code: errno) }
}

private func withInternetAddress<Result>(
    host: UInt8? = 1, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
) rethrows -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = host.map { (UInt32(0x7F00_0000) | UInt32($0)).bigEndian } ?? INADDR_ANY
    return try withUnsafePointer(to: &address) {
        try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

private func withUnixAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
        throw SocketError(operation: "bind \(path)", code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    try withUnsafePointer(to: &address) {
        try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
