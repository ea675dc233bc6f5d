// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The reason why a certificate and a key cannot be used for TLS.
package enum ContextError: Error, Equatable, Sendable {
    /// The file has no certificate in PEM.
    case noCertificate
    /// OpenSSL refuses the certificate, for a short key or a weak digest.
    case unusableCertificate(reason: String)
    /// The certificate expired at this time, in seconds since 1970.
    case expired(at: Int64)
    /// There is no private key in PEM, or it has a passphrase.
    case noKey
    /// The certificate is for another key.
    case mismatch
    /// The file has no certificate of an authority in PEM.
    case noAuthority
    case library(reason: String)

    /// OpenSSL's text for the last error of this thread.
    static var lastReason: String {
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "TLS is not to be had" }
        return String(cString: text)
    }

    static var lastOfThread: ContextError { .library(reason: lastReason) }
}
