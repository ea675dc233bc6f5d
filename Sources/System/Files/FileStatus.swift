// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the file system says about a file (`stat`).
package struct FileStatus: Equatable, Sendable {
    /// The kinds that matter to us.
    package enum Kind: Sendable {
        case regular, directory, symbolicLink, socket, other
    }

    package let kind: Kind
    /// The permission bits with set-uid, set-gid and sticky, so 0o600 for a private file.
    package let mode: UInt32
    /// The owner's user number.
    package let owner: UInt32
    /// In bytes.
    package let size: Int64
    /// Whether no name leads there any more.
    package let isRemoved: Bool
    /// Whether more than one name leads there.
    let hasOtherNames: Bool
    /// Changes whenever the content or the file behind the name does.
    package let fingerprint: FileFingerprint

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFSOCK: .socket
            default: .other
            }
        mode = status.st_mode & 0o7777
        owner = status.st_uid
        size = Int64(status.st_size)
        isRemoved = status.st_nlink == 0
        hasOtherNames = status.st_nlink > 1
        fingerprint = FileFingerprint(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modifiedNanoseconds: Int64(status.st_mtim.tv_sec) &* 1_000_000_000
                &+ Int64(status.st_mtim.tv_nsec))
    }

    /// Whether `mode` allows the group or everybody to write.
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }

    /// Whether `mode` allows everybody to read.
    package var isReadableByAll: Bool { mode & 0o004 != 0 }

    /// Whose a file is that names commands, secrets or keys, or a directory of such: its owner can change it at any time.
    package enum Ownership: Sendable {
        /// Root's, or ours.
        case own
        /// Another user's, who may know what they do: we are not root, or were made it by them (`SUDO_UID`).
        case others
        /// That of a user who would be root by it.
        case usurped
    }

    package var ownership: Ownership {
        let user = CurrentProcess.effectiveUser
        if owner == 0 || owner == user { return .own }
        return user != 0 || CurrentProcess.environment("SUDO_UID") == "\(owner)" ? .others : .usurped
    }
}

/// Tells whether a name still stands for the same content: file, size and time of the last write.
package struct FileFingerprint: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modifiedNanoseconds: Int64

    /// Whether both are of one file, whatever was written to it.
    package func isSameFile(as other: FileFingerprint) -> Bool {
        device == other.device && inode == other.inode
    }
}
