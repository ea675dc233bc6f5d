// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import OAuth
package import System

/// Where sessions are kept, of what a store needs no network for.
package enum StoreForm: Sendable {
    /// In the process alone.
    case memory
    /// In files of a directory, encrypted with the key if there is one: 32 bytes in base64 or hexadecimal.
    case directory(String, key: Secret?)

    /// Opens the store; blocks for a moment.
    ///
    /// - Parameters:
    ///   - thread: does the work; must outlive the store.
    ///   - watcher: on that thread; nil for one of the store's own.
    ///   - isExamined: whether what is there is only looked at.
    ///   - onDamage: hears, on `thread`, of every damaged file.
    package func open(
        on thread: ThreadExecutor, watcher: FileWatcher? = nil, isExamined: Bool = false,
        onDamage: @escaping @Sendable (DamagedEntry) -> Void = { _ in }
    ) throws(FileStoreError) -> any SessionStore {
        switch self {
        case .memory: return MemoryStore(on: thread)
        case .directory(let directory, let key):
            return try FileStore(
                directory: directory, on: thread, watcher: watcher, sealer: Self.sealer(key),
                isExamined: isExamined, onDamage: onDamage)
        }
    }

    private static func sealer(_ key: Secret?) throws(FileStoreError) -> any Sealer {
        guard let key else { return PlainSealer() }
        guard let sealer = EncryptingSealer(key: key) else { throw .badKey }
        return sealer
    }
}
