// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// The provider's endpoints by their path.
enum ProviderEndpoint: String {
    case index = "/"
    /// OpenID Connect Discovery §4.
    case openIDConfiguration = "/.well-known/openid-configuration"
    /// RFC 8414 §3.
    case serverMetadata = "/.well-known/oauth-authorization-server"
    case jwks = "/jwks"
    case token = "/token"
    /// RFC 9126 §2.
    case pushedAuthorizationRequest = "/par"
    case authorize = "/authorize"
    /// The target of the login page's form.
    case login = "/login"
    case userinfo = "/userinfo"
    case revoke = "/revoke"
    case endSession = "/end_session"
    case deviceAuthorization = "/device_authorization"
    /// The page for the user of a device.
    case device = "/device"

    /// The methods that the endpoint accepts; GET stands for HEAD too.
    var methods: [HTTPMethod] {
        switch self {
        case .index, .openIDConfiguration, .serverMetadata, .jwks: [.get]
        case .token, .pushedAuthorizationRequest, .login, .revoke, .deviceAuthorization: [.post]
        case .authorize, .userinfo, .endSession, .device: [.get, .post]
        }
    }
}
