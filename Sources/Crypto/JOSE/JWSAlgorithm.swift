// SPDX-License-Identifier: Apache-2.0

/// How a token is signed: an `alg` (RFC 7518 §3.1, an open set).
package struct JWSAlgorithm: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// HMAC with SHA-256 and a shared secret.
    package static let hs256 = JWSAlgorithm(rawValue: "HS256")
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    package static let rs256 = JWSAlgorithm(rawValue: "RS256")
    /// RSASSA-PSS with SHA-256.
    package static let ps256 = JWSAlgorithm(rawValue: "PS256")
    /// ECDSA on P-256 with SHA-256.
    package static let es256 = JWSAlgorithm(rawValue: "ES256")
    /// Ed25519 (RFC 8037 §3.1).
    package static let edDSA = JWSAlgorithm(rawValue: "EdDSA")

    /// What a set of public keys can verify.
    package static let asymmetric: Set<JWSAlgorithm> = [.rs256, .ps256, .es256]
}
