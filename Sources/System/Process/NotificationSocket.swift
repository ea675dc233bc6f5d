// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Tells the service manager the state of the service, one datagram at a time (sd_notify(3)).
///
/// It connects when it is created, because a sandbox that is entered later denies new connections to sockets
/// without a file.
package final class NotificationSocket: Sendable {
    /// A part of a datagram, one line each.
    package enum Notice: Equatable, Sendable {
        /// The start, or a reload, is complete.
        case ready
        /// A reload has begun.
        case reloading
        /// The service has begun to stop.
        case stopping
        /// The service works, so that the time of `WatchdogSec=` begins anew.
        case alive
        /// A line for people.
        case status(String)
        /// The start or the end may take this long from now on, whatever the unit says.
        case extendTimeout(Duration)
    }

    /// The result of sending a datagram.
    package enum Delivery: Equatable, Sendable {
        case delivered
        /// The manager's queue is full; the same datagram may be sent again later.
        case busy
        /// Nobody listens, or we lack the permission.
        case failed(SystemError)
    }

    private let path: String
    private let descriptor: CInt

    /// - Returns: nil if `NOTIFY_SOCKET` is not set, or is neither a path (`/…`) nor an abstract name (`@…`).
    /// - Throws: ``SystemError`` if no socket can be created.
    package convenience init?() throws(SystemError) {
        guard let path = CurrentProcess.environment("NOTIFY_SOCKET") else { return nil }
        try self.init(path: path)
    }

    init?(path: String) throws(SystemError) {
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1,
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        self.path = path
        guard descriptor >= 0 else { throw .last(.socket) }
        connect()
    }

    deinit { close(descriptor) }

    /// Sends several notices in one datagram; never blocks.
    ///
    /// - Returns: whether they were delivered.
    package func send(_ notices: [Notice]) -> Delivery {
        let text = notices.map(\.lines).joined(separator: "\n")
        var code = write(text)
        if [ECONNREFUSED, ENOTCONN, EPIPE].contains(code) {
            // A manager that was started anew has another socket under the same name.
            connect()
            code = write(text)
        }
        switch code {
        case 0: return .delivered
        case EAGAIN, ENOBUFS: return .busy
        default: return .failed(SystemError(.send, path: path, code: code))
        }
    }

    /// - Returns: 0, or `errno`.
    private func write(_ text: String) -> CInt {
        let bytes = Array(text.utf8)
        let sent = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        return sent < 0 ? errno : 0
    }

    private func connect() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name is as long as its address says; a path ends with its NUL.
        let isAbstract = bytes.first == 0
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.connect(descriptor, $0, socklen_t(length))
            }
        }
    }
}

extension NotificationSocket.Notice {
    /// The lines of the protocol; `RELOADING=1` needs the time in the same datagram.
    var lines: String {
        switch self {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        case .status(let text): "STATUS=\(text.map { $0.isNewline ? " " : String($0) }.joined())"
        case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(time.wholeNanoseconds / 1000)"
        }
    }

    private static var monotonicMicroseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
