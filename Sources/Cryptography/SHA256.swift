// SPDX-License-Identifier: Apache-2.0

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    package static func digest(_ message: [UInt8]) -> [UInt8] { MessageDigest.sha256.digest(message) }
}
