// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
package import BearerdJSON

/// How assertions are made, for client authentication and for the JWT bearer grant (RFC 7523 §2).
public struct AssertionSettings: Equatable, Sendable {
    /// The `aud` of assertions.
    public enum Audience: Equatable, Sendable {
        /// The URL of the token endpoint, which all known servers take.
        case tokenEndpoint
        /// The issuer.
        case issuer
        /// A fixed value.
        case value(String)
    }

    /// The `aud` of assertions.
    public var audience = Audience.tokenEndpoint
    /// `kid`; nil for that of the key.
    public var keyID: String?
    /// `alg`; nil for that of the key.
    public var algorithm: JWSAlgorithm?
    /// `sub` of a grant; nil for the client itself.
    public var subject: String?
    /// True if a ready-made assertion is a JWT-SVID, which has another assertion type
    /// (draft-ietf-oauth-spiffe-client-auth).
    public var isVerifiableIdentityDocument = false
    /// Further claims of a grant.
    package var claims = JSONObject()

    /// The settings that most servers take.
    public init() {}
}
