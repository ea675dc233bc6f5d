// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// A public key on the curve Ed25519 (RFC 8037), which cjose does not support.
///
/// `@unchecked Sendable`: OpenSSL's key is never changed, and verifying only reads it.
final class Ed25519PublicKey: @unchecked Sendable {
    private static let keyLength = 32

    private let key: OpaquePointer

    /// - Parameter bytes: 32 bytes; nil is returned for any other number.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.keyLength,
            let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        else { return nil }
        self.key = key
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// Returns true if this key made a token's signature (`EVP_DigestVerify`).
    func verifies(_ compact: String) -> Bool {
        guard let dot = compact.utf8.lastIndex(of: UInt8(ascii: ".")),
            let signature = Base64URL.decode(String(compact[compact.index(after: dot)...])),
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        let signed = Array(compact[..<dot].utf8)
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
    }
}
