// SPDX-License-Identifier: Apache-2.0

/// A claim of an assertion, spelled as on the wire (RFC 7523 §3). None of them may be configured as a further one.
package enum AssertionClaim: String, CaseIterable, Sendable {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiry = "exp"
    case notBefore = "nbf"
    case issuedAt = "iat"
    case identifier = "jti"
}
