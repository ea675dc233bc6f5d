// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdRedis
import BearerdTokenStore
import OAuth
import Synchronization

/// The store for commands that only look at it; it is opened on first use and not changed.
final class ExaminedStore: Sendable {
    private let configuration: Configuration
    private let loop: EventLoop
    private let onTrouble: (@Sendable (String) -> Void)?
    private let configured = Mutex<ConfiguredSessions?>(nil)
    private let keyring = Mutex<Result<Secret?, KeyringFailure>?>(nil)

    /// - Parameter onTrouble: called with one line for each damaged session.
    init(
        _ configuration: Configuration, loop: EventLoop, onTrouble: (@Sendable (String) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.loop = loop
        self.onTrouble = onTrouble
    }

    /// The stored session of an identity.
    ///
    /// - Returns: nil if there is none, or the store is in memory.
    /// - Throws: the reason why the store cannot be opened or read.
    func session(of identity: String) async throws(CommandFailure) -> StoredSession? {
        switch configuration.store {
        case .memory: return nil
        case .file(let directory, _):
            // Opening a store makes its directory.
            do throws(FileStoreError) {
                guard try StoreDirectory.exists(directory) else { return nil }
            } catch {
                throw CommandFailure(error)
            }
        case .redis: break
        }
        let configured = try open()
        do throws(StoreError) {
            return try await configured.store.load(identity)
        } catch {
            throw CommandFailure(error.exitStatus, "\(identity): the store: \(error.reason)")
        }
    }

    /// The store's key in the Secret Service, asked for once; nil if there is none or it is not needed.
    var keyringKey: Result<Secret?, KeyringFailure> {
        keyring.withLock { known in
            if let known { return known }
            let outcome: Result<Secret?, KeyringFailure>
            do throws(KeyringFailure) {
                outcome = .success(try configuration.store.keyringKey(isExamined: true))
            } catch {
                outcome = .failure(error)
            }
            known = outcome
            return outcome
        }
    }

    /// Checks that a store on a server can be read.
    func probe() async throws(CommandFailure) {
        guard case .redis = configuration.store else { return }
        try await open().probeStore()
    }

    /// Tests the operations of a store on a server, and returns what it reports; nil for other stores.
    func examine() async throws(CommandFailure) -> RedisExamination? {
        guard case .redis = configuration.store else { return nil }
        return try await open().examineStore()
    }

    private func open() throws(CommandFailure) -> ConfiguredSessions {
        try configured.withLock { configured throws(CommandFailure) in
            if let configured { return configured }
            let key: Secret?
            do throws(KeyringFailure) {
                key = try keyringKey.get()
            } catch {
                throw CommandFailure(error)
            }
            let opened = try ConfiguredSessions(
                forCommandOn: configuration, loop: loop, keyringKey: key, access: .examination,
                onTrouble: onTrouble)
            configured = opened
            return opened
        }
    }
}
