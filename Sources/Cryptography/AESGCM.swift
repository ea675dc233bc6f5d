// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D).
package struct AESGCM: Sendable {
    /// The length of a key in bytes.
    package static let keyBytes = 32
    private static let nonceBytes = 12
    private static let tagBytes = 16

    private let key: Secret

    /// - Parameter key: random; nil is returned if it is not ``keyBytes`` long.
    package init?(key: Secret) {
        guard key.withPlaintextBytes({ $0.count }) == AESGCM.keyBytes else { return nil }
        self.key = key
    }

    /// Encrypts (`EVP_EncryptFinal_ex`).
    ///
    /// Stops the process if OpenSSL has no AES: there is no safe way to go on.
    ///
    ///   - Parameter context: is authenticated, but neither encrypted nor part of the result.
    /// - Returns: a random nonce, the ciphertext, the tag.
    package func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        let nonce = SecureRandom.bytes(AESGCM.nonceBytes)
        let cipher = Cipher(key: key, nonce: nonce, encrypting: true)
        var tag = [UInt8](repeating: 0, count: AESGCM.tagBytes)
        guard let cipher, cipher.authenticate(context), let ciphertext = cipher.process(plaintext),
            cipher.finish(), cipher.control(EVP_CTRL_AEAD_GET_TAG, &tag)
        else { preconditionFailure("EVP_EncryptInit_ex: AES-256-GCM is missing from OpenSSL") }
        return nonce + ciphertext + tag
    }

    /// Decrypts (`EVP_DecryptFinal_ex`).
    ///
    /// - Returns: the plaintext; nil if a bit of `sealed` or `context` or the key differs.
    package func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= AESGCM.nonceBytes + AESGCM.tagBytes else { return nil }
        let nonce = Array(sealed.prefix(AESGCM.nonceBytes))
        let ciphertext = Array(sealed.dropFirst(AESGCM.nonceBytes).dropLast(AESGCM.tagBytes))
        var tag = Array(sealed.suffix(AESGCM.tagBytes))
        guard let cipher = Cipher(key: key, nonce: nonce, encrypting: false),
            cipher.control(EVP_CTRL_AEAD_SET_TAG, &tag), cipher.authenticate(context),
            let plaintext = cipher.process(ciphertext), cipher.finish()
        else { return nil }
        return plaintext
    }

    /// One use of the cipher (`EVP_CIPHER_CTX`).
    private final class Cipher {
        private let context: OpaquePointer

        init?(key: Secret, nonce: [UInt8], encrypting: Bool) {
            guard let context = EVP_CIPHER_CTX_new() else { return nil }
            self.context = context
            let isReady = key.withPlaintextBytes { key in
                key.withUnsafeBufferPointer {
                    EVP_CipherInit_ex(
                        context, EVP_aes_256_gcm(), nil, $0.baseAddress, nonce, encrypting ? 1 : 0)
                }
            }
            guard isReady == 1 else { return nil }
        }

        deinit {
            EVP_CIPHER_CTX_free(context)
        }

        func authenticate(_ bytes: [UInt8]) -> Bool {
            var length: CInt = 0
            return EVP_CipherUpdate(context, nil, &length, bytes, CInt(bytes.count)) == 1
        }

        /// - Returns: as many bytes as went in: the mode needs no padding.
        func process(_ bytes: [UInt8]) -> [UInt8]? {
            var output = [UInt8](repeating: 0, count: bytes.count)
            var length: CInt = 0
            guard EVP_CipherUpdate(context, &output, &length, bytes, CInt(bytes.count)) == 1,
                Int(length) == bytes.count
            else { return nil }
            return output
        }

        func finish() -> Bool {
            var nothing: UInt8 = 0
            var length: CInt = 0
            return EVP_CipherFinal_ex(context, &nothing, &length) == 1 && length == 0
        }

        func control(_ command: CInt, _ tag: inout [UInt8]) -> Bool {
            EVP_CIPHER_CTX_ctrl(context, command, CInt(tag.count), &tag) == 1
        }
    }
}
