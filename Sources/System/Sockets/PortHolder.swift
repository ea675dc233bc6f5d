// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The process that listens on a TCP port or a Unix socket of this machine, as far as `/proc` tells.
package struct PortHolder: Equatable, Sendable {
    package let user: UInt32
    /// The process; nil where its descriptors are not ours to see.
    package let process: Int32?
    /// The name that the process goes by; nil without a process.
    package let command: String?

    /// The largest table of sockets that is read, in bytes.
    private static let longestTable = 16 << 20

    /// Looks for the listener of a port.
    ///
    /// - Parameter host: the address that is wanted; of several listeners the one that is in its way counts.
    /// - Returns: nil where nobody listens, or the kernel's table cannot be read.
    package static func of(host: String, port: UInt16) -> PortHolder? {
        let found = (listeners(in: "/proc/net/tcp") + listeners(in: "/proc/net/tcp6")).filter {
            $0.port == port
        }
        let same = hexadecimal(host).flatMap { wanted in found.first { $0.address == wanted } }
        guard let entry = same ?? found.first(where: \.isOfEveryAddress) ?? found.first else { return nil }
        let process = process(holding: entry.link)
        return PortHolder(
            user: entry.user, process: process, command: process.flatMap { PeerProcess.command(of: $0) })
    }

    /// Looks for the listener of a Unix socket.
    ///
    /// - Returns: nil where nobody listens, or the process is not ours to see.
    package static func of(path: String) -> PortHolder? {
        // Each line ends with the path, whatever bytes are in it; before it are seven fields, of which the fourth has the
        // flag of listeners and the seventh the inode.
        let inode = table("/proc/net/unix").lazy.compactMap { line -> Substring? in
            let fields = line.split(separator: " ", maxSplits: 7)
            guard fields.count == 8, fields[3] == "00010000", fields[7] == path else { return nil }
            return fields[6]
        }.first
        return inode.flatMap { process(holding: link(to: $0)) }.flatMap(of)
    }

    /// Tells of a process that listens.
    ///
    /// - Returns: nil where there is none of this number.
    package static func of(process: Int32) -> PortHolder? {
        guard let owner = (try? FileSystem.status(of: "/proc/\(process)"))?.owner else { return nil }
        return PortHolder(user: owner, process: process, command: PeerProcess.command(of: process))
    }

    /// The holder in words: `nginx (pid 812, user www-data)`.
    package var words: String {
        let owner = UserName.of(user).map { "user \($0)" } ?? "uid \(user)"
        guard let process else { return "a process of \(owner)" }
        return "\(command ?? "a process") (pid \(process), \(owner))"
    }

    /// The IPv4 addresses on which the process listens, `HOST:PORT` each; none where it is not known.
    package var addresses: [String] {
        guard let process else { return [] }
        let sockets = Set(Self.links(of: process))
        let own = Self.listeners(in: "/proc/net/tcp").filter { sockets.contains($0.link) }
        return Set(own.compactMap(\.words)).sorted()
    }

    /// The targets of a process's descriptors.
    private static func links(of process: Int32) -> [[UInt8]] {
        let directory = "/proc/\(process)/fd"
        return ((try? FileSystem.names(in: directory)) ?? []).map { target(of: "\(directory)/\($0)") }
    }

    private struct Entry {
        /// In hexadecimal digits: one number of an IPv4 address in the machine's order of bytes.
        let address: Substring
        let port: UInt16
        let user: UInt32
        let inode: Substring

        var isOfEveryAddress: Bool { address.allSatisfy { $0 == "0" } }

        /// The target of a descriptor of the socket.
        var link: [UInt8] { PortHolder.link(to: inode) }

        /// An IPv4 address in the form that people know.
        var words: String? {
            guard let number = UInt32(address, radix: 16) else { return nil }
            let bytes = withUnsafeBytes(of: number) { Array($0) }
            return "\(bytes.map(String.init).joined(separator: ".")):\(port)"
        }
    }

    /// The listeners in a table of the kernel (proc_net_tcp in its documentation).
    private static func listeners(in table: String) -> [Entry] {
        self.table(table).compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let user = UInt32(fields[7]),
                let port = UInt16(fields[1].suffix(4), radix: 16)
            else { return nil }
            return Entry(address: fields[1].dropLast(5), port: port, user: user, inode: fields[9])
        }
    }

    /// The lines of a table of the kernel; none where it cannot be read.
    private static func table(_ path: String) -> [Substring] {
        guard let file = try? Descriptor(opening: path, O_RDONLY),
            let text = try? file.readAll(limit: longestTable)
        else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    /// The target of a descriptor of a socket.
    private static func link(to inode: Substring) -> [UInt8] { Array("socket:[\(inode)]".utf8) }

    /// An IPv4 address as the table writes it: one number in the machine's order of bytes.
    private static func hexadecimal(_ host: String) -> String? {
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return nil }
        let digits = String(address.s_addr, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The process that has a socket among its descriptors.
    private static func process(holding link: [UInt8]) -> Int32? {
        let processes = ((try? FileSystem.names(in: "/proc")) ?? []).compactMap { Int32($0) }
        return processes.first { links(of: $0).contains(link) }
    }

    /// The beginning of a link's target, longer than any socket's.
    private static func target(of path: String) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlink(path, $0, buffer.count))
            }
        }
    }
}
