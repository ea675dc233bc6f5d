// SPDX-License-Identifier: Apache-2.0

/// A key for ``AESGCM`` as people write it.
package enum SealingKey {
    /// The 32 bytes of a key in hexadecimal, or in base64 of either alphabet; nil for anything else.
    package static func bytes(of text: Secret) -> Secret? {
        let bytes = text.withPlaintext { text in
            Hexadecimal.decode(text) ?? Base64.decode(text) ?? Base64URL.decode(text)
        }
        guard let bytes, bytes.count == AESGCM.keyBytes else { return nil }
        return Secret(bytes: bytes)
    }
}
