// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The calls on files that bearerd makes; all of them block.
package enum FileSystem {
    /// What `path` is.
    ///
    /// - Parameters:
    ///   - path: absolute, or from the working directory.
    ///   - followsLink: whether a symbolic link is looked through (`stat`) or at (`lstat`).
    /// - Returns: nil if there is nothing.
    /// - Throws: ``SystemError``.
    package static func status(
        of path: String, followingLink followsLink: Bool = true
    ) throws(SystemError) -> FileStatus? {
        try status(of: FilePlace(path), followingLink: followsLink)
    }

    /// What a file is, with what it may be behind a link.
    ///
    /// - Returns: nil if there is nothing.
    /// - Throws: ``SystemError``.
    package static func status(
        of place: FilePlace, followingLink followsLink: Bool
    ) throws(SystemError) -> FileStatus? {
        var status = stat()
        guard fstatat(place.base, place.name, &status, followsLink ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            let failure = SystemError.last(.stat, place.path)
            if failure.isMissing { return nil }
            throw failure
        }
        return FileStatus(status)
    }

    /// What tells whether a name stands for the same content as before, looked at through links.
    ///
    /// - Returns: nil for what is not there, or cannot be looked at: to become so is a change too.
    package static func fingerprint(of path: String) -> FileFingerprint? {
        try? status(of: path)?.fingerprint
    }

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: absolute, or from the working directory.
    ///   - limit: of bytes; a longer file is an error (`EFBIG`).
    ///   - followsLink: whether a symbolic link as the last part is followed or an error (`ELOOP`).
    /// - Returns: the content, with what the file was when it was read.
    /// - Throws: ``SystemError``.
    package static func read(
        _ path: String, limit: Int, followingLink followsLink: Bool = true
    ) throws(SystemError) -> (bytes: [UInt8], status: FileStatus) {
        try read(FilePlace(path), limit: limit, followingLink: followsLink)
    }

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - place: where it is.
    ///   - limit: of bytes; a longer file is an error (`EFBIG`).
    ///   - followsLink: whether a symbolic link as the last part is followed or an error (`ELOOP`).
    /// - Returns: the content, with what the file was when it was read.
    /// - Throws: ``SystemError``.
    package static func read(
        _ place: FilePlace, limit: Int, followingLink followsLink: Bool
    ) throws(SystemError) -> (bytes: [UInt8], status: FileStatus) {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let file = try Descriptor(opening: place, O_RDONLY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
        let status = try file.status()
        guard let bytes = try file.readAll(limit: limit) else {
            throw SystemError(.read, path: place.path, code: EFBIG)
        }
        return (bytes, status)
    }

    /// Makes a directory for us alone, with the parents it lacks; one that is there is left as it is.
    ///
    /// - Parameter path: made with mode 0700, parents with 0755, whatever the umask takes away.
    /// - Throws: ``SystemError``.
    package static func createPrivateDirectory(_ path: String) throws(SystemError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.dropLast(1).lastIndex(of: "/"), slash > path.startIndex else {
            throw .last(.mkdir, path)
        }
        try createDirectory(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last(.mkdir, path) }
    }

    private static func createDirectory(_ path: String) throws(SystemError) {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .last(.mkdir, path)
        }
        try createDirectory(String(path[..<slash]))
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .last(.mkdir, path) }
    }

    /// The names in a directory, without `.` and `..`, sorted.
    ///
    /// - Throws: ``SystemError``.
    package static func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else { throw .last(.opendir, directory) }
        return names(reading: stream)
    }

    /// The names that `stream` still has, which is closed then.
    static func names(reading stream: OpaquePointer) -> [String] {
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Gives a file another name in the same file system, replacing what had it (`rename`).
    ///
    /// - Throws: ``SystemError``.
    package static func rename(_ place: FilePlace, to new: FilePlace) throws(SystemError) {
        guard renameat(place.base, place.name, new.base, new.name) == 0 else {
            throw .last(.rename, place.path)
        }
    }

    /// Lets every user connect to a Unix socket of ours, whatever the umask: the socket itself, never what a link in its
    /// place leads to.
    ///
    /// - Throws: ``SystemError``; `ENOTSOCK` if somebody has put something else there.
    package static func allowAll(toUseSocket path: String) throws(SystemError) {
        let file = try Descriptor(opening: path, bearerd_open_path | O_NOFOLLOW)
        let status = try file.status()
        guard status.kind == .socket, status.owner == CurrentProcess.effectiveUser else {
            throw SystemError(.open, path: path, code: ENOTSOCK)
        }
        guard chmod("/proc/self/fd/\(file.number)", 0o666) == 0 else { throw .last(.chmod, path) }
    }

    /// Takes a name away (`unlink`); none there is no error.
    ///
    /// - Throws: ``SystemError``.
    package static func remove(_ place: FilePlace) throws(SystemError) {
        guard unlinkat(place.base, place.name, 0) == 0 || errno == ENOENT else {
            throw .last(.unlink, place.path)
        }
    }

    /// Returns once the names in a directory are on the disk.
    ///
    /// - Throws: ``SystemError``.
    package static func synchronize(directory: String) throws(SystemError) {
        try Descriptor(opening: directory, O_RDONLY | O_DIRECTORY).synchronize()
    }
}
