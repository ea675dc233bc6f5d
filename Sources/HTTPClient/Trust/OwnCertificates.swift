// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The ``OwnCertificate``s of a process: one for each pair of files, however many routes name it.
package final class OwnCertificates: Sendable {
    private struct Pair: Hashable {
        let certificateFile: String
        let keyFile: String
    }

    private let known = Mutex<[Pair: OwnCertificate]>([:])

    package init() {}

    /// Returns the certificate of a pair of files.
    ///
    /// Blocks on the file system the first time; call it while the configuration is read, not on a loop.
    package func certificate(certificateFile: String, keyFile: String) -> OwnCertificate {
        let pair = Pair(certificateFile: certificateFile, keyFile: keyFile)
        if let certificate = known.withLock({ $0[pair] }) { return certificate }
        let certificate = OwnCertificate(certificateFile: certificateFile, keyFile: keyFile)
        certificate.read()
        return known.withLock { known in
            let first = known[pair] ?? certificate
            known[pair] = first
            return first
        }
    }
}
