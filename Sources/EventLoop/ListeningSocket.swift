// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// A bound, listening descriptor that no loop watches yet.
///
/// Loops share a TCP address through sockets of their own (`SO_REUSEPORT`), and a Unix socket as one
/// descriptor.
package struct ListeningSocket: Sendable {
    /// The reason why an address could not be bound.
    package enum BindError: Error, Sendable {
        /// The host has no address, or the path does not fit a socket address.
        case unusableAddress
        /// The name servers gave no answer.
        case unansweredName
        /// `bind` or `listen` failed; `code` is its `errno`.
        case failed(code: Int32, reason: String)
        /// The passed descriptor is not a listening stream socket of the IP or Unix family.
        case notListening

        init(errno code: CInt) {
            self = .failed(code: code, reason: String(cString: strerror(code)))
        }

        /// Text for people.
        package var reason: String {
            switch self {
            case .unusableAddress: "this machine has no such address"
            case .unansweredName: "the name servers give no answer for it just now"
            case .failed(_, let reason): reason
            case .notListening: "that descriptor is no stream socket that listens"
            }
        }

        /// True if another socket has the address (`EADDRINUSE`).
        package var isInUse: Bool {
            if case .failed(EADDRINUSE, _) = self { true } else { false }
        }

        /// True if we may not (`EACCES`).
        package var isDenied: Bool {
            if case .failed(EACCES, _) = self { true } else { false }
        }
    }

    /// The most connections that wait in the kernel's queue, unless `net.core.somaxconn` is lower.
    static let backlog: Int32 = 1024

    package let descriptor: Int32
    /// The bound host in numeric form, and the port that the kernel gave; nil for a Unix socket.
    package let address: (host: String, port: UInt16)?

    /// Binds a TCP address.
    ///
    /// - Parameters:
    ///   - port: 0 lets the kernel choose.
    ///   - joining: true if this process already has the address. The first socket is bound without
    ///     `SO_REUSEPORT`, which would hide that another process has the address.
    package static func tcp(host: String, port: UInt16, joining: Bool) throws(BindError) -> [ListeningSocket]
    {
        let candidates = try SocketAddress.lookUp(host: host, port: port)
        guard !candidates.isEmpty else { throw .unusableAddress }
        var bound: [ListeningSocket] = []
        for candidate in candidates {
            do {
                bound.append(try listen(on: candidate.storage, length: candidate.length, joining: joining))
            } catch {
                bound.forEach { $0.close() }
                throw error
            }
        }
        return bound
    }

    /// Binds a Unix socket; replaces a socket file at which nobody listens any more.
    ///
    /// - Parameter isForAll: true lets every user connect who can reach the path, whatever the umask, for
    ///   listeners that judge their peers themselves.
    package static func unix(path: String, isForAll: Bool = false) throws(BindError) -> ListeningSocket {
        let socket = try unix(at: path)
        guard isForAll else { return socket }
        do throws(SystemError) {
            try FileSystem.allowAll(toUseSocket: path)
        } catch {
            socket.close()
            throw BindError(errno: error.code)
        }
        return socket
    }

    private static func unix(at path: String) throws(BindError) -> ListeningSocket {
        guard let (storage, length) = SocketAddress.unix(path: path) else { throw .unusableAddress }
        do {
            return try listen(on: storage, length: length, joining: false)
        } catch {
            guard error.isInUse, isSocket(path), isAbandoned(path) else { throw error }
            unlink(path)
            return try listen(on: storage, length: length, joining: false)
        }
    }

    package func close() { _ = Glibc.close(descriptor) }

    private static func listen(
        on storage: sockaddr_storage, length: socklen_t, joining: Bool
    ) throws(BindError) -> ListeningSocket {
        var storage = storage
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(CInt(storage.ss_family), type, 0)
        guard descriptor >= 0 else { throw BindError(errno: errno) }
        let isInternet = CInt(storage.ss_family) != AF_UNIX
        if isInternet {
            set(SO_REUSEADDR, on: descriptor)
            TCPKeepAlive.enable(on: descriptor)
        }
        if CInt(storage.ss_family) == AF_INET6 {
            var on: CInt = 1
            setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<CInt>.size))
        }
        if joining { set(SO_REUSEPORT, on: descriptor) }
        withAddress(&storage) { LoopbackSocket.tune(descriptor, at: $0) }
        guard withAddress(&storage, { bind(descriptor, $0, length) }) == 0,
            Glibc.listen(descriptor, Self.backlog) == 0
        else {
            let error = BindError(errno: errno)
            _ = Glibc.close(descriptor)
            throw error
        }
        guard isInternet else { return ListeningSocket(descriptor: descriptor, address: nil) }
        if !joining { set(SO_REUSEPORT, on: descriptor) }
        var bound = sockaddr_storage()
        var boundLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withAddress(&bound) { getsockname(descriptor, $0, &boundLength) }
        return ListeningSocket(
            descriptor: descriptor, address: SocketAddress.text(of: &bound, length: boundLength))
    }

    /// True if the path is a socket, because connecting to a regular file is refused with the same error.
    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// True if nobody listens at a path.
    private static func isAbandoned(_ path: String) -> Bool {
        do throws(BindError) {
            return try listener(at: path) == nil
        } catch {
            return false
        }
    }

    /// Finds out by a connection who listens at the path of a Unix socket.
    ///
    /// Whoever does and takes no connection has a full queue, for which `connect` would wait without end.
    ///
    /// - Returns: the process, 0 where it is not known; nil if nobody does.
    /// - Throws: ``BindError`` if nobody can be asked, as at a file that is no socket.
    package static func listener(at path: String) throws(BindError) -> Int32? {
        guard let address = SocketAddress.unix(path: path) else { throw .unusableAddress }
        var storage = address.storage
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let probe = socket(AF_UNIX, type, 0)
        guard probe >= 0 else { throw BindError(errno: errno) }
        defer { _ = Glibc.close(probe) }
        guard withAddress(&storage, { connect(probe, $0, address.length) }) == 0 else {
            switch errno {
            case ECONNREFUSED, ENOENT: return nil
            case EAGAIN: return 0
            case let code: throw BindError(errno: code)
            }
        }
        var user = uid_t()
        var process = pid_t()
        return bearerd_peer_user(probe, &user, &process) == 0 ? process : 0
    }

    private static func set(_ option: CInt, on descriptor: CInt) {
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    static func withAddress<Result>(
        _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
