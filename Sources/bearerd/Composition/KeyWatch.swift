// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import OAuth
import BearerdObservability
import BearerdSystem

/// A key that clients of a listener must send, as it is in its file now.
struct KeyWatch: Sendable {
    /// What requests are judged by.
    let key: CurrentSecret

    let source: SecretSource
    private let log: Log

    /// Reads the key for the first time.
    init(_ source: SecretSource, log: Log) throws(CredentialError) {
        self.source = source
        self.log = log
        key = CurrentSecret(try source.read())
    }

    /// The file that it is in; a key that is in none does not change.
    var files: [String] {
        if case .file(let path) = source { [path] } else { [] }
    }

    /// Has requests judged by the key as it is now; blocks while it is read.
    func reload() {
        do throws(CredentialError) {
            try replaceKey()
        } catch {
            return told.error(
                "a changed key cannot be used; the one before stays", [.reason: .string(error.reason)])
        }
        told.notice("key changed")
    }

    private func replaceKey() throws(CredentialError) { key.replace(with: try source.read()) }

    private var told: Log {
        guard let file = files.first else { return log }
        return log.with(.file, .string(file))
    }
}
