// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Facts about the process at the other end of a Unix socket.
package enum PeerProcess {
    private static let longest = 4096

    /// The path of the program that a process runs, according to the kernel.
    ///
    /// - Returns: nil if the process has ended, or if we may not trace it, as in a sandbox or for another
    ///   user's process.
    package static func executable(of process: Int32) -> String? {
        let path = [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            // As `readlink` has it: bytes, not necessarily text.
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlink("/proc/\(process)/exe", $0, buffer.count))
            }
        }
        return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
    }

    /// The name that a process gives itself (`PR_SET_NAME`), at most 15 bytes.
    ///
    /// Any process can read it and the process itself can change it. A slash becomes `_`, so that it cannot
    /// look like a path.
    ///
    /// - Returns: nil if the process has ended.
    package static func command(of process: Int32) -> String? {
        guard let file = try? Descriptor(opening: "/proc/\(process)/comm", O_RDONLY),
            let name = try? file.readAll(limit: longest)
        else { return nil }
        let line = name.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    }
}
