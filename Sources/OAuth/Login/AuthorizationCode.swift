// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// The code of an authorization response, with everything that its token request needs; good for one use.
public struct AuthorizationCode: Sendable {
    /// RFC 6749 §4.1.2.
    public var code: Secret
    /// The redirect URI of the authorization request (RFC 6749 §4.1.3).
    public var redirectURI: String
    /// PKCE's `code_verifier` (RFC 7636 §4.1).
    public var verifier: Secret
    /// The nonce that the ID token must repeat (OpenID Connect Core §3.1.2.1).
    public var nonce: Secret
    /// The key that the code is bound to, as a private JWK (RFC 9449 §10); nil for none.
    public var proofKey: Secret?
    /// Further parameters of the authorization response, such as `session_state`.
    public var additionalParameters = AdditionalParameters()
    /// The server and client that it is for (``ClientConfiguration/binding``): nobody else is to see it; nil if not known.
    package var binding: String?
    /// The login's own scope and parameters, which its tokens are checked against.
    package var additions = LoginAdditions()

    /// A code with the values of its ``AuthorizationRequest``.
    public init(code: Secret, redirectURI: String, verifier: Secret, nonce: Secret) {
        self.code = code
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.nonce = nonce
    }
}

extension AuthorizationCode: Redacted {
    /// The redirect URI in one line; neither the code nor what the server and the login have added is shown.
    public var description: String { "[authorization code for \(redirectURI)]".onOneLine }
}
