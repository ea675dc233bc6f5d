// SPDX-License-Identifier: Apache-2.0

internal import CBearerdCjose

/// The reason why a key or a signed token is unusable.
package enum JOSEError: Error, Equatable, Sendable {
    /// Not three parts of base64url with a JSON header (RFC 7515 §7.1), or not a set of keys (RFC 7517 §5).
    case malformed
    /// The header names an algorithm that is not allowed, perhaps `none`.
    case algorithmNotAllowed
    /// The header has an extension that must be understood (`crit`, RFC 7515 §4.1.11).
    case criticalExtension
    /// No key of the set has the header's `kid` and fits its algorithm; the set may be out of date.
    case noKey
    /// No matching key made this signature.
    case signatureMismatch
    /// cjose or OpenSSL failed otherwise; `code` is a `cjose_errcode`.
    case library(code: UInt32)

    init(_ error: cjose_err) { self = .library(code: error.code.rawValue) }
}
