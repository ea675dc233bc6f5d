// SPDX-License-Identifier: Apache-2.0

/// A parameter of an authorization request, spelled as on the wire; none of them may be given as an additional one.
package enum AuthorizationParameter: String, CaseIterable, Sendable {
    /// RFC 6749 §4.1.1.
    case responseType = "response_type"
    /// RFC 6749 §4.1.1.
    case clientID = "client_id"
    /// RFC 6749 §4.1.1.
    case redirectURI = "redirect_uri"
    /// RFC 6749 §4.1.1.
    case scope
    /// RFC 6749 §4.1.1.
    case state
    /// RFC 7636 §4.3.
    case codeChallenge = "code_challenge"
    /// RFC 7636 §4.3.
    case codeChallengeMethod = "code_challenge_method"
    /// OpenID Connect Core §3.1.2.1.
    case nonce
    /// Auth0's name for a resource; others take it too.
    case audience
    /// RFC 8707 §2; may repeat.
    case resource
}
