// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension FileSystem {
    /// Makes a file that is not there yet, with this content on the disk.
    ///
    /// - Parameters:
    ///   - mode: its permissions, whatever the umask.
    ///   - group: its group; nil for the process's own.
    /// - Throws: ``SystemError``, with `EEXIST` where something has the name; then nothing has changed.
    package static func create(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, group: UInt32? = nil
    ) throws(SystemError) {
        let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            if let group, fchown(file.number, UInt32.max, group) != 0 { throw .last(.chmod, path) }
            guard fchmod(file.number, mode) == 0 else { throw .last(.fchmod, path) }
            try file.writeAll(bytes)
            try file.synchronize()
        } catch {
            unlink(path)
            throw error
        }
    }
}
