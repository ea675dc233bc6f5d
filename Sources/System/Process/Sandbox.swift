// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc
internal import Synchronization

/// What a process may still do after it has locked itself in (Landlock); everything else of files and TCP is denied.
///
/// Descriptors that are open stay as they are, and so do UDP sockets and Unix sockets with a path: Landlock does not
/// judge them. Abstract Unix sockets of others, and other processes, are out of reach since its version 6.
package struct Sandbox: Sendable {
    /// What came of it.
    package enum Extent: Equatable, Sendable {
        /// The kernel has no Landlock, or it is turned off.
        case none
        /// The version of Landlock that is in force.
        case landlock(version: Int)
    }

    /// Since this version TCP is judged too.
    package static let versionForPorts = 4
    /// Newer versions only add rights that this code does not know.
    private static let newestVersion = 7

    /// Files that are read, perhaps anew after somebody has replaced them.
    private var files: Set<String> = []
    private var directories: Set<String> = []
    private var written: Set<String> = []
    /// Directories that Unix sockets may be made in, and files taken out of.
    private var cleared: Set<String> = []
    /// Whether no TCP port can be listened on any more.
    package var deniesBinding = true
    /// TCP ports that may be connected to; nil for any.
    package var connectPorts: Set<UInt16>?

    /// Nothing is allowed yet but to connect anywhere.
    package init() {}

    /// Lets a file be read, also after another has taken its name.
    ///
    /// Landlock's rules hang on what stands behind a name, so this allows the directory that the name is in, and the one
    /// that a link leads to; unless nobody can replace the file, because it is mounted there by itself.
    package mutating func allow(file path: String) {
        let real = Self.realPath(path)
        if let real, bearerd_is_mount_point(real) == 1 {
            files.insert(real)
            return
        }
        for path in [Self.realDirectory(of: path), real.flatMap { Self.realDirectory(of: $0) }] {
            guard let path else { continue }
            // What is in the root itself would open everything.
            if path == "/" { files.insert(real ?? path) } else { directories.insert(path) }
        }
    }

    /// Lets a file be read for as long as nobody replaces it, or everything in a directory; none there is no error.
    package mutating func allow(fixed path: String) { files.insert(path) }

    /// Lets everything be done to what is in a directory.
    package mutating func allow(writing directory: String) { written.insert(directory) }

    /// Lets a file be written, and made anew, which opens the directory that its name is in.
    package mutating func allow(creatingIn path: String) {
        if let directory = Self.realDirectory(of: path), directory != "/" { written.insert(directory) }
    }

    /// Lets everything be done to what is in a directory, also after another one has taken its name.
    ///
    /// That takes a rule on the directory above, so only where that is ours alone; or where we are not root, and the kernel
    /// keeps us from what is not ours there. Nobody's home is opened by that.
    ///
    /// - Parameter isParentDedicated: whether nothing else of the user's lives in the directory above.
    package mutating func allow(replacing directory: String, isParentDedicated: Bool) {
        written.insert(directory)
        guard let real = Self.realPath(directory), let parent = Self.realDirectory(of: real),
            parent.count(where: { $0 == "/" }) > 1, let status = try? FileSystem.status(of: parent),
            status.ownership == .own, !status.isWritableByOthers
        else { return }
        let isPrivate = status.owner == geteuid() && status.mode & 0o077 == 0
        let home = CurrentProcess.environment("HOME").flatMap(Self.realPath)
        if isPrivate || geteuid() != 0 && (isParentDedicated || parent != home) { written.insert(parent) }
    }

    /// Whether the sandbox that this process is in, if it is in one, lets a directory that is made anew be written to.
    package static func allowsReplacing(_ directory: String) -> Bool {
        guard let written = entered.withLock({ $0 }) else { return true }
        return realDirectory(of: directory).map(written.contains) ?? false
    }

    /// What the sandbox that is in force lets be written to; nil while there is none.
    private static let entered = Mutex<Set<String>?>(nil)

    /// Lets a Unix socket be made and removed, and with it whatever is in its directory and below.
    ///
    /// Only where the directory is ours alone, and not one that many share, such as `/run`.
    package mutating func allow(socket path: String) {
        guard let directory = Self.realDirectory(of: path), Self.isOurs(directory) else { return }
        cleared.insert(directory)
    }

    private static func isOurs(_ directory: String) -> Bool {
        var status = stat()
        return directory.count { $0 == "/" } > 1 && stat(directory, &status) == 0
            && status.st_uid == geteuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// How many places may be read or changed.
    package var placeCount: Int { files.union(directories).union(written).union(cleared).count }

    /// The version of Landlock that the kernel has; nil for none.
    package static var version: Int? {
        let version = bearerd_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Locks the calling thread in, and all that it will start; for ever.
    ///
    /// Threads that are there already stay free, so call it before there are any.
    ///
    /// - Throws: ``SystemError`` if the kernel has Landlock and does not take these rules; nothing is changed then.
    package func enter() throws(SystemError) -> Extent {
        let version = min(bearerd_landlock_version(), CInt(Self.newestVersion))
        guard version > 0 else { return .none }
        let rules = bearerd_landlock_begin(version, deniesBinding ? 1 : 0, connectPorts == nil ? 0 : 1)
        guard rules >= 0 else { throw .last(.landlock) }
        do throws(SystemError) {
            for path in files.union(directories) { try allow(path, writes: false, rules, version) }
            for path in written { try allow(path, writes: true, rules, version) }
            for path in cleared where bearerd_landlock_allow_sockets(rules, path) != 0 {
                try Self.forgive(path)
            }
            if version >= Self.versionForPorts {
                for port in connectPorts ?? [] where bearerd_landlock_allow_port(rules, port) != 0 {
                    throw SystemError.last(.landlock)
                }
            }
        } catch {
            close(rules)
            throw error
        }
        guard bearerd_landlock_enter(rules) == 0 else { throw .last(.landlock) }
        Self.entered.withLock { $0 = written }
        return .landlock(version: Int(version))
    }

    private func allow(
        _ path: String, writes: Bool, _ rules: CInt, _ version: CInt
    ) throws(SystemError) {
        guard bearerd_landlock_allow_path(rules, version, path, writes ? 1 : 0) != 0 else { return }
        try Self.forgive(path)
    }

    /// What is not there, or is not for us to see, needs no rule.
    private static func forgive(_ path: String) throws(SystemError) {
        guard errno == ENOENT || errno == ENOTDIR || errno == EACCES else { throw .last(.landlock, path) }
    }

    private static func realPath(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    private static func realDirectory(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return realPath(".") }
        return realPath(slash == path.startIndex ? "/" : String(path[..<slash]))
    }
}
