// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibevent
internal import CBearerdSystem
internal import Glibc

/// Converts socket addresses between their C form and text.
enum SocketAddress {
    /// The dotted form of an IPv4 address, made without an allocation.
    static func text(ofIPv4 storage: sockaddr_storage) -> String {
        let address = withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr }
        return String(unsafeUninitializedCapacity: 15) { text in
            var length = 0
            func append(_ byte: UInt8) {
                text[length] = byte
                length += 1
            }
            // In network byte order: the first number is the lowest byte.
            var rest = address.littleEndian
            for place in 0..<4 {
                let number = UInt8(truncatingIfNeeded: rest)
                rest >>= 8
                if place > 0 { append(UInt8(ascii: ".")) }
                if number >= 100 { append(UInt8(ascii: "0") + number / 100) }
                if number >= 10 { append(UInt8(ascii: "0") + number / 10 % 10) }
                append(UInt8(ascii: "0") + number % 10)
            }
            return length
        }
    }

    /// The numeric host and the port of an IP address (`getnameinfo`).
    static func text(of storage: inout sockaddr_storage, length: socklen_t) -> (host: String, port: UInt16)? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { host in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXSERV)) { service in
                let status = withUnsafePointer(to: &storage) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        getnameinfo(
                            address, length, host.baseAddress, socklen_t(host.count), service.baseAddress,
                            socklen_t(service.count), NI_NUMERICHOST | NI_NUMERICSERV)
                    }
                }
                guard status == 0, let host = host.baseAddress, let service = service.baseAddress,
                    let port = UInt16(String(cString: service))
                else { return nil }
                return (String(cString: host), port)
            }
        }
    }

    /// Resolves `host` to addresses for binding; blocks on the resolver unless `host` is numeric.
    static func resolve(host: String, port: UInt16) -> [(storage: sockaddr_storage, length: socklen_t)] {
        (try? lookUp(host: host, port: port)) ?? []
    }

    /// The same, or why there is none.
    static func lookUp(
        host: String, port: UInt16
    ) throws(ListeningSocket.BindError) -> [(storage: sockaddr_storage, length: socklen_t)] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        errno = 0
        let (status, code) = (getaddrinfo(host, String(port), &hints, &list), errno)
        guard status == 0 else {
            // Without a descriptor the resolver can read no file and ask no server, and says that there is no such name.
            if code == EMFILE || code == ENFILE { throw ListeningSocket.BindError(errno: code) }
            throw status == EAI_AGAIN ? .unansweredName : .unusableAddress
        }
        defer { freeaddrinfo(list) }
        var found: [(storage: sockaddr_storage, length: socklen_t)] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                var storage = sockaddr_storage()
                withUnsafeMutableBytes(of: &storage) { bytes in
                    bytes.copyMemory(
                        from: UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen)))
                }
                found.append((storage, entry.pointee.ai_addrlen))
            }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// The address of a Unix socket; nil if the path is too long for the kernel (107 bytes).
    static func unix(path: String) -> (storage: sockaddr_storage, length: socklen_t)? {
        let bytes = Array(path.utf8)
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < room else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: &address) { target.copyMemory(from: $0) }
        }
        return (storage, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
}
