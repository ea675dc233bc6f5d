// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// An exclusive lock on a file, effective among processes that ask for it (`flock`).
///
/// It is held until this value is destroyed or the process dies. The file is never removed, because then two
/// processes could lock two files of one name. For those who wait, it contains the holder and the time since
/// when; it may also contain a note for the next holder.
package struct FileLock: ~Copyable, Sendable {
    /// The note of a file that an earlier holder could write nothing to, as on a full disk: nobody knows what it was.
    package static let unknownNote: Int64 = -1

    private let file: Descriptor
    /// The path of the file, for errors.
    private let path: String
    /// Why nothing is written to the file; nil if it is writable.
    private let obstacle: SystemError?
    /// A number that this or an earlier holder has left in the file; it outlives the process.
    package private(set) var note: Int64?

    /// Takes the lock if it is free; never waits.
    ///
    /// - Parameter place: the file, created with mode 0600 if missing; a read-only file suffices.
    /// - Returns: nil if another holder has it, in this process or another.
    /// - Throws: ``SystemError``.
    package static func acquire(_ place: FilePlace) throws(SystemError) -> FileLock? {
        var (isNew, obstacle) = (false, nil as SystemError?)
        let file = try open(place, &isNew, &obstacle)
        var result: CInt
        repeat {
            result = flock(file.number, LOCK_EX | LOCK_NB)
        } while result != 0 && errno == EINTR
        if result != 0 {
            if errno == EWOULDBLOCK { return nil }
            throw .last(.flock, place.path)
        }
        if obstacle == nil, !isForUsAlone(file) {
            obstacle = SystemError(.write, path: place.path, code: EMLINK)
        }
        let lock = FileLock(file: file, at: place, isNew: isNew, obstacle: obstacle)
        // The lock does not depend on the line, so errors such as a full disk are ignored.
        _ = lock.write()
        return lock
    }

    /// Writes `note` to the file, or removes the present one.
    ///
    /// - Returns: the failure that leaves the file as it was; nil if there was none.
    @discardableResult
    package mutating func leave(note: Int64?) -> SystemError? {
        self.note = note
        return write()
    }

    /// Writes the holder's line.
    private func write() -> SystemError? {
        if let obstacle { return obstacle }
        var line = FileLockHolder.own
        line.note = note
        let bytes = Array(line.line.utf8)
        // In one step and in place: a process that is killed here leaves the one line or the other.
        let written = bytes.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
        guard written == bytes.count else {
            return SystemError(.write, path: path, code: written < 0 ? errno : ENOSPC)
        }
        ftruncate(file.number, written)
        return nil
    }

    /// True if nothing else is lost by writing to the file: it is a regular file with one name.
    private static func isForUsAlone(_ file: borrowing Descriptor) -> Bool {
        guard let status = try? file.status() else { return false }
        return status.kind == .regular && !status.hasOtherNames
    }

    // Without O_NONBLOCK, opening a FIFO waits for somebody at its other end.
    private static func open(
        _ place: FilePlace, _ isNew: inout Bool, _ obstacle: inout SystemError?
    ) throws(SystemError) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        do throws(SystemError) {
            do throws(SystemError) {
                return try Descriptor(opening: place, flags)
            } catch {
                guard error.isMissing else { throw error }
                isNew = true
                return try Descriptor(opening: place, flags | O_CREAT, mode: 0o600)
            }
        } catch {
            // On a disk that has become read-only the lock that is there still keeps others out.
            guard error.isPermission else { throw error }
            obstacle = error
            let failure = error
            do throws(SystemError) {
                return try Descriptor(opening: place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            } catch {
                throw failure
            }
        }
    }

    private init(
        file: consuming Descriptor, at place: FilePlace, isNew: Bool, obstacle: SystemError?
    ) {
        let left = try? file.readAll(limit: FileLockHolder.longestLine)
        note =
            left?.isEmpty == true && !isNew ? Self.unknownNote : left.flatMap(FileLockHolder.parse)?.note
        self.file = file
        self.obstacle = obstacle
        path = place.path
    }
}
