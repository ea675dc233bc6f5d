// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// Bytes nobody can guess.
package enum SecureRandom {
    /// True if randomness is available (`RAND_status`); ask before the sandbox is entered.
    package static var isAvailable: Bool { RAND_status() == 1 }

    /// Random bytes of OpenSSL's generator (`RAND_bytes`).
    ///
    /// Stops the process if the kernel has no randomness to give: there is no safe way to go on.
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let filled = count == 0 || RAND_bytes(buffer.baseAddress, CInt(count)) == 1
            precondition(filled, "RAND_bytes: no randomness")
            initialized = count
        }
    }

    /// A random word of URL-safe characters, for `state`, `nonce`, a code or a verifier.
    ///
    /// - Parameter bytes: 32 give the 43 characters of RFC 7636 §4.1.
    package static func word(bytes: Int = 32) -> String { Base64URL.encode(self.bytes(bytes)) }
}
