// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// Encrypts with AES-256-GCM (`store.encryption_key`).
///
/// A file that lies there unencrypted may be from before there was a key.
package struct EncryptingSealer: Sealer {
    private let cipher: AESGCM
    private let header: SealedHeader
    /// The store that what is sealed opens in, besides being its identity's; nil for any.
    private var place: String?

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

    /// The same for one of several stores that others may copy between: what it seals opens in no other.
    ///
    /// What was sealed for any store opens too: a version before this one wrote it.
    package func bound(to place: String) -> EncryptingSealer {
        var bound = self
        bound.place = place
        return bound
    }

    package var encrypts: Bool { true }

    package func seal(_ plaintext: [UInt8], for identity: String) -> [UInt8] {
        header.bytes + cipher.seal(plaintext, context: context(of: identity, in: place))
    }

    package func open(_ sealed: [UInt8], for identity: String) -> Unsealed {
        guard SealedHeader.isSealed(sealed) else { return .unencrypted(sealed) }
        guard sealed.starts(with: header.bytes) else { return .foreign }
        let body = Array(sealed.dropFirst(header.bytes.count))
        let plaintext =
            cipher.open(body, context: context(of: identity, in: place))
            ?? place.flatMap { _ in cipher.open(body, context: context(of: identity, in: nil)) }
        return plaintext.map(Unsealed.plaintext) ?? .damaged
    }

    package func isForeign(_ sealed: [UInt8]) -> Bool {
        SealedHeader.isSealed(sealed) && !sealed.starts(with: header.bytes)
    }

    package var foreignProblem: String { "is encrypted with another key than store.encryption_key" }

    private func context(of identity: String, in place: String?) -> [UInt8] {
        header.bytes + Array(identity.utf8) + (place.map { [0] + Array($0.utf8) } ?? [])
    }
}
