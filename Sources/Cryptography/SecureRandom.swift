// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Bytes nobody can guess.
package enum SecureRandom {
    /// Whether there is randomness to be had (`RAND_status`); ask before the process locks itself in.
    package static var isAvailable: Bool { RAND_status() == 1 }

    /// Asks OpenSSL's generator (`RAND_bytes`).
    ///
    /// Stops the process if the kernel has no randomness to give: there is no safe way to go on.
    ///
    /// - Parameter count: at least 0.
    /// - Returns: so many bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let filled = count == 0 || RAND_bytes(buffer.baseAddress, CInt(count)) == 1
            precondition(filled, "RAND_bytes: no randomness")
            initialized = count
        }
    }

    /// Makes up a value for `state`, `nonce`, a code or a verifier.
    ///
    /// - Parameter bytes: 32 give the 43 characters of RFC 7636 §4.1.
    /// - Returns: a word of URL-safe characters with so many random bytes in it.
    package static func word(bytes: Int = 32) -> String {
        Base64URL.encode(self.bytes(bytes))
    }
}
