// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// Encrypts with AES-256-GCM (`store.encryption_key`).
///
/// An unencrypted file may be older than the key.
package struct EncryptingSealer: Sealer {
    private let cipher: AESGCM
    private let header: SealedHeader
    /// The only store in which sealed bytes open; nil for any store.
    private var place: String?

    /// - Parameter key: 32 bytes in hexadecimal, or in base64 of either alphabet; nil is returned for anything else.
    package init?(key: Secret) {
        guard let key = SealingKey.bytes(of: key), let cipher = AESGCM(key: key) else { return nil }
        self.cipher = cipher
        let digest = key.withPlaintextBytes { bytes in
            SHA256.digest(Array("bearerd store key\0".utf8) + bytes.indices.map { bytes[$0] })
        }
        header = SealedHeader(keyName: Array(Base64URL.encode(Array(digest.prefix(9))).utf8))
    }

    /// A copy for one of several stores between which others may copy: its bytes open in no other store.
    ///
    /// Bytes that were sealed for any store open too: earlier versions wrote them.
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
