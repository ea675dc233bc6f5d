// SPDX-License-Identifier: Apache-2.0

/// A parameter of a token request, spelled as on the wire; none of them may be given as an additional one.
package enum TokenParameter: String, CaseIterable, Sendable {
    /// RFC 6749 §4.
    case grantType = "grant_type"
    /// RFC 6749 §6.
    case refreshToken = "refresh_token"
    /// RFC 6749 §4.1.3.
    case code
    /// RFC 6749 §4.1.3.
    case redirectURI = "redirect_uri"
    /// RFC 7636 §4.5.
    case codeVerifier = "code_verifier"
    /// RFC 8628 §3.4.
    case deviceCode = "device_code"
    /// RFC 6749 §3.3.
    case scope
    /// RFC 6749 §2.3.1.
    case clientID = "client_id"
    /// RFC 6749 §2.3.1.
    case clientSecret = "client_secret"
    /// RFC 7521 §4.2.
    case clientAssertion = "client_assertion"
    /// RFC 7521 §4.2.
    case clientAssertionType = "client_assertion_type"
    /// RFC 7521 §4.1.
    case assertion
    /// RFC 6749 §4.3.2.
    case username
    /// RFC 6749 §4.3.2.
    case password
    /// RFC 8693 §2.1.
    case subjectToken = "subject_token"
    /// RFC 8693 §2.1.
    case subjectTokenType = "subject_token_type"
    /// RFC 8693 §2.1.
    case requestedTokenType = "requested_token_type"
    /// RFC 8693 §2.1; Auth0 and others take it with every grant.
    case audience
    /// RFC 8707 §2; may repeat.
    case resource
}
