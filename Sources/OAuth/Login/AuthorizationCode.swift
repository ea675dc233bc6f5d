// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// What a login in a browser brought, with all that its exchange for tokens needs; good for one use.
package struct AuthorizationCode: Sendable {
    /// RFC 6749 §4.1.2.
    package var code: Secret
    /// The one of the authorization request, repeated exactly (RFC 6749 §4.1.3).
    package var redirectURI: String
    /// PKCE's `code_verifier` (RFC 7636 §4.1).
    package var verifier: Secret
    /// What the id token must repeat (OpenID Connect Core §3.1.2.1).
    package var nonce: Secret

    package init(code: Secret, redirectURI: String, verifier: Secret, nonce: Secret) {
        self.code = code
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.nonce = nonce
    }
}
