// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem
internal import OAuth

/// A file that holds one secret or one key.
enum SecretFile {
    /// More bytes than any key has.
    static let longest = 64 << 10

    /// The secret, without one trailing line end.
    static func read(_ path: String) throws(CredentialError) -> (secret: Secret, status: FileStatus) {
        var (bytes, status) = try contents(of: path)
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else { throw CredentialError(reason: "\(path) is empty") }
        return (Secret(bytes: bytes), status)
    }

    /// The bytes of a file that only its owner may change, if that is an owner to be trusted.
    static func contents(
        of path: String, limit: Int = longest
    ) throws(CredentialError) -> (bytes: [UInt8], status: FileStatus) {
        let (bytes, status) = try anyContents(of: path, limit)
        try check(status, of: path)
        guard status.kind == .regular || !bytes.isEmpty else {
            throw CredentialError(reason: "\(path) is no file with a text in it")
        }
        return (bytes, status)
    }

    private static func check(_ status: FileStatus, of path: String) throws(CredentialError) {
        guard !status.isWritableByOthers else {
            let mode = String(status.mode, radix: 8)
            throw CredentialError(reason: "\(path) may be written by others (mode \(mode)); chmod go-w it")
        }
        if let problem = status.ownerProblem, problem.isError {
            throw CredentialError(reason: "\(path) \(problem.reason)")
        }
    }

    /// A file as it is now, whatever is in it: somebody else writes it, and may be at it.
    static func status(of path: String) throws(CredentialError) -> FileStatus {
        let status: FileStatus?
        do throws(SystemError) {
            status = try FileSystem.status(of: path)
        } catch {
            throw unreadable(path, error)
        }
        guard let status else { throw CredentialError(reason: "\(path) is not there") }
        try check(status, of: path)
        return status
    }

    private static func unreadable(_ path: String, _ error: SystemError) -> CredentialError {
        let why =
            error.isTooLarge
            ? "cannot be read: it has more than 64 KiB" : error.reason(reading: path).words
        var unreadable = CredentialError(reason: "\(path) \(why)")
        unreadable.isDenied = error.isPermission
        return unreadable
    }

    private static func anyContents(
        of path: String, _ limit: Int
    ) throws(CredentialError) -> ([UInt8], FileStatus) {
        do throws(SystemError) {
            return try FileSystem.read(path, limit: limit)
        } catch {
            throw unreadable(path, error)
        }
    }
}

extension FileStatus {
    /// The problem with the owner of an important file, after its name; nil if there is none.
    var ownerProblem: (reason: String, isError: Bool)? {
        switch ownership {
        case .own: nil
        case .others: ("belongs to user \(owner), who can change it at any time", false)
        case .usurped:
            (
                "belongs to user \(owner), who could have us do anything as root: chown it to root, or run as that user",
                true
            )
        }
    }
}
