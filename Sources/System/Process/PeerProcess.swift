// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the kernel tells of a process at the other end of a Unix socket.
package enum PeerProcess {
    private static let longest = 4096

    /// The path of the program that a process runs, as the kernel says it.
    ///
    /// - Returns: nil without the right to trace the process, which a sandbox takes away and other users never had, or if
    ///   there is no such process any more.
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

    /// The name that a process goes by: everybody's to see and the process's own to choose (`PR_SET_NAME`), at most 15 bytes,
    /// with `_` for a slash, so that nobody takes it for a path.
    ///
    /// - Returns: nil if there is no such process any more.
    package static func command(of process: Int32) -> String? {
        guard let file = try? Descriptor(opening: "/proc/\(process)/comm", O_RDONLY),
            let name = try? file.readAll(limit: longest)
        else { return nil }
        let line = name.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    }
}
