// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// OpenSSL as a whole.
package enum CryptographyLibrary {
    /// Has what OpenSSL holds for the whole process live as long as the process does; to be called before anything uses it.
    ///
    /// By itself OpenSSL frees that in `exit`, while other threads may be sealing a session or checking a certificate.
    package static func outliveExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
