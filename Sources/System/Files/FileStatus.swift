// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The state of a file according to the file system (`stat`).
package struct FileStatus: Equatable, Sendable {
    /// The kinds of files that bearerd distinguishes.
    package enum Kind: Sendable {
        case regular, directory, symbolicLink, socket, other
    }

    package let kind: Kind
    /// The permission bits with set-uid, set-gid and sticky; 0o600 for a private file.
    package let mode: UInt32
    /// The user number of the owner.
    package let owner: UInt32
    /// The group's number.
    package let group: UInt32
    /// In bytes.
    package let size: Int64
    /// True if the file has no name any more.
    package let isRemoved: Bool
    /// True if the file has more than one name.
    let hasOtherNames: Bool
    /// Changes when the content changes or another file gets the name.
    package let fingerprint: FileFingerprint
    /// The time of the last change to the content, the mode, the owner or a name of the file.
    let changedNanoseconds: Int64

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
        group = status.st_gid
        size = Int64(status.st_size)
        isRemoved = status.st_nlink == 0
        hasOtherNames = status.st_nlink > 1
        fingerprint = FileFingerprint(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modifiedNanoseconds: Int64(status.st_mtim.tv_sec) &* 1_000_000_000
                &+ Int64(status.st_mtim.tv_nsec))
        changedNanoseconds =
            Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// True if `mode` lets the group or everybody write.
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }

    /// True if `mode` lets everybody read.
    package var isReadableByAll: Bool { mode & 0o004 != 0 }

    /// The owner of a file that names commands, secrets or keys, or of such a directory; the owner can change
    /// it at any time.
    package enum Ownership: Sendable {
        /// Root or our user.
        case own
        /// Another user, whom we may trust: we are not root, or run by that user's sudo (`SUDO_UID`).
        case others
        /// A user without root's rights, while we are root: obeying the file would give them to that user.
        case usurped
    }

    package var ownership: Ownership {
        let user = CurrentProcess.effectiveUser
        if owner == 0 || owner == user { return .own }
        return user != 0 || CurrentProcess.environment("SUDO_UID") == "\(owner)" ? .others : .usurped
    }
}

/// Identifies the content behind a name: file, size and time of the last write.
package struct FileFingerprint: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modifiedNanoseconds: Int64

    /// Returns true if both belong to the same file, whatever was written to it.
    package func isSameFile(as other: FileFingerprint) -> Bool {
        device == other.device && inode == other.inode
    }
}
