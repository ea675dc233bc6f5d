// SPDX-License-Identifier: Apache-2.0

/// A parameter that the provider reads or writes, spelled as on the wire.
enum Parameter: String, CaseIterable {
    /// RFC 6749 §2.3.1, §3.1, §4, §6.
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case code
    case error
    case errorDescription = "error_description"
    case grantType = "grant_type"
    case redirectURI = "redirect_uri"
    case refreshToken = "refresh_token"
    case responseMode = "response_mode"
    case responseType = "response_type"
    case scope
    case state
    /// RFC 7636 §4.
    case codeChallenge = "code_challenge"
    case codeChallengeMethod = "code_challenge_method"
    case codeVerifier = "code_verifier"
    /// RFC 9449 §10.
    case keyThumbprint = "dpop_jkt"
    /// RFC 9207 §2.
    case issuer = "iss"
    /// RFC 8707 §2; may repeat.
    case resource
    /// Auth0's name for it.
    case audience
    /// OpenID Connect Core §3.1.2.1, §6.
    case nonce
    case prompt
    case request
    case requestURI = "request_uri"
    /// RFC 7009 §2.1.
    case token
    case tokenTypeHint = "token_type_hint"
    /// OpenID Connect RP-Initiated Logout §2.
    case idTokenHint = "id_token_hint"
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    /// RFC 8628 §3.
    case deviceCode = "device_code"
    case userCode = "user_code"
    /// Our own forms.
    case transaction
    case username
    case password
    case decision
}
