// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdObservability
import BearerdRedis
import BearerdSystem
import BearerdTokenStore
import OAuth

/// The use that a process makes of the configured store.
enum StoreAccess {
    /// Sessions are read and written.
    case full
    /// As ``full``, for a command that is useless where nothing can be written.
    case forReplacing
    /// Stored data stays as it is, damaged files too.
    case examination
    /// The store is left alone, and nothing is kept.
    case none
}

/// All that stores of any kind work with.
struct StoreParts {
    /// Reads and writes files.
    let thread: ThreadExecutor
    let secrets: SecretReader
    let files: FileExecutor
    let loop: EventLoop
    let trust: TrustStores
    let log: Log
    /// Called with failures of the store if there is no log.
    let onTrouble: (@Sendable (String) -> Void)?
}

extension Configuration {
    /// Opens the store of the sessions.
    ///
    /// - Parameter keyringKey: the store's, if the Secret Service has it.
    /// - Throws: `FileStoreError`, and what reading a key throws.
    func openStore(
        for access: StoreAccess, keyringKey: Secret?, with parts: StoreParts
    ) throws -> any SessionStore {
        let form: StoreForm
        switch access == .none ? .memory : store {
        case .redis(let redis):
            guard let sealer = EncryptingSealer(key: try redis.encryptionKey.read()) else {
                throw FileStoreError.badKey
            }
            var settings = try redis.settings(
                timeouts: timeouts, secrets: parts.secrets, files: parts.files, trust: parts.trust)
            settings.identities = Set(identities.map(\.name))
            return RedisStore(settings, sealer: sealer, on: parts.loop) { event in event.tell(parts.log) }
        case .memory: form = .memory
        case .file(let directory, .given(let key)?): form = .directory(directory, key: try key.read())
        case .file(let directory, .keyring?): form = .directory(directory, key: keyringKey)
        case .file(let directory, nil): form = .directory(directory, key: nil)
        }
        return try form.open(on: parts.thread, isExamined: access == .examination) { entry in
            parts.log.error(
                "a stored session is damaged and was put aside",
                [
                    .identity: .string(entry.identity), .file: .string(entry.keptAs ?? entry.path),
                    .hint: .string(entry.consequence),
                ])
            parts.onTrouble?(entry.sentence)
        }
    }
}

extension DamagedEntry {
    fileprivate var consequence: String {
        hasPrevious
            ? "the generation before is used"
            : "nothing else is there: a daemon that has the session writes it again; without one, log in again"
    }

    /// The message for commands, which have no log.
    fileprivate var sentence: String {
        let place = keptAs.map { ", and was put aside as \($0)" } ?? ""
        return "\(identity): the stored session \(path) is damaged\(place); \(consequence)"
    }
}
