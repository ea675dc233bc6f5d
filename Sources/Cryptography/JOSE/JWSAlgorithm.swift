// SPDX-License-Identifier: Apache-2.0

/// The algorithm of a signature: an `alg` (RFC 7518 §3.1, an open set).
public struct JWSAlgorithm: RawRepresentable, Hashable, Sendable {
    /// `alg`, as on the wire.
    public let rawValue: String

    /// Any algorithm, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// HMAC with SHA-256 and a shared secret.
    public static let hs256 = JWSAlgorithm(rawValue: "HS256")
    /// HMAC with SHA-384 and a shared secret.
    public static let hs384 = JWSAlgorithm(rawValue: "HS384")
    /// HMAC with SHA-512 and a shared secret.
    public static let hs512 = JWSAlgorithm(rawValue: "HS512")
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    public static let rs256 = JWSAlgorithm(rawValue: "RS256")
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    public static let rs384 = JWSAlgorithm(rawValue: "RS384")
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    public static let rs512 = JWSAlgorithm(rawValue: "RS512")
    /// RSASSA-PSS with SHA-256.
    public static let ps256 = JWSAlgorithm(rawValue: "PS256")
    /// RSASSA-PSS with SHA-384.
    public static let ps384 = JWSAlgorithm(rawValue: "PS384")
    /// RSASSA-PSS with SHA-512.
    public static let ps512 = JWSAlgorithm(rawValue: "PS512")
    /// ECDSA on P-256 with SHA-256.
    public static let es256 = JWSAlgorithm(rawValue: "ES256")
    /// ECDSA on P-384 with SHA-384.
    public static let es384 = JWSAlgorithm(rawValue: "ES384")
    /// ECDSA on P-521 with SHA-512.
    public static let es512 = JWSAlgorithm(rawValue: "ES512")
    /// Ed25519 (RFC 8037 §3.1).
    public static let edDSA = JWSAlgorithm(rawValue: "EdDSA")

    /// The algorithms that a set of public keys can verify.
    public static let asymmetric: Set<JWSAlgorithm> = [
        .rs256, .rs384, .rs512, .ps256, .ps384, .ps512, .es256, .es384, .es512, .edDSA,
    ]
    /// The algorithms that a shared secret can verify.
    public static let symmetric: Set<JWSAlgorithm> = [.hs256, .hs384, .hs512]

    /// The algorithm's hash function, which `at_hash` uses too (OpenID Connect Core §3.1.3.6); nil if the algorithm
    /// is unknown.
    package var messageDigest: MessageDigest? {
        switch self {
        case .hs256, .rs256, .ps256, .es256: .sha256
        case .hs384, .rs384, .ps384, .es384: .sha384
        case .hs512, .rs512, .ps512, .es512, .edDSA: .sha512
        default: nil
        }
    }
}
