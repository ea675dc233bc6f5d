// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// A directory that is held open: it stays the same one, however it is renamed, and whatever takes its name.
package final class OpenDirectory: Sendable {
    private let descriptor: Descriptor
    /// What it was called when it was opened.
    package let path: String

    /// Opens a directory that may be read.
    ///
    /// - Throws: ``SystemError``.
    package init(_ path: String) throws(SystemError) {
        descriptor = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        self.path = path
    }

    var number: CInt { descriptor.number }

    /// A file in it.
    package func file(_ name: String) -> FilePlace { FilePlace(name, in: self) }

    /// What it is now (`fstat`).
    ///
    /// - Throws: ``SystemError``.
    package func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// Whether it was removed: nothing can be put into it any more, and nobody else can open it.
    package var isRemoved: Bool { (try? status().isRemoved) ?? false }

    /// The names in it, without `.` and `..`, sorted.
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

    /// Returns once the names in it are on the disk (`fsync`).
    ///
    /// - Throws: ``SystemError``.
    package func synchronize() throws(SystemError) { try descriptor.synchronize() }

    /// Tells everybody who uses the directory too that we do (`flock`, shared).
    ///
    /// - Returns: false if somebody has it alone, or that cannot be known.
    @discardableResult
    package func join() -> Bool { flock(number, LOCK_SH | LOCK_NB) == 0 }

    /// Keeps it for this opening alone (`flock`, exclusive), unless somebody else has joined.
    ///
    /// - Returns: whether nobody else has it.
    package func keepAlone() -> Bool {
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        join()  // what was held is lost where more is refused
        return false
    }
}
