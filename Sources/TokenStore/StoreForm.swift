// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdSystem
package import OAuth

/// The kinds of stores that need no network.
package enum StoreForm: Sendable {
    case memory
    /// Files of a directory, encrypted if there is a key: 32 bytes in base64 or hexadecimal.
    case directory(String, key: Secret?)

    /// Opens the store; for the parameters see ``FileStore``.
    ///
    /// Blocks for a moment.
    package func open(
        on thread: ThreadExecutor, isExamined: Bool = false,
        onDamage: @escaping @Sendable (DamagedEntry) -> Void = { _ in }
    ) throws(FileStoreError) -> any SessionStore {
        switch self {
        case .memory: return MemoryStore(on: thread)
        case .directory(let directory, let key):
            return try FileStore(
                directory: directory, on: thread, sealer: Self.sealer(key),
                isExamined: isExamined, onDamage: onDamage)
        }
    }

    private static func sealer(_ key: Secret?) throws(FileStoreError) -> any Sealer {
        guard let key else { return PlainSealer() }
        guard let sealer = EncryptingSealer(key: key) else { throw .badKey }
        return sealer
    }
}
