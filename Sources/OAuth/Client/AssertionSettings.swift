// SPDX-License-Identifier: Apache-2.0

public import Cryptography
package import JSON

/// How the client makes assertions: those that prove itself, and those that are its grant (RFC 7523 §2).
public struct AssertionSettings: Equatable, Sendable {
    /// Whom assertions are meant for (`aud`).
    public enum Audience: Equatable, Sendable {
        /// The token endpoint's URL, which every server takes that was tried.
        case tokenEndpoint
        /// The issuer.
        case issuer
        /// A value of the configuration's own.
        case value(String)
    }

    /// Whom assertions are meant for.
    public var audience = Audience.tokenEndpoint
    /// `kid`; nil for the key's own.
    public var keyID: String?
    /// `alg`; nil for the key's own.
    public var algorithm: JWSAlgorithm?
    /// `sub` of a grant; nil for the client itself.
    public var subject: String?
    /// Whether the assertion that somebody else made is a JWT-SVID, which names its type otherwise
    /// (draft-ietf-oauth-spiffe-client-auth).
    public var isVerifiableIdentityDocument = false
    /// Further claims of a grant.
    package var claims = JSONObject()

    /// What most servers take.
    public init() {}
}
