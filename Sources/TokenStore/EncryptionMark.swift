// SPDX-License-Identifier: Apache-2.0

import OAuth
import System

/// Remembers in a store's directory that sessions there are encrypted, so that one in plain text is none of ours.
///
/// A store may be older than its key: what lies there unencrypted when the key first comes is taken over. The mark is
/// sealed with the key, so that only who has it can say that this is still going on; without a mark every encrypted
/// session speaks for it.
struct EncryptionMark {
    static let fileName = "encrypted"
    /// No identity is named so.
    private static let identity = "\0mark"

    private enum Progress: String {
        /// What lies there unencrypted is being encrypted.
        case migrating
        /// Nothing that is unencrypted is ours.
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

    /// Looks at everything that is there when the store is opened.
    ///
    /// - Parameter isExamined: whether nothing is written down.
    /// - Throws: ``FileStoreError`` for a session in plain text that cannot be from before the key.
    func checkFiles(isExamined: Bool) throws(FileStoreError) {
        guard sealer.encrypts, let plain = files.plain.first else { return }
        guard mayBePlain else { throw .plainText(path: plain) }
        if progress == nil, !isExamined { try? write(.migrating) }
    }

    /// Whether a session in plain text may be from before there was a key.
    var mayBePlain: Bool {
        switch progress {
        case .complete: false
        case .migrating: true
        case nil: !files.hasSealed
        }
    }

    /// What is wrong with a session in plain text that may not.
    static let problem =
        "is in plain text in an encrypted store, and is not used: whoever knows it to be good moves it away, and gives "
        + "its refresh token to an import"

    /// An encrypted session has been written.
    mutating func sessionWritten() {
        guard !isSettled, sealer.encrypts else { return }
        if progress != .complete {
            guard files.plain.isEmpty, (try? write(.complete)) != nil else { return }
        }
        isSettled = true
    }

    // MARK: What is there

    /// nil if nothing was ever said.
    private var progress: Progress? {
        do throws(SystemError) {
            let file = try FileSystem.read(place, limit: 4096, followingLink: false)
            guard case .plaintext(let text) = sealer.open(file.bytes, for: EncryptionMark.identity) else {
                return .complete
            }
            return Progress(rawValue: String(decoding: text, as: UTF8.self)) ?? .complete
        } catch {
            return error.isMissing ? nil : .complete
        }
    }

    private func write(_ progress: Progress) throws(SystemError) {
        let bytes = sealer.seal(Array(progress.rawValue.utf8), for: EncryptionMark.identity)
        _ = try FileReplacement.replace(place, with: bytes)
    }

    /// The sessions that lie there in plain text, and whether there is one that does not.
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
