// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import OAuth

/// Remembers in a store's directory that its sessions are encrypted, so that a plain one is not ours.
///
/// A store may be older than its key: sessions that are plain when the key first comes are taken over. The mark is
/// sealed, so that only the owner of the key can say that this is still going on. Without a mark, every encrypted
/// session counts as one.
struct EncryptionMark {
    static let fileName = "encrypted"
    /// A name that no identity has.
    private static let identity = "\0mark"

    private enum Progress: String {
        /// Plain sessions are being encrypted.
        case migrating
        /// No plain session is ours.
        case complete
    }

    private let directory: OpenDirectory
    private let sealer: any Sealer
    private var isSettled = false

    init(in directory: OpenDirectory, sealer: any Sealer) {
        self.directory = directory
        self.sealer = sealer
    }

    private var place: FilePlace { directory.file(EncryptionMark.fileName) }

    /// Looks at all files when the store is opened.
    ///
    /// - Parameter isExamined: true if nothing may be written.
    /// - Throws: ``FileStoreError`` for a plain session that cannot be older than the key.
    func checkFiles(isExamined: Bool) throws(FileStoreError) {
        guard sealer.encrypts, let plain = files.plain.first else { return }
        guard mayBePlain else { throw .plainText(path: plain) }
        if progress == nil, !isExamined { try? write(.migrating) }
    }

    /// True if a plain session may be older than the key.
    var mayBePlain: Bool {
        switch progress {
        case .complete: false
        case .migrating: true
        case nil: !files.hasSealed
        }
    }

    /// The problem with a plain session that may not be there.
    static let problem =
        "is in plain text in an encrypted store, and is not used: whoever knows it to be good moves it away, and gives "
        + "its refresh token to an import"

    /// Notes that an encrypted session was written.
    mutating func sessionWritten() {
        guard !isSettled, sealer.encrypts else { return }
        if progress != .complete {
            guard files.plain.isEmpty, (try? write(.complete)) != nil else { return }
        }
        isSettled = true
    }

    // MARK: What is there

    /// Nil if there is no mark.
    private var progress: Progress? {
        do throws(SystemError) {
            let file = try FileSystem.read(place, limit: 4096, followingLink: false)
            guard case .plaintext(let text) = sealer.open(file.bytes, for: EncryptionMark.identity)
            else { return .complete }
            return Progress(rawValue: String(decoding: text, as: UTF8.self)) ?? .complete
        } catch {
            return error.isMissing ? nil : .complete
        }
    }

    private func write(_ progress: Progress) throws(SystemError) {
        let bytes = sealer.seal(Array(progress.rawValue.utf8), for: EncryptionMark.identity)
        _ = try FileReplacement.replace(place, with: bytes)
    }

    /// The paths of plain sessions, and whether there is an encrypted one.
    private var files: (plain: [String], hasSealed: Bool) {
        var plain: [String] = []
        var hasSealed = false
        for name in (try? directory.names()) ?? [] where StorePaths.isSession(name) {
            let place = directory.file(name)
            guard
                let file = try? FileSystem.read(
                    place, limit: FileStore.maximumBytes, followingLink: false)
            else { continue }
            if SealedHeader.isSealed(file.bytes) || SealedHeader.isOfLaterLayout(file.bytes) {
                hasSealed = true
            } else if StoredSession(decoding: file.bytes) != nil || StoredSession.isOfLaterLayout(file.bytes)
            {
                plain.append(place.path)
            }
        }
        return (plain, hasSealed)
    }
}
