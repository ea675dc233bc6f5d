// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// Encrypts with AES-256-GCM (`store.encryption_key`).
///
/// A file that lies there unencrypted may be from before there was a key.
package struct EncryptingSealer: Sealer {
    private let cipher: AESGCM
    private let header: SealedHeader

    /// - Parameter key: 32 bytes as hexadecimal digits, or in base64 of either alphabet.
    /// - Returns: nil for anything else.
    package init?(key: Secret) {
        guard let key = SealingKey.bytes(of: key), let cipher = AESGCM(key: key) else { return nil }
        self.cipher = cipher
        let digest = key.withPlaintextBytes { bytes in
            SHA256.digest(Array("bearerd store key\0".utf8) + bytes.indices.map { bytes[$0] })
        }
        header = SealedHeader(keyName: Array(Base64URL.encode(Array(digest.prefix(9))).utf8))
    }

    package var encrypts: Bool { true }

    package func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8] {
        header.bytes + cipher.seal(plaintext, context: context(of: identity))
    }

    package func open(_ sealed: [UInt8], for identity: String) -> Unsealed {
        guard SealedHeader.isSealed(sealed) else { return .unencrypted(sealed) }
        guard sealed.starts(with: header.bytes) else { return .foreign }
        let body = Array(sealed.dropFirst(header.bytes.count))
        return cipher.open(body, context: context(of: identity)).map(Unsealed.plaintext) ?? .damaged
    }

    package func isForeign(_ sealed: [UInt8]) -> Bool {
        SealedHeader.isSealed(sealed) && !sealed.starts(with: header.bytes)
    }

    package var foreignProblem: String { "is encrypted with another key than store.encryption_key" }

    private func context(of identity: String) -> [UInt8] { header.bytes + Array(identity.utf8) }
}
