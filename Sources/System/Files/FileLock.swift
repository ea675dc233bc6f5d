// SPDX-License-Identifier: Apache-2.0

internal import CSystem
internal import Glibc

/// An exclusive lock on a file, respected by whoever else asks for it (`flock`).
///
/// Held until this value goes, or the process dies. The file stays: removing it would let two processes lock
/// two files of one name.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor

    /// Takes the lock if it is free; never waits.
    ///
    /// - Parameter path: made with mode 0600 if there is none.
    /// - Returns: nil if somebody else has it, in this process or another.
    /// - Throws: ``SystemError``.
    package static func acquire(_ path: String) throws(SystemError) -> FileLock? {
        let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        var result: CInt
        repeat {
            result = flock(file.number, LOCK_EX | LOCK_NB)
        } while result != 0 && errno == EINTR
        if result != 0 {
            if errno == EWOULDBLOCK { return nil }
            throw .last(.flock, path)
        }
        return FileLock(file: file)
    }

    private init(file: consuming Descriptor) {
        self.file = file
    }
}
