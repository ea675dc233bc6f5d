// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import Synchronization

/// The ``TrustStore``s of a process: each `ca_file` is parsed once, however many routes and identities name
/// it.
///
/// ``refresh(_:)`` parses the files that have changed.
package final class TrustStores: Sendable {
    private struct Entry {
        let store: TrustStore
        /// The file's fingerprint before it was read.
        let fingerprint: FileFingerprint?
    }

    /// Our own certificates for upstreams.
    package let ownCertificates = OwnCertificates()
    /// The stores for each path; the empty path stands for the system's bundle.
    private let stores = Mutex<[String: Entry]>([:])

    package init() {}

    /// Returns the authorities of a file, or the system's.
    ///
    /// Blocks on the file system the first time; call it while the configuration is read, not on a loop.
    package func store(caFile: String?) throws(TrustStore.LoadError) -> TrustStore {
        if let known = stores.withLock({ $0[caFile ?? ""] }) { return known.store }
        return try load(caFile)
    }

    /// Reads those of the files again that have changed; blocks on the file system.
    ///
    /// - Throws: the fault of the first unusable file, whose previous authorities stay in force.
    package func refresh(_ caFiles: [String?]) throws(TrustStore.LoadError) {
        for caFile in caFiles {
            let known = stores.withLock { $0[caFile ?? ""] }
            if let known, known.fingerprint == Self.fingerprint(of: caFile) { continue }
            _ = try load(caFile)
        }
    }

    private func load(_ caFile: String?) throws(TrustStore.LoadError) -> TrustStore {
        let fingerprint = Self.fingerprint(of: caFile)
        let loaded = if let caFile { try TrustStore(file: caFile) } else { try TrustStore.system() }
        stores.withLock { $0[caFile ?? ""] = Entry(store: loaded, fingerprint: fingerprint) }
        return loaded
    }

    private static func fingerprint(of caFile: String?) -> FileFingerprint? {
        (caFile ?? TrustStore.systemFile).flatMap { FileSystem.fingerprint(of: $0) }
    }
}
