// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// A directory that is held open, so that it stays the same one even if it is renamed or its name given to
/// another.
package final class OpenDirectory: Sendable {
    private let descriptor: Descriptor
    /// The path when it was opened.
    package let path: String

    /// Opens a directory that can be read.
    ///
    /// - Throws: ``SystemError``.
    package init(_ path: String) throws(SystemError) {
        descriptor = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        self.path = path
    }

    var number: CInt { descriptor.number }

    /// A file in the directory.
    package func file(_ name: String) -> FilePlace { FilePlace(name, in: self) }

    /// Reads the state of the directory (`fstat`).
    ///
    /// - Throws: ``SystemError``.
    package func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// True if the directory was removed, so that nothing can be created in it and nobody else can open it.
    package var isRemoved: Bool { (try? status().isRemoved) ?? false }

    /// Returns the names in the directory, sorted and without `.` and `..`.
    ///
    /// - Throws: ``SystemError``.
    package func names() throws(SystemError) -> [String] {
        // A descriptor of its own, because reading moves on where it reads.
        let number = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last(.opendir, path) }
        guard let stream = fdopendir(number) else {
            let failure = SystemError.last(.opendir, path)
            close(number)
            throw failure
        }
        return FileSystem.names(reading: stream)
    }

    /// Waits until the names in the directory are on the disk (`fsync`).
    ///
    /// - Throws: ``SystemError``.
    package func synchronize() throws(SystemError) { try descriptor.synchronize() }

    /// Takes a shared lock that shows other users of the directory that we use it (`flock`).
    ///
    /// - Returns: false if another one holds it exclusively, or locks are not supported.
    @discardableResult
    package func join() -> Bool { flock(number, LOCK_SH | LOCK_NB) == 0 }

    /// Takes an exclusive lock on the directory, unless another user holds a shared one (`flock`).
    ///
    /// - Returns: true if the lock was taken.
    package func keepAlone() -> Bool {
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        join()  // what was held is lost where more is refused
        return false
    }
}
