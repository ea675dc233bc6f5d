// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdSystem
package import OAuth

/// A file of certificates that the configuration names.
package enum CertificateFile {
    /// More bytes than any chain has; a file of authorities may be large.
    static let longest = 16 << 20

    /// Checks that a file holds a certificate and that only its owner may change it; blocks.
    package static func check(_ path: String) throws(CredentialError) { _ = try status(of: path) }

    /// Checks that only its owner may change the file of a certificate or key; blocks.
    package static func checkOwner(of path: String) throws(CredentialError) { _ = try contents(of: path) }

    /// The status of a file that holds a certificate.
    static func status(of path: String) throws(CredentialError) -> FileStatus {
        let (bytes, status) = try SecretFile.contents(of: path, limit: longest)
        guard Certificate(pem: bytes) != nil
        else { throw CredentialError(reason: "\(path) holds no certificate in PEM") }
        return status
    }

    /// The bytes of a file that only its owner may change.
    static func contents(of path: String) throws(CredentialError) -> [UInt8] {
        try SecretFile.contents(of: path, limit: longest).bytes
    }
}
