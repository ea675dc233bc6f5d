// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Why no side of TLS can be made of a certificate and a key.
package enum ContextError: Error, Equatable, Sendable {
    /// There is no certificate in PEM where one should be.
    case noCertificate
    /// OpenSSL does not take the certificate: a key that is too short, a digest that is too weak.
    case unusableCertificate(reason: String)
    /// The certificate was good until then, in seconds since 1970.
    case expired(at: Int64)
    /// There is no private key in PEM, or it has a passphrase.
    case noKey
    /// The certificate certifies another key.
    case mismatch
    /// There is no certificate of an authority in PEM where one should be.
    case noAuthority
    case library(reason: String)

    /// OpenSSL's words for what failed last on this thread.
    static var lastReason: String {
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "TLS is not to be had" }
        return String(cString: text)
    }

    /// What failed last on this thread.
    static var lastOfThread: ContextError { .library(reason: lastReason) }
}
