// SPDX-License-Identifier: Apache-2.0

internal import CLibevent
internal import CSystem
internal import Glibc
internal import System

/// The two ends of a TCP connection, as the kernel's table of sockets writes them.
package struct SocketEnds: Sendable, Equatable {
    /// In which table a socket is, and how its row begins behind the row's number.
    private struct Row: Sendable, Equatable {
        let table: String
        let text: String
    }

    /// What the table of all sockets may be at most, in bytes: a hundred thousand connections.
    private static let longestTable = 16 << 20
    /// `TCP_ESTABLISHED`, and `TCP_FIN_WAIT1`, `TCP_FIN_WAIT2` and `TCP_CLOSE_WAIT`, where one side has ended its direction.
    ///
    /// A socket that has lost its owner is known by an inode of 0: the table then says user 0, which is root.
    private static let openStates: Set<String> = ["01", "04", "05", "08"]

    /// The peer's row, in each form that it can have.
    private let rows: [Row]

    /// Takes the addresses of a connection; nil for anything but TCP.
    package init?(of stream: ByteStream) {
        let descriptor = stream.readiness.descriptor
        guard let own = Self.address(of: descriptor, getsockname),
            let peer = Self.address(of: descriptor, getpeername)
        else { return nil }
        rows = zip(peer, own).map { peer, own in
            Row(table: peer.table, text: "\(peer.text) \(own.text) ")
        }
    }

    /// The user whose socket the peer's is (`/proc/net/tcp`, proc(5)); nil if it is none of this machine, or not open.
    package func peerUser() -> UInt32? {
        // A table that changes while it is read may leave a row out.
        let found = user() ?? user()
        // A socket that loses its owner while its row is written may seem to be root's, once.
        return found == 0 ? user() : found
    }

    private func user() -> UInt32? {
        for row in rows {
            guard let table = try? FileSystem.read("/proc/net/\(row.table)", limit: Self.longestTable).bytes
            else { continue }
            if let user = Self.owner(of: row.text, in: table) { return user }
        }
        return nil
    }

    /// Reads a table: `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode`.
    private static func owner(of row: String, in table: [UInt8]) -> UInt32? {
        let wanted = Array(row.utf8)
        for line in table.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                line[colon...].dropFirst(2).starts(with: wanted)
            else { continue }
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard fields.count > 9, openStates.contains(fields[3]), fields[9] != "0" else { continue }
            return UInt32(fields[7])
        }
        return nil
    }

    /// An address and port as the tables write them; an IPv4 one in both tables, as clients may use either family.
    private static func address(
        of descriptor: CInt,
        _ ask: (CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt
    ) -> [Row]? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) }
        }
        guard status == 0 else { return nil }
        return withUnsafeBytes(of: storage) { bytes -> [Row]? in
            switch CInt(storage.ss_family) {
            case AF_INET:
                let address = bytes.loadUnaligned(as: sockaddr_in.self)
                let host = hex(address.sin_addr.s_addr, digits: 8)
                let port = hex(UInt16(bigEndian: address.sin_port), digits: 4)
                let mapped = String(repeating: "0", count: 16) + hex(UInt32(0xFFFF).bigEndian, digits: 8)
                return [
                    Row(table: "tcp", text: "\(host):\(port)"),
                    Row(table: "tcp6", text: "\(mapped)\(host):\(port)"),
                ]
            case AF_INET6:
                var address = bytes.loadUnaligned(as: sockaddr_in6.self)
                let words = withUnsafeBytes(of: &address.sin6_addr) { host in
                    (0..<4).map { host.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
                }
                let host = words.map { hex($0, digits: 8) }.joined()
                return [
                    Row(
                        table: "tcp6", text: "\(host):\(hex(UInt16(bigEndian: address.sin6_port), digits: 4))"
                    )
                ]
            default:
                return nil
            }
        }
    }

    /// A number as the kernel prints it there: in its own byte order, upper case.
    private static func hex(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }
}
