// SPDX-License-Identifier: Apache-2.0

/// A parameter of an authorization request or response, spelled as on the wire.
///
/// None of them may be given as an additional one.
package enum AuthorizationParameter: String, CaseIterable, Sendable {
    /// RFC 6749 §4.1.1.
    case responseType = "response_type"
    /// OAuth 2.0 Multiple Response Type Encoding Practices; the query is the only one that is read here.
    case responseMode = "response_mode"
    /// RFC 6749 §4.1.1.
    case clientID = "client_id"
    /// RFC 6749 §4.1.1.
    case redirectURI = "redirect_uri"
    /// RFC 6749 §3.3.
    case scope
    /// RFC 6749 §4.1.1, repeated in the response.
    case state
    /// OpenID Connect Core §3.1.2.1.
    case nonce
    /// RFC 7636 §4.3.
    case codeChallenge = "code_challenge"
    /// RFC 7636 §4.3.
    case codeChallengeMethod = "code_challenge_method"
    /// What Auth0 and others call a resource.
    case audience
    /// RFC 8707 §2; may repeat.
    case resource
    /// OpenID Connect Core §6.1.
    case request
    /// OpenID Connect Core §6.2, RFC 9126 §4.
    case requestURI = "request_uri"
    /// RFC 9449 §10: the thumbprint of the key that the code is bound to.
    case keyThumbprint = "dpop_jkt"
    /// RFC 6749 §4.1.2.
    case code
    /// RFC 9207 §2.
    case issuer = "iss"
    /// RFC 6749 §4.1.2.1.
    case error
    /// RFC 6749 §4.1.2.1.
    case errorDescription = "error_description"
    /// RFC 6749 §4.1.2.1.
    case errorURI = "error_uri"
}
