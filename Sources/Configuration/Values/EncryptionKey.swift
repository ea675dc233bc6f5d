// SPDX-License-Identifier: Apache-2.0

/// Where the key is that sessions in files are encrypted with.
package enum EncryptionKey: Equatable, Sendable {
    /// In the configuration or a file: 32 bytes in hexadecimal or base64.
    case given(SecretSource)
    /// In the Secret Service, under this name.
    case keyring(String)
}

extension ValueKind<String> {
    /// What a key in the Secret Service is called.
    static var keyringName: ValueKind {
        text.map { name throws(ValueError) in
            guard name.utf8.count <= longestName else {
                throw ValueError("is longer than \(longestName) bytes")
            }
            return name
        }
    }

    private static var longestName: Int { 128 }
}
