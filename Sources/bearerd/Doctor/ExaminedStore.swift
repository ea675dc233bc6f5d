// SPDX-License-Identifier: Apache-2.0

import Configuration
import EventLoop
import OAuth
import Synchronization
import System

/// The store under examination: opened once, by the first check that wants to know what is in it.
final class ExaminedStore: Sendable {
    private let configuration: Configuration
    private let loop: EventLoop
    private let engine = Mutex<Engine?>(nil)

    init(_ configuration: Configuration, loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    /// The session that is stored for an identity.
    ///
    /// - Returns: nil if there is none, or no store on a disk.
    /// - Throws: why the store cannot be opened or read.
    func session(of identity: String) async throws(CommandFailure) -> StoredSession? {
        // Opening a store makes its directory.
        guard let directory = configuration.store.directory,
            case _? = try? FileSystem.status(of: directory)
        else { return nil }
        let engine = try open()
        do throws(StoreError) {
            return try await engine.store.load(identity)
        } catch {
            throw CommandFailure(.inputOutput, "the store: \(error.reason)")
        }
    }

    private func open() throws(CommandFailure) -> Engine {
        try engine.withLock { engine throws(CommandFailure) in
            if let engine { return engine }
            let opened = try Engine(forCommandOn: configuration, loop: loop)
            engine = opened
            return opened
        }
    }
}
