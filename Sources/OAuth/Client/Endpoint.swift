// SPDX-License-Identifier: Apache-2.0

/// An endpoint of an authorization server, spelled as in its metadata (RFC 8414 §2).
public enum Endpoint: String, CaseIterable, Sendable {
    /// Logins (RFC 6749 §3.1).
    case authorization = "authorization_endpoint"
    /// Tokens (RFC 6749 §3.2).
    case token = "token_endpoint"
    /// Logins on another device (RFC 8628 §3.1).
    case deviceAuthorization = "device_authorization_endpoint"
    /// Claims about the person (OpenID Connect Core §5.3).
    case userinfo = "userinfo_endpoint"
    /// Revocation of tokens (RFC 7009).
    case revocation = "revocation_endpoint"
    /// The end of the authorization server's session (OpenID Connect RP-Initiated Logout).
    case endSession = "end_session_endpoint"
    /// Registration of clients (RFC 7591).
    case registration = "registration_endpoint"
    /// Introspection of tokens (RFC 7662).
    case introspection = "introspection_endpoint"
    /// Pushed authorization requests (RFC 9126).
    case pushedAuthorizationRequest = "pushed_authorization_request_endpoint"
    /// The keys of signatures (RFC 7517 §5).
    case keys = "jwks_uri"
}
