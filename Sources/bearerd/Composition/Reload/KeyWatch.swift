// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdObservability
import BearerdSystem
import OAuth

/// A key that clients of a listener must send, kept up to date with its file.
struct KeyWatch: Sendable {
    /// The key by which requests are judged.
    let key: CurrentSecret

    let source: SecretSource
    private let log: Log

    /// Reads the key for the first time.
    init(_ source: SecretSource, log: Log) throws(CredentialError) {
        self.source = source
        self.log = log
        key = CurrentSecret(try source.readForField())
    }

    /// The file of the key; empty if it is in no file and therefore never changes.
    var files: [String] {
        if case .file(let path) = source { [path] } else { [] }
    }

    /// A key that was read and is not in force yet.
    struct Reading: Sendable {
        let watch: KeyWatch
        fileprivate let secret: Secret
        fileprivate let began: ContinuousClock.Instant

        /// Puts it in force, unless one is that was read later.
        @discardableResult
        func commit() -> Bool { watch.key.replace(with: secret, readAt: began) }
    }

    /// Reads the current key without changing anything; blocks.
    func read() throws(CredentialError) -> Reading {
        let began = ContinuousClock.now
        return Reading(watch: self, secret: try source.readForField(), began: began)
    }

    /// Applies the current key of the file; blocks while it is read.
    func reload() {
        do throws(CredentialError) {
            guard try read().commit() else { return }
        } catch {
            return told.error(
                "a changed key cannot be used; the one before stays", [.reason: .string(error.reason)])
        }
        told.notice("key changed")
    }

    private var told: Log {
        guard let file = files.first else { return log }
        return log.with(.file, .string(file))
    }
}
