// SPDX-License-Identifier: Apache-2.0

import Configuration
import Cryptography
import OAuth
import Observability
import System

/// A key that clients of a listener must send, as it is in its file now.
struct KeyWatch: Sendable {
    /// What requests are judged by.
    let key: CurrentSecret

    private let source: SecretSource
    private let log: Log

    /// Reads the key for the first time.
    init(_ source: SecretSource, log: Log) throws(CredentialError) {
        self.source = source
        self.log = log
        key = CurrentSecret(try source.read())
    }

    /// Goes on until the process ends; a key that is in no file does not change.
    ///
    /// - Parameter thread: reads the file.
    func start(_ watcher: FileWatcher, on thread: ThreadExecutor) {
        guard case .file(let path) = source else { return }
        let changes = watcher.changes(of: path)
        let log = log.with(.file, .string(path))
        Task(executorPreference: thread) {
            for await _ in changes { reload(log) }
        }
    }

    private func reload(_ log: Log) {
        do throws(CredentialError) {
            key.replace(with: try source.read())
            log.notice("key changed")
        } catch {
            log.error("a changed key cannot be used; the one before stays", [.reason: .string(error.reason)])
        }
    }
}
