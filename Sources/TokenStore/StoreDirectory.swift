// SPDX-License-Identifier: Apache-2.0

import BearerdSystem

/// Finds, makes and checks the directory of a store; every call blocks for a moment.
package enum StoreDirectory {
    private static let ownSubdirectory = "bearerd"

    /// The directory to use, made if it is missing, after a check that it and our files in it are private.
    ///
    /// - Parameters:
    ///   - configured: used itself if it is missing (and made) or ours with mode 0700; else `bearerd` in it.
    static func prepare(_ configured: String, sealer: any Sealer) throws(FileStoreError) -> String {
        try withFileStoreError {
            let directory = try find(configured)
            try checkFiles(in: directory, sealer)
            return directory
        }
    }

    /// The directory to use, made if it is missing; its content is not checked.
    package static func make(_ configured: String) throws(FileStoreError) -> String {
        try withFileStoreError { try find(configured) }
    }

    /// Finds out whether sessions could be locked and written there; leaves nothing behind.
    ///
    /// - Throws: also if sessions lie in a directory that is not used because others may read it, and there is none
    ///   yet in its place.
    package static func examine(_ configured: String) throws(FileStoreError) -> StoreExamination {
        try withFileStoreError {
            let unused = try unused(configured)
            guard let directory = try locate(configured) else {
                try FileReplacement.rehearse(FilePlace("\(existingPart(of: configured))/.bearerd-probe"))
                if let unused, unused.holdsSessions {
                    throw FileStoreError.insecure(
                        path: configured, problem: "\(unused.problem), or its sessions are not used")
                }
                let path = unused == nil ? configured : "\(configured)/\(ownSubdirectory)"
                return StoreExamination(path: path, isThere: false, unused: unused)
            }
            for name in try FileSystem.names(in: directory) where StorePaths.isOurs(name) {
                let path = "\(directory)/\(name)"
                guard let file = try FileSystem.status(of: path, followingLink: false),
                    let problem = problem(withFile: file)
                else { continue }
                throw FileStoreError.insecure(path: path, problem: problem)
            }
            let probe = FilePlace("\(directory)/.probe")
            defer { try? FileSystem.remove(probe) }
            _ = try FileLock.acquire(probe)
            try FileReplacement.rehearse(probe, writing: 4096)
            return StoreExamination(path: directory, isThere: true, unused: unused)
        }
    }

    /// - Returns: nil if the directory is used itself, or is missing.
    private static func unused(_ configured: String) throws -> StoreExamination.Unused? {
        guard let status = try FileSystem.status(of: configured),
            let problem = problem(withDirectory: status)
        else { return nil }
        // We may not be able to read another user's directory.
        let names = (try? FileSystem.names(in: configured)) ?? []
        return StoreExamination.Unused(
            problem: problem, substitute: "\(configured)/\(ownSubdirectory)",
            isOurs: status.owner == CurrentProcess.effectiveUser,
            holdsSessions: names.contains(where: StorePaths.isSession))
    }

    /// The problem with a directory that is another user's own store: closed to all but him, and with no session of ours in the
    /// one that would be used in its place; nil for any other directory.
    package static func strangersProblem(with configured: String) -> String? {
        guard let status = (try? FileSystem.status(of: configured)) ?? nil, status.kind == .directory,
            status.owner != CurrentProcess.effectiveUser, status.mode & 0o077 == 0
        else { return nil }
        let ours = (try? FileSystem.names(in: "\(configured)/\(ownSubdirectory)")) ?? []
        return ours.contains(where: StorePaths.isSession) ? nil : ownerProblem(status)
    }

    /// Returns true if a session of the identity is in the directory that would be used; false too where nobody can tell.
    package static func holdsSession(of identity: String, in configured: String) -> Bool {
        guard let directory = (try? locate(configured)) ?? nil else { return false }
        return (try? FileSystem.status(of: "\(directory)/\(StorePaths.name(of: identity))")) ?? nil != nil
    }

    /// The configured directory, if it holds sessions and is not used itself; nil too if it cannot be looked at.
    package static func hidden(in configured: String) -> StoreExamination.Unused? {
        guard let unused = (try? unused(configured)) ?? nil, unused.holdsSessions else { return nil }
        return unused
    }

    /// Returns true if there are encrypted sessions in the directory that is or may be used.
    package static func holdsEncrypted(_ configured: String) -> Bool {
        [configured, "\(configured)/\(ownSubdirectory)"].contains { directory in
            ((try? FileSystem.names(in: directory)) ?? []).contains { name in
                guard StorePaths.isSession(name) else { return name == EncryptionMark.fileName }
                let file = try? FileSystem.read("\(directory)/\(name)", limit: FileStore.maximumBytes)
                return file.map { SealedHeader.isSealed($0.bytes) } ?? false
            }
        }
    }

    /// Returns true if the directory exists that ``prepare(_:sealer:)`` would make.
    package static func exists(_ configured: String) throws(FileStoreError) -> Bool {
        try withFileStoreError { try locate(configured) != nil }
    }

    /// The directory in use; nil if it does not exist yet.
    private static func locate(_ configured: String) throws -> String? {
        guard let status = try FileSystem.status(of: configured) else { return nil }
        guard status.kind == .directory
        else { throw FileStoreError.insecure(path: configured, problem: FileStoreError.noDirectory) }
        guard !isPrivate(status) else { return configured }
        let own = "\(configured)/\(ownSubdirectory)"
        guard let status = try FileSystem.status(of: own, followingLink: false) else { return nil }
        if let problem = problem(withDirectory: status) {
            throw FileStoreError.insecure(path: own, problem: problem)
        }
        return own
    }

    private static func existingPart(of path: String) throws -> String {
        if try FileSystem.status(of: path) != nil { return path }
        var parent = path[...]
        while let slash = parent.dropLast().lastIndex(of: "/"), slash > parent.startIndex {
            parent = parent[..<slash]
            if try FileSystem.status(of: String(parent)) != nil { return String(parent) }
        }
        return "/"
    }

    private static func find(_ configured: String) throws -> String {
        let trimmed =
            configured.count > 1 && configured.hasSuffix("/") ? String(configured.dropLast()) : configured
        try FileSystem.createPrivateDirectory(trimmed)
        if let status = try FileSystem.status(of: trimmed), isPrivate(status) { return trimmed }
        let own = "\(trimmed)/\(ownSubdirectory)"
        try FileSystem.createPrivateDirectory(own)
        try checkDirectory(own)
        return own
    }

    private static func withFileStoreError<Value>(
        _ body: () throws -> Value
    ) throws(FileStoreError) -> Value {
        do {
            return try body()
        } catch let error as FileStoreError {
            throw error
        } catch let error as SystemError {
            throw .unusable(error)
        } catch {
            preconditionFailure("the calls above throw no other type")
        }
    }

    /// The problem with a file that holds tokens; nil if it is regular, ours and of mode 0600.
    static func problem(withFile status: FileStatus) -> String? {
        if status.kind != .regular { return FileStoreError.noFile }
        if status.owner != CurrentProcess.effectiveUser { return ownerProblem(status) }
        if status.mode != 0o600 { return "has mode \(octal(status.mode)), must be 0600: chmod 600" }
        return nil
    }

    /// The problem with a directory; nil if it is ours and of mode 0700.
    ///
    /// The set-group-ID bit is allowed: directories inherit it (on a Kubernetes volume with `fsGroup`), and it lets
    /// nobody in.
    static func problem(withDirectory status: FileStatus) -> String? {
        if status.kind != .directory { return "is not a directory" }
        if status.owner != CurrentProcess.effectiveUser { return ownerProblem(status) }
        if status.mode & ~0o2000 != 0o700 { return "has mode \(octal(status.mode)), must be 0700: chmod 700" }
        return nil
    }

    /// Returns true if anybody but us may read or change a directory.
    static func isOpenToOthers(_ status: FileStatus) -> Bool {
        status.kind != .directory || status.owner != CurrentProcess.effectiveUser || status.mode & 0o077 != 0
    }

    private static func isPrivate(_ status: FileStatus) -> Bool { problem(withDirectory: status) == nil }

    private static func checkDirectory(_ path: String) throws {
        // Links are not followed: in a directory that is not ours, somebody else may have made it.
        guard let status = try FileSystem.status(of: path, followingLink: false),
            let problem = problem(withDirectory: status)
        else { return }
        throw FileStoreError.insecure(path: path, problem: problem)
    }

    private static func checkFiles(in directory: String, _ sealer: any Sealer) throws {
        for name in try FileSystem.names(in: directory) where StorePaths.isOurs(name) {
            let path = "\(directory)/\(name)"
            // Another process may have renamed it since.
            guard let status = try FileSystem.status(of: path, followingLink: false) else { continue }
            if let problem = problem(withFile: status) {
                throw FileStoreError.insecure(path: path, problem: problem)
            }
            if name.hasSuffix(StorePaths.suffix), isForeign(path, sealer) == true,
                isForeign(StorePaths.previous(of: path), sealer) ?? true
            {
                throw FileStoreError.foreign(path: path, problem: sealer.foreignProblem)
            }
        }
    }

    /// Returns true if a file is encrypted with another key; nil if it cannot be read.
    private static func isForeign(_ path: String, _ sealer: any Sealer) -> Bool? {
        guard let file = try? FileSystem.read(path, limit: FileStore.maximumBytes, followingLink: false)
        else { return nil }
        return sealer.isForeign(file.bytes)
    }

    private static func ownerProblem(_ status: FileStatus) -> String {
        "belongs to user \(status.owner), not to us (\(CurrentProcess.effectiveUser))"
    }

    private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}
