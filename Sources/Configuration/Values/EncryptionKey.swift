// SPDX-License-Identifier: Apache-2.0

/// The place of the key that encrypts sessions in files.
package enum EncryptionKey: Equatable, Sendable {
    /// The configuration or a file: 32 bytes in hexadecimal or base64.
    case given(SecretSource)
    /// The Secret Service, under this name.
    case keyring(String)
}

extension ValueKind<String> {
    /// The name of a key in the Secret Service.
    static var keyringName: ValueKind { text.checked("is longer than 128 bytes") { $0.utf8.count <= 128 } }
}
