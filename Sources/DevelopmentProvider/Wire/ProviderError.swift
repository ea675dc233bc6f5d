// SPDX-License-Identifier: Apache-2.0

/// The reason why the provider refuses a request.
struct ProviderError: Error, Equatable {
    /// `error` (RFC 6749 §4.1.2.1, §5.2, RFC 8628 §3.5, RFC 9449 §5, OpenID Connect Core §3.1.2.6).
    enum Code: String {
        case accessDenied = "access_denied"
        case authorizationPending = "authorization_pending"
        case expiredToken = "expired_token"
        case invalidClient = "invalid_client"
        /// RFC 9449 §5.
        case invalidDPoPProof = "invalid_dpop_proof"
        case invalidGrant = "invalid_grant"
        case invalidRequest = "invalid_request"
        case invalidScope = "invalid_scope"
        case loginRequired = "login_required"
        case requestNotSupported = "request_not_supported"
        case slowDown = "slow_down"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
    }

    let code: Code
    /// Text for developers, in the characters that RFC 6749 §5.2 allows.
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The status at endpoints that answer with JSON.
    var status: Int { code == .invalidClient ? 401 : 400 }
}
