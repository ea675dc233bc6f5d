// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// What a login in a browser brought, with all that its exchange for tokens needs; good for one use.
public struct AuthorizationCode: Sendable {
    /// RFC 6749 §4.1.2.
    public var code: Secret
    /// The one of the authorization request, repeated exactly (RFC 6749 §4.1.3).
    public var redirectURI: String
    /// PKCE's `code_verifier` (RFC 7636 §4.1).
    public var verifier: Secret
    /// What the id token must repeat (OpenID Connect Core §3.1.2.1).
    public var nonce: Secret
    /// The key that the code is bound to, as a private JWK (RFC 9449 §10); nil for none.
    public var proofKey: Secret?
    /// What else the authorization response had, such as `session_state`.
    public var additionalParameters = AdditionalParameters()
    /// What the login asked for that the configuration does not ask for: its tokens are held against that.
    package var additions = LoginAdditions()

    /// A code, from what an ``AuthorizationRequest`` knew and its response brought.
    public init(code: Secret, redirectURI: String, verifier: Secret, nonce: Secret) {
        self.code = code
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.nonce = nonce
    }
}
