// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// An exclusive lock on a file, respected by whoever else asks for it (`flock`).
///
/// Held until this value goes, or the process dies. The file stays: removing it would let two processes lock
/// two files of one name. It says who holds it and since when, for those who wait, and what a holder has noted in it.
package struct FileLock: ~Copyable, Sendable {
    private let file: Descriptor
    private let isWritable: Bool
    /// A number that this holder or one before has left in the file; it outlives the process.
    package private(set) var note: Int64?

    /// Takes the lock if it is free; never waits.
    ///
    /// - Parameter place: the file, made with mode 0600 if there is none; one that can only be read will do.
    /// - Returns: nil if somebody else has it, in this process or another.
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

    /// Has the file say `note`, or nothing, from now on, as far as it can be written.
    package mutating func leave(note: Int64?) {
        self.note = note
        write()
    }

    /// Nobody needs it to be locked out: on a full disk there is a lock without a name on it.
    private func write() {
        guard isWritable else { return }
        var line = FileLockHolder.own
        line.note = note
        let bytes = Array(line.line.utf8)
        // In one step and in place: a process that is killed here leaves the one line or the other.
        let written = bytes.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
        if written == bytes.count { ftruncate(file.number, written) }
    }

    /// Whether nothing else is lost with the file's content: somebody may have put another one there.
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
