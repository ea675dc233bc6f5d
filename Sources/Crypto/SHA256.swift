// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32 bytes of the message's hash (`EVP_Digest`).
    package static func digest(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, initialized in
            var length: CUnsignedInt = 0
            let hashed = message.withUnsafeBytes {
                EVP_Digest($0.baseAddress, $0.count, buffer.baseAddress, &length, EVP_sha256(), nil)
            }
            precondition(hashed == 1, "EVP_Digest: SHA-256 is missing from OpenSSL")
            initialized = Int(length)
        }
    }
}
