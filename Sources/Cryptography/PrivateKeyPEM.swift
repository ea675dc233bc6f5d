// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// Reads the first private key of a PEM file (`PEM_read_bio_PrivateKey`); nil for one with a passphrase.
///
/// - Returns: an `EVP_PKEY *` that the caller frees (`EVP_PKEY_free`).
package func readPrivateKey(pem: Secret) -> OpaquePointer? {
    pem.withPlaintextBytes { bytes in
        bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count)) else {
                return nil
            }
            defer { BIO_free(bio) }
            // Without this callback OpenSSL would ask on the terminal.
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
    }
}
