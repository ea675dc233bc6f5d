// SPDX-License-Identifier: Apache-2.0

/// A member of the token endpoint's answer, spelled as on the wire (RFC 6749 §5.1, §5.2).
enum ResponseMember: String {
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresIn = "expires_in"
    case refreshToken = "refresh_token"
    case idToken = "id_token"
    case scope
    case error
    case errorDescription = "error_description"
    case errorURI = "error_uri"
    /// RFC 8628 §3.2, like those below.
    case deviceCode = "device_code"
    case userCode = "user_code"
    case verificationURI = "verification_uri"
    case verificationURL = "verification_url"
    case completeVerificationURI = "verification_uri_complete"
    case interval
    /// RFC 9126 §2.2.
    case requestURI = "request_uri"
}
