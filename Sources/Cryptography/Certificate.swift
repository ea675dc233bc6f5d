// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The parts of an X.509 certificate that a signed token names (RFC 7515 §4.1.7, §4.1.8).
package struct Certificate: Sendable, Equatable {
    /// SHA-1 over the DER form, in base64url: `x5t`.
    package let thumbprint: String
    /// SHA-256 over the DER form, in base64url: `x5t#S256`.
    package let thumbprintSHA256: String
    /// The certified key as a SubjectPublicKeyInfo.
    private let publicKey: [UInt8]

    /// Reads the first certificate of a PEM file (`PEM_read_bio_X509`); nil if there is none.
    package init?(pem: [UInt8]) {
        defer { ERR_clear_error() }
        let certificate = pem.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let certificate else { return nil }
        defer { X509_free(certificate) }
        guard let short = Self.digest(of: certificate, EVP_sha1()),
            let long = Self.digest(of: certificate, EVP_sha256())
        else { return nil }
        guard let key = X509_get0_pubkey(certificate) else { return nil }
        publicKey = EVPKey.publicPart(of: key)
        thumbprint = Base64URL.encode(short)
        thumbprintSHA256 = Base64URL.encode(long)
    }

    package func certifies(_ key: PrivateKey) -> Bool { publicKey == key.publicPart }

    private static func digest(of certificate: OpaquePointer, _ function: OpaquePointer?) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: CUnsignedInt = 0
        guard X509_digest(certificate, function, &bytes, &length) == 1 else { return nil }
        return Array(bytes.prefix(Int(length)))
    }
}
