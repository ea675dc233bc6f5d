// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A parameter of an authorization request or response, spelled as on the wire.
///
/// None of them may be configured as an additional one.
package enum AuthorizationParameter: String, CaseIterable, Sendable {
    // RFC 6749 §3.3, §4.1.1, §4.1.2
    case responseType = "response_type"
    case clientID = "client_id"
    case redirectURI = "redirect_uri"
    case scope
    case state
    case code
    case error
    case errorDescription = "error_description"
    case errorURI = "error_uri"
    /// OAuth 2.0 Multiple Response Type Encoding Practices §2.1; only the query is read here.
    case responseMode = "response_mode"
    // OpenID Connect Core §3.1.2.1, §6.1
    case nonce
    case request
    /// OpenID Connect Core §6.2, RFC 9126 §4.
    case requestURI = "request_uri"
    // RFC 7636 §4.3
    case codeChallenge = "code_challenge"
    case codeChallengeMethod = "code_challenge_method"
    /// Auth0 and others call a resource so.
    case audience
    /// RFC 8707 §2; may repeat.
    case resource
    /// RFC 9449 §10: the thumbprint of the key that the code is bound to.
    case keyThumbprint = "dpop_jkt"
    /// RFC 9207 §2.
    case issuer = "iss"
}

/// Proof Key for Code Exchange, by S256 alone (RFC 7636).
enum PKCE {
    /// The parameters that a request has for a verifier.
    static func parameters(for verifier: String) -> [(AuthorizationParameter, String)] {
        [
            (.codeChallenge, Base64URL.encode(SHA256.digest(Array(verifier.utf8)))),
            (.codeChallengeMethod, "S256"),
        ]
    }
}
