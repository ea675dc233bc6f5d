// SPDX-License-Identifier: Apache-2.0

/// A parameter of a token request, spelled as on the wire; none may be configured as an additional one.
package enum TokenParameter: String, CaseIterable, Sendable {
    // RFC 6749 §2.3.1, §3.3, §4, §6
    case grantType = "grant_type"
    case refreshToken = "refresh_token"
    case code
    case redirectURI = "redirect_uri"
    case scope
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case username
    case password
    // RFC 7636 §4.5
    case codeVerifier = "code_verifier"
    // RFC 8628 §3.4
    case deviceCode = "device_code"
    // RFC 7521 §4
    case clientAssertion = "client_assertion"
    case clientAssertionType = "client_assertion_type"
    case assertion
    // RFC 8693 §2.1
    case subjectToken = "subject_token"
    case subjectTokenType = "subject_token_type"
    case requestedTokenType = "requested_token_type"
    /// RFC 8693 §2.1; Auth0 and others take it with every grant.
    case audience
    /// RFC 8707 §2; may repeat.
    case resource
}
