// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import OAuth
internal import System

/// A file of certificates that the configuration names.
package enum CertificateFile {
    /// More than any chain takes, in bytes; authorities may be many.
    static let longest = 16 << 20

    /// Looks whether a file holds a certificate, and whether nobody but its owner may change it; blocks.
    ///
    /// - Throws: what is wrong with it.
    package static func check(_ path: String) throws(CredentialError) { _ = try status(of: path) }

    /// Looks whether nobody but its owner may change a file of a certificate, or its key; blocks.
    ///
    /// - Throws: what is wrong with it.
    package static func checkOwner(of path: String) throws(CredentialError) { _ = try contents(of: path) }

    /// What a file is that holds a certificate.
    ///
    /// - Throws: what is wrong with it.
    static func status(of path: String) throws(CredentialError) -> FileStatus {
        let (bytes, status) = try SecretFile.contents(of: path, limit: longest)
        guard Certificate(pem: bytes) != nil else {
            throw CredentialError(reason: "\(path) holds no certificate in PEM")
        }
        return status
    }

    /// The bytes of a file that nobody but its owner may change.
    static func contents(of path: String) throws(CredentialError) -> [UInt8] {
        try SecretFile.contents(of: path, limit: longest).bytes
    }
}
