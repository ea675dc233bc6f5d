// SPDX-License-Identifier: Apache-2.0

/// An endpoint of an authorization server, spelled as in its metadata (RFC 8414 §2).
public enum Endpoint: String, CaseIterable, Sendable {
    case authorization = "authorization_endpoint"
    case token = "token_endpoint"
    case deviceAuthorization = "device_authorization_endpoint"
    case userinfo = "userinfo_endpoint"
    case revocation = "revocation_endpoint"
    case endSession = "end_session_endpoint"
    case registration = "registration_endpoint"
    case introspection = "introspection_endpoint"
    case pushedAuthorizationRequest = "pushed_authorization_request_endpoint"
    case keys = "jwks_uri"
}
