// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that is open for appending whole lines; closed with the last reference.
package final class OpenedFile: Sendable {
    private let descriptor: Descriptor
    private let path: String
    /// True if there was no file before.
    private let isNew: Bool

    /// The reason why a file cannot be appended to.
    package enum Refusal: Error, Sendable {
        case failed(SystemError)
        /// The file exists, but others may have put it there, or may read it.
        case unfit(path: String, problem: String)

        /// Text for people.
        package var reason: String {
            switch self {
            case .failed(let error):
                "\(error.path) cannot be opened for writing: \(SystemError.text(of: error.code))"
            case .unfit(let path, let problem): "\(path) \(problem)"
            }
        }

        /// True if we lack the permission to open it.
        package var isPermission: Bool {
            if case .failed(let error) = self { error.isPermission } else { false }
        }
    }

    /// The standard streams by their names, which are links.
    private static let streams: [String: CInt] = ["/dev/stdout": 1, "/dev/stderr": 2]

    /// True if the path stands for a standard stream.
    package static func isStream(_ path: String) -> Bool { streams[path] != nil }

    /// Opens a file for appending; a missing one is created with mode 0600.
    ///
    /// An existing one must belong to us alone and must not be a link, unless it is a standard stream.
    ///
    /// - Throws: ``Refusal``.
    package init(appendingTo path: String) throws(Refusal) {
        self.path = path
        do throws(SystemError) {
            if let stream = Self.streams[path] {
                // To open a socket by its name is impossible.
                let number = fcntl(stream, F_DUPFD_CLOEXEC, 3)
                guard number >= 0 else { throw .last(.open, path) }
                descriptor = Descriptor(number: number, path: path)
                isNew = false
                return
            }
            var isNew = true
            descriptor = try Self.open(path, isNew: &isNew)
            self.isNew = isNew
        } catch {
            throw error.code == ELOOP
                ? .unfit(path: path, problem: "is a link: name the file itself") : .failed(error)
        }
        if let problem = try Self.problem(with: descriptor) { throw .unfit(path: path, problem: problem) }
    }

    /// - Parameter isNew: false afterwards if the file was there.
    private static func open(_ path: String, isNew: inout Bool) throws(SystemError) -> Descriptor {
        // Without O_NONBLOCK, opening a FIFO waits for a reader.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        do {
            return try Descriptor(opening: path, flags | O_EXCL, mode: 0o600)
        } catch  where error.code == EEXIST {
            isNew = false
            return try Descriptor(opening: path, flags, mode: 0o600)
        }
    }

    /// Removes the file again if it was made here, and nothing was written to it.
    package func undo() {
        guard isNew, let status = try? descriptor.status(), status.size == 0 else { return }
        try? FileSystem.remove(FilePlace(path))
    }

    private static func problem(with descriptor: borrowing Descriptor) throws(Refusal) -> String? {
        let status: FileStatus
        do throws(SystemError) {
            status = try descriptor.status()
        } catch {
            throw .failed(error)
        }
        let user = CurrentProcess.effectiveUser
        if status.kind != .regular { return "is no regular file" }
        if status.owner != user { return "belongs to user \(status.owner), not to us (\(user)): chown it" }
        let mode = String(status.mode, radix: 8)
        return status.mode & ~0o600 == 0 ? nil : "has mode \(mode), must be 600: chmod 600"
    }

    /// Appends whole lines.
    ///
    /// A line that could not be written completely is removed again, unless another process has written
    /// behind it.
    ///
    /// - Returns: the number of bytes in completely written lines, and the failure that prevented the rest.
    func append(_ lines: [UInt8]) -> (written: Int, failure: SystemError?) {
        let (written, failure) = Descriptor.write(lines, to: descriptor.number)
        guard let failure else { return (written, nil) }
        return (takeBackTail(of: lines[..<written]), SystemError(.write, path: path, code: failure))
    }

    /// Removes the incomplete line at the end of the file.
    ///
    /// - Returns: the number of bytes in complete lines.
    private func takeBackTail(of written: ArraySlice<UInt8>) -> Int {
        let whole = written.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let tail = off_t(written.count - whole)
        guard tail > 0 else { return whole }
        let end = lseek(descriptor.number, 0, SEEK_CUR)
        guard end >= tail, lseek(descriptor.number, 0, SEEK_END) == end else { return whole }
        ftruncate(descriptor.number, end - tail)
        return whole
    }
}
