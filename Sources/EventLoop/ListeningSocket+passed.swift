// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

extension ListeningSocket {
    /// The address of a socket that another process has bound.
    package enum PassedAddress: Equatable, Sendable {
        case tcp(host: String, port: UInt16)
        /// The path of a Unix socket; nil if it is unnamed or abstract.
        case unix(path: String?)
    }

    /// Takes over a listening socket from the process that started this one, such as systemd.
    ///
    /// It becomes non-blocking and close-on-exec. Closing it ends only our use: the other process still
    /// listens, and connections wait there.
    ///
    /// - Throws: ``BindError/notListening``, or ``BindError/failed(code:reason:)`` with `EBADF` if the
    ///   descriptor is not open.
    package static func passed(
        _ descriptor: Int32
    ) throws(BindError) -> (socket: ListeningSocket, address: PassedAddress) {
        guard fcntl(descriptor, F_GETFD) >= 0 else { throw BindError(errno: errno) }
        guard option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notListening }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard withAddress(&storage, { getsockname(descriptor, $0, &length) }) == 0 else {
            throw BindError(errno: errno)
        }
        let isInternet = [AF_INET, AF_INET6].contains(CInt(storage.ss_family))
        guard isInternet || CInt(storage.ss_family) == AF_UNIX else { throw .notListening }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0
        else { throw BindError(errno: errno) }
        guard isInternet else {
            let socket = ListeningSocket(descriptor: descriptor, address: nil)
            return (socket, .unix(path: path(in: storage, length: length)))
        }
        TCPKeepAlive.enable(on: descriptor)
        withAddress(&storage) { LoopbackSocket.tune(descriptor, at: $0) }
        guard let address = SocketAddress.text(of: &storage, length: length) else { throw .unusableAddress }
        let socket = ListeningSocket(descriptor: descriptor, address: address)
        return (socket, .tcp(host: address.host, port: address.port))
    }

    private static func option(_ name: CInt, of descriptor: Int32) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func path(in storage: sockaddr_storage, length: socklen_t) -> String? {
        var storage = storage
        let bytes = withUnsafeBytes(of: &storage) { bytes in
            Array(bytes.prefix(Int(length)).dropFirst(MemoryLayout<sa_family_t>.size))
        }
        let path = bytes.prefix { $0 != 0 }
        return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
    }
}
