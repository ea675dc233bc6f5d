// SPDX-License-Identifier: Apache-2.0

/// A member of a JSON answer or a claim of a token, spelled as on the wire.
enum Member: String {
    /// RFC 6749 §5.
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresIn = "expires_in"
    case refreshToken = "refresh_token"
    case scope
    case error
    case errorDescription = "error_description"
    /// OpenID Connect Core §2, §5.1.
    case idToken = "id_token"
    case authenticationTime = "auth_time"
    case nonce
    case name
    case preferredUsername = "preferred_username"
    case email
    case emailVerified = "email_verified"
    /// OpenID Connect Back-Channel Logout §2.1; here it identifies the login from which a token comes.
    case sessionID = "sid"
    /// RFC 7519 §4.1, RFC 9068 §2.2.
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiry = "exp"
    case issuedAt = "iat"
    case tokenID = "jti"
    case clientID = "client_id"
    /// RFC 7800 §3.1, and RFC 9449 §6.1 in it.
    case confirmation = "cnf"
    case keyThumbprint = "jkt"
    /// RFC 9449 §4.2.
    case method = "htm"
    case uri = "htu"
    case tokenDigest = "ath"
    /// RFC 9126 §2.2.
    case requestURI = "request_uri"
    /// RFC 7517 §5.
    case keys
    /// RFC 8628 §3.2.
    case deviceCode = "device_code"
    case userCode = "user_code"
    case verificationURI = "verification_uri"
    case verificationURIComplete = "verification_uri_complete"
    case interval
}
