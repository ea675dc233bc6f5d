// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the kernel tells of a process at the other end of a Unix socket.
package enum PeerProcess {
    private static let longest = 4096

    /// The program that a process runs: its path, else the name that the process goes by.
    ///
    /// The path takes the right to trace the process, which a sandbox takes away and other users never had; the name, without
    /// a slash and at most 15 bytes, is everybody's to see and the process's to choose.
    ///
    /// - Returns: nil if there is no such process any more.
    package static func executable(of process: Int32) -> String? {
        let path = [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            // As `readlink` has it: bytes, not necessarily text.
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlink("/proc/\(process)/exe", $0, buffer.count))
            }
        }
        if !path.isEmpty { return String(decoding: path, as: UTF8.self) }
        guard let file = try? Descriptor(opening: "/proc/\(process)/comm", O_RDONLY),
            let name = try? file.readAll(limit: longest)
        else { return nil }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
