// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The ``TrustStore``s of one configuration: each `ca_file` is parsed once, however many routes and identities name it.
package final class TrustStores: Sendable {
    /// By path; the empty path stands for the system's bundle.
    private let stores = Mutex<[String: TrustStore]>([:])

    package init() {}

    /// The authorities of a file, or the system's.
    ///
    /// Blocks on the file system; call it while the configuration is read, not on a loop.
    package func store(caFile: String?) throws(TrustStore.LoadError) -> TrustStore {
        let key = caFile ?? ""
        if let known = stores.withLock({ $0[key] }) { return known }
        let loaded = if let caFile { try TrustStore(file: caFile) } else { try TrustStore.system() }
        stores.withLock { $0[key] = loaded }
        return loaded
    }
}
