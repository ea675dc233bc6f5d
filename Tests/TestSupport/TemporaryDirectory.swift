// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A directory that goes, with everything in it, when the object goes.
package final class TemporaryDirectory: Sendable {
    /// Its absolute path.
    package let path: String

    package init() throws {
        var template = Array("/tmp/bearerd-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SocketError(operation: "mkdtemp", code: errno) }
        path = String(cString: made)
    }

    deinit { TemporaryDirectory.removeTree(path) }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for entry in entries(of: path) { removeTree("\(path)/\(entry)") }
        rmdir(path)
    }

    /// The path of an entry.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in one step, so that a watcher never sees half of it, and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
        try write(name, bytes: Array(text.utf8), mode: mode)
    }

    /// Writes a file of any bytes in one step, and returns its path.
    @discardableResult
    package func write(_ name: String, bytes: [UInt8], mode: mode_t = 0o600) throws -> String {
        let target = path(name)
        let fresh = target + ".new"
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, mode)
        guard descriptor >= 0 else { throw SocketError(operation: "open \(fresh)", code: errno) }
        let written = Glibc.write(descriptor, bytes, bytes.count)
        fchmod(descriptor, mode)
        close(descriptor)
        guard written == bytes.count, rename(fresh, target) == 0 else {
            throw SocketError(operation: "write \(target)", code: errno)
        }
        return target
    }

    /// The names of a directory's entries, sorted.
    package static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// A file's bytes; empty if it cannot be read.
    package static func contents(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &part, part.count), count > 0 { bytes += part[..<count] }
        return bytes
    }

    /// The permission bits of a path; nil if it does not exist.
    package static func mode(of path: String) -> mode_t? {
        var information = stat()
        return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
    }
}
