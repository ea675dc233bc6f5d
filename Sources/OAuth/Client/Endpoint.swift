// SPDX-License-Identifier: Apache-2.0

/// An endpoint of an authorization server, spelled as in its metadata (RFC 8414 §2).
public enum Endpoint: String, CaseIterable, Sendable {
    /// Where people log in (RFC 6749 §3.1).
    case authorization = "authorization_endpoint"
    /// Where grants become tokens (RFC 6749 §3.2).
    case token = "token_endpoint"
    /// Where logins on another device begin (RFC 8628 §3.1).
    case deviceAuthorization = "device_authorization_endpoint"
    /// Says who the person is (OpenID Connect Core §5.3).
    case userinfo = "userinfo_endpoint"
    /// Forgets tokens (RFC 7009).
    case revocation = "revocation_endpoint"
    /// Ends the provider's own session (OpenID Connect RP-Initiated Logout).
    case endSession = "end_session_endpoint"
    /// Makes clients (RFC 7591).
    case registration = "registration_endpoint"
    /// Says what a token is worth (RFC 7662).
    case introspection = "introspection_endpoint"
    /// Takes authorization requests beforehand (RFC 9126).
    case pushedAuthorizationRequest = "pushed_authorization_request_endpoint"
    /// What tokens are signed with (RFC 7517 §5).
    case keys = "jwks_uri"
}
