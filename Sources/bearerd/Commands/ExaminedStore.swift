// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import OAuth
import BearerdRedis
import Synchronization
import BearerdTokenStore

/// The store under examination: opened once, by the first who wants to know what is in it, and left as it is.
final class ExaminedStore: Sendable {
    private let configuration: Configuration
    private let loop: EventLoop
    private let onTrouble: (@Sendable (String) -> Void)?
    private let engine = Mutex<Engine?>(nil)
    private let keyring = Mutex<Result<Secret?, KeyringFailure>?>(nil)

    /// - Parameter onTrouble: hears of damaged sessions, in one line each.
    init(
        _ configuration: Configuration, loop: EventLoop, onTrouble: (@Sendable (String) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.loop = loop
        self.onTrouble = onTrouble
    }

    /// The session that is stored for an identity.
    ///
    /// - Returns: nil if there is none, or no store on a disk.
    /// - Throws: why the store cannot be opened or read.
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
        let engine = try open()
        do throws(StoreError) {
            return try await engine.store.load(identity)
        } catch {
            throw CommandFailure(error.exitStatus, "\(identity): the store: \(error.reason)")
        }
    }

    /// The key that the Secret Service has for the store, nil if none is there or needed; asked for once.
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

    /// Finds out whether a store that others keep can be read.
    func probe() async throws(CommandFailure) {
        guard case .redis = configuration.store else { return }
        try await open().probeStore()
    }

    /// What a store that others keep says of itself, if all can be done there; nil for one that nobody else keeps.
    func examine() async throws(CommandFailure) -> RedisExamination? {
        guard case .redis = configuration.store else { return nil }
        return try await open().examineStore()
    }

    private func open() throws(CommandFailure) -> Engine {
        try engine.withLock { engine throws(CommandFailure) in
            if let engine { return engine }
            let key: Secret?
            do throws(KeyringFailure) {
                key = try keyringKey.get()
            } catch {
                throw CommandFailure(error)
            }
            let opened = try Engine(
                forCommandOn: configuration, loop: loop, keyringKey: key, isExamination: true,
                onTrouble: onTrouble)
            engine = opened
            return opened
        }
    }
}
