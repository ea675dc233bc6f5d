// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The certificates of a PEM file in their order (`X509 *`), released with the object.
final class PEMCertificates {
    /// Valid as long as the object lives.
    let certificates: [OpaquePointer]

    /// Reads certificates up to the first block that is none.
    init(_ pem: [UInt8]) {
        certificates = pem.withUnsafeBufferPointer { buffer in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            else { return [] }
            defer { BIO_free(bio) }
            var certificates: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                certificates.append(certificate)
            }
            return certificates
        }
        ERR_clear_error()  // how the end of the file shows
    }

    deinit { certificates.forEach { X509_free($0) } }
}
