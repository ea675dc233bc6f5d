// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc
internal import Synchronization

/// The access to files and TCP that a process keeps after it has restricted itself by Landlock; all other is
/// denied.
///
/// Open descriptors stay usable. Landlock does not cover UDP sockets and Unix sockets with a path. Since its
/// version 6 abstract Unix sockets and processes outside the sandbox are out of reach.
package struct Sandbox: Sendable {
    /// The extent to which a sandbox is in force.
    package enum Extent: Equatable, Sendable {
        /// The kernel has no Landlock, or it is turned off.
        case none
        /// The version of Landlock that is in force.
        case landlock(version: Int)
    }

    /// The first version of Landlock that covers TCP.
    package static let versionForPorts = 4
    /// The newest version whose rights this code knows.
    private static let newestVersion = 7

    /// Files and directories that may be read, even after a replacement.
    private var files: Set<String> = []
    private var directories: Set<String> = []
    private var written: Set<String> = []
    /// Directories in which Unix sockets may be created and files removed.
    private var cleared: Set<String> = []
    /// True if no TCP port may be bound any more.
    package var deniesBinding = true
    /// The TCP ports that may be connected to; nil allows all.
    package var connectPorts: Set<UInt16>?

    /// Makes a sandbox that allows nothing but connecting anywhere.
    package init() {}

    /// Allows a file to be read, even after another file has replaced it.
    ///
    /// A rule of Landlock belongs to the object behind a name. So this allows the file's whole directory, and
    /// that of a link's target; or only the file, if it is a mount point and cannot be replaced. Where links lead on the
    /// way, it also allows the directories in which they and their targets stand, so that a link may be replaced by one
    /// to a sibling; but not the directories that many programs share. Where the file's directory is all that its own parent
    /// holds, the parent is allowed, so that the directory may be removed and made anew. See ``hides(_:)`` for all other places.
    package mutating func allow(file path: String) {
        let real = FileLinks.realPath(path)
        if let real, bearerd_is_mount_point(real) == 1 {
            files.insert(real)
            return
        }
        for path in [Self.realDirectory(of: path), real.flatMap { Self.realDirectory(of: $0) }] {
            guard let path else { continue }
            // The directory of a file in the root would open everything.
            if path == "/" { files.insert(real ?? path) } else { directories.insert(path) }
            // A directory that is removed and made anew is another one, which only a rule for its parent covers.
            if let parent = Self.realDirectory(of: path), Self.isAlone(path, in: parent) {
                directories.insert(parent)
            }
        }
        directories.formUnion(FileLinks.places(of: path).filter { !Self.isShared($0) })
    }

    /// Returns true if a directory is all that another one holds, which is no place for several programs.
    private static func isAlone(_ directory: String, in parent: String) -> Bool {
        guard parent != "/", !isShared(parent), bearerd_is_mount_point(directory) != 1,
            let names = try? OpenDirectory(parent).names()
        else { return false }
        return names.count == 1
    }

    /// Returns true for a directory that holds more than one program's files.
    private static func isShared(_ directory: String) -> Bool {
        let parts = directory.split(separator: "/")
        return parts.count < 2 || ["home", "var"].contains(parts[0]) && parts.count == 2
            || directory == CurrentProcess.environment("HOME").flatMap(FileLinks.realPath)
    }

    /// The only remedy for a place that the sandbox hides.
    package static let advice = "restart bearerd"
    /// The reason why such a place cannot be read, with the remedy.
    package static let rule = "the daemon's sandbox hides, because it came after the start; \(advice)"

    /// Returns true if the sandbox in force does not allow to read what `path` leads to now.
    ///
    /// Its directory was made, or a link turned to it, after the start; only a process that begins anew can read it.
    package static func hides(_ path: String) -> Bool {
        guard let entered = entered.withLock({ $0 }), var place = FileLinks.realPath(path) else {
            return false
        }
        while true {
            if let object = FileObject(at: place), entered.objects.contains(object) { return false }
            guard place != "/", let parent = realDirectory(of: place) else { return true }
            place = parent
        }
    }

    /// Allows a file to be read until it is replaced, or everything in a directory; a missing one is no
    /// error.
    package mutating func allow(fixed path: String) { files.insert(path) }

    /// Allows everything in a directory.
    package mutating func allow(writing directory: String) { written.insert(directory) }

    /// Allows a file to be written and created, which allows everything in its directory.
    package mutating func allow(creatingIn path: String) {
        if let directory = Self.realDirectory(of: path), directory != "/" { written.insert(directory) }
    }

    /// Allows everything in a directory, even after another one has replaced it.
    ///
    /// That needs a rule for the parent directory. It is made only if the parent belongs to our user alone,
    /// or if we are not root, so that the kernel protects what is not ours there; never for a home directory.
    ///
    /// - Parameter isParentDedicated: true if the parent holds nothing else of the user's.
    package mutating func allow(replacing directory: String, isParentDedicated: Bool) {
        written.insert(directory)
        guard let real = FileLinks.realPath(directory), let parent = Self.realDirectory(of: real),
            parent.count(where: { $0 == "/" }) > 1, let status = try? FileSystem.status(of: parent),
            status.ownership == .own, !status.isWritableByOthers
        else { return }
        let isPrivate = status.owner == geteuid() && status.mode & 0o077 == 0
        let home = CurrentProcess.environment("HOME").flatMap(FileLinks.realPath)
        if isPrivate || geteuid() != 0 && (isParentDedicated || parent != home) { written.insert(parent) }
    }

    /// Returns true if the sandbox in force, if there is one, allows writing to a directory that replaces
    /// this one.
    package static func allowsReplacing(_ directory: String) -> Bool {
        guard let written = entered.withLock({ $0?.written }) else { return true }
        return realDirectory(of: directory).map(written.contains) ?? false
    }

    /// The rights that the sandbox in force leaves.
    private struct Entered {
        /// The directories that may be written.
        let written: Set<String>
        /// The files and directories that may be read.
        let objects: Set<FileObject>
    }

    /// Nil while there is none.
    private static let entered = Mutex<Entered?>(nil)

    /// Allows a Unix socket to be created and removed, and with it everything in and below its directory.
    ///
    /// Only if the directory belongs to our user alone and is not a shared one such as `/run`.
    package mutating func allow(socket path: String) {
        guard let directory = Self.realDirectory(of: path), Self.isOurs(directory) else { return }
        cleared.insert(directory)
    }

    private static func isOurs(_ directory: String) -> Bool {
        var status = stat()
        return directory.count { $0 == "/" } > 1 && stat(directory, &status) == 0
            && status.st_uid == geteuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// The number of places that may be read or changed.
    package var placeCount: Int { files.union(directories).union(written).union(cleared).count }

    /// The kernel's version of Landlock; nil if there is none.
    package static var version: Int? {
        let version = bearerd_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Restricts the calling thread and everything that it will start, for ever.
    ///
    /// Existing threads stay unrestricted, so call it before there are any.
    ///
    /// - Throws: ``SystemError`` if the kernel has Landlock and refuses these rules; then nothing has
    ///   changed.
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
        let places = files.union(directories).union(written)
        let allowed = Entered(written: written, objects: Set(places.compactMap(FileObject.init(at:))))
        guard bearerd_landlock_enter(rules) == 0 else { throw .last(.landlock) }
        Self.entered.withLock { $0 = allowed }
        return .landlock(version: Int(version))
    }

    private func allow(
        _ path: String, writes: Bool, _ rules: CInt, _ version: CInt
    ) throws(SystemError) {
        guard bearerd_landlock_allow_path(rules, version, path, writes ? 1 : 0) != 0 else { return }
        try Self.forgive(path)
    }

    /// Ignores a place that is missing or that we may not see, because it needs no rule.
    private static func forgive(_ path: String) throws(SystemError) {
        guard errno == ENOENT || errno == ENOTDIR || errno == EACCES else { throw .last(.landlock, path) }
    }

    private static func realDirectory(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return FileLinks.realPath(".") }
        return FileLinks.realPath(slash == path.startIndex ? "/" : String(path[..<slash]))
    }
}

/// A file or directory, whatever its name.
private struct FileObject: Hashable {
    private let device: UInt64
    private let inode: UInt64

    /// Returns nil where nothing can be seen.
    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
