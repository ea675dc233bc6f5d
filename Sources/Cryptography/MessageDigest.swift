// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// A hash function of the SHA-2 family (FIPS 180-4).
package enum MessageDigest: Sendable {
    case sha256
    case sha384
    case sha512

    /// The message's hash (`EVP_Digest`): 32, 48 or 64 bytes.
    package func digest(_ message: [UInt8]) -> [UInt8] {
        let function =
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, initialized in
            var length: CUnsignedInt = 0
            let hashed = message.withUnsafeBytes {
                EVP_Digest($0.baseAddress, $0.count, buffer.baseAddress, &length, function, nil)
            }
            precondition(hashed == 1, "EVP_Digest: SHA-2 is missing from OpenSSL")
            initialized = Int(length)
        }
    }
}
