// SPDX-License-Identifier: Apache-2.0

/// A parameter of a revocation or logout request, spelled as on the wire.
package enum LogoutParameter: String, Sendable {
    // RFC 7009 §2.1
    case token
    case tokenTypeHint = "token_type_hint"
    // OpenID Connect RP-Initiated Logout §2
    case idTokenHint = "id_token_hint"
    case clientID = "client_id"
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    case state
}
