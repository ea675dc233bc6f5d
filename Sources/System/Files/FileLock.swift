// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// An exclusive lock on a file, effective among processes that ask for it (`flock`).
///
/// It is held until this value is destroyed or the process dies. The file is never removed, because then two
/// processes could lock two files of one name. For those who wait, it contains the holder and the time since
/// when; it may also contain a note for the next holder.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor
    private let isWritable: Bool
    /// A number that this or an earlier holder has left in the file; it outlives the process.
    package private(set) var note: Int64?

    /// Takes the lock if it is free; never waits.
    ///
    /// - Parameter place: the file, created with mode 0600 if missing; a read-only file suffices.
    /// - Returns: nil if another holder has it, in this process or another.
    /// - Throws: ``SystemError``.
    package static func acquire(_ place: FilePlace) throws(SystemError) -> FileLock? {
        var isWritable = true
        let file = try open(place, &isWritable)
        var result: CInt
        repeat {
            result = flock(file.number, LOCK_EX | LOCK_NB)
        } while result != 0 && errno == EINTR
        if result != 0 {
            if errno == EWOULDBLOCK { return nil }
            throw .last(.flock, place.path)
        }
        let isOurs = isWritable && isForUsAlone(file)
        let lock = FileLock(file: file, isWritable: isOurs)
        lock.write()
        return lock
    }

    /// Writes `note` to the file, or removes the present one, if the file is writable.
    package mutating func leave(note: Int64?) {
        self.note = note
        write()
    }

    /// Writes the holder's line; the lock does not depend on it, so errors such as a full disk are ignored.
    private func write() {
        guard isWritable else { return }
        var line = FileLockHolder.own
        line.note = note
        let bytes = Array(line.line.utf8)
        // In one step and in place: a process that is killed here leaves the one line or the other.
        let written = bytes.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
        if written == bytes.count { ftruncate(file.number, written) }
    }

    /// True if nothing else is lost by writing to the file: it is a regular file with one name.
    private static func isForUsAlone(_ file: borrowing Descriptor) -> Bool {
        guard let status = try? file.status() else { return false }
        return status.kind == .regular && !status.hasOtherNames
    }

    // Without O_NONBLOCK, opening a FIFO waits for somebody at its other end.
    private static func open(_ place: FilePlace, _ isWritable: inout Bool) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: place, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
        } catch {
            // On a disk that has become read-only the lock that is there still keeps others out.
            guard error.isPermission else { throw error }
            isWritable = false
            let failure = error
            do throws(SystemError) {
                return try Descriptor(opening: place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            } catch {
                throw failure
            }
        }
    }

    private init(file: consuming Descriptor, isWritable: Bool) {
        let left = try? file.readAll(limit: FileLockHolder.longestLine)
        note = left.flatMap(FileLockHolder.parse)?.note
        self.file = file
        self.isWritable = isWritable
    }
}
