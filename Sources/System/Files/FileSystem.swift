// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The blocking calls on files.
package enum FileSystem {
    /// Returns the state of `path`.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - followsLink: true to follow a symbolic link (`stat`), false to look at the link (`lstat`).
    /// - Returns: nil if nothing has this name.
    /// - Throws: ``SystemError``.
    package static func status(
        of path: String, followingLink followsLink: Bool = true
    ) throws(SystemError) -> FileStatus? {
        try status(of: FilePlace(path), followingLink: followsLink)
    }

    /// Returns the state of a file, and looks through a link only if asked to.
    ///
    /// - Returns: nil if nothing has this name.
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

    /// Returns the fingerprint of the content behind `path`, with links followed.
    ///
    /// - Returns: nil for a missing or inaccessible file; a change to or from nil is a change too.
    package static func fingerprint(of path: String) -> FileFingerprint? {
        try? status(of: path)?.fingerprint
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - limit: the most bytes; a longer file is an error (`EFBIG`).
    ///   - followsLink: true to follow a symbolic link at the end of the path, false to fail (`ELOOP`).
    /// - Returns: the content, and the state of the file when it was read.
    /// - Throws: ``SystemError``.
    package static func read(
        _ path: String, limit: Int, followingLink followsLink: Bool = true
    ) throws(SystemError) -> (bytes: [UInt8], status: FileStatus) {
        try read(FilePlace(path), limit: limit, followingLink: followsLink)
    }

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - place: the file.
    ///   - limit: the most bytes; a longer file is an error (`EFBIG`).
    ///   - followsLink: true to follow a symbolic link at the end of the path, false to fail (`ELOOP`).
    /// - Returns: the content, and the state of the file when it was read.
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

    /// Creates a directory for our user alone, and its missing parents; an existing one is left as it is.
    ///
    /// - Parameter path: created with mode 0700, parents with 0755, minus the umask.
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

    /// Returns the names in a directory, sorted and without `.` and `..`.
    ///
    /// - Throws: ``SystemError``.
    package static func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else { throw .last(.opendir, directory) }
        return names(reading: stream)
    }

    /// Returns the rest of the names in `stream`, and closes it.
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

    /// Renames a file within its file system, replacing an existing one (`rename`).
    ///
    /// - Throws: ``SystemError``.
    package static func rename(_ place: FilePlace, to new: FilePlace) throws(SystemError) {
        guard renameat(place.base, place.name, new.base, new.name) == 0 else {
            throw .last(.rename, place.path)
        }
    }

    /// Lets every user connect to a Unix socket of ours, whatever the umask; never changes the target of a
    /// link.
    ///
    /// - Throws: ``SystemError``; `ENOTSOCK` if the path is not a socket of ours.
    package static func allowAll(toUseSocket path: String) throws(SystemError) {
        let file = try Descriptor(opening: path, bearerd_open_path | O_NOFOLLOW)
        let status = try file.status()
        guard status.kind == .socket, status.owner == CurrentProcess.effectiveUser else {
            throw SystemError(.open, path: path, code: ENOTSOCK)
        }
        guard chmod("/proc/self/fd/\(file.number)", 0o666) == 0 else { throw .last(.chmod, path) }
    }

    /// Removes a name (`unlink`); a missing one is no error.
    ///
    /// - Throws: ``SystemError``.
    package static func remove(_ place: FilePlace) throws(SystemError) {
        guard unlinkat(place.base, place.name, 0) == 0 || errno == ENOENT else {
            throw .last(.unlink, place.path)
        }
    }

    /// Waits until the names in a directory are on the disk (`fsync`).
    ///
    /// - Throws: ``SystemError``.
    package static func synchronize(directory: String) throws(SystemError) {
        try Descriptor(opening: directory, O_RDONLY | O_DIRECTORY).synchronize()
    }
}
