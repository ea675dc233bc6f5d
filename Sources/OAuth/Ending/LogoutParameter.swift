// SPDX-License-Identifier: Apache-2.0

/// A parameter of the requests that end things, spelled as on the wire.
package enum LogoutParameter: String, Sendable {
    /// RFC 7009 §2.1.
    case token
    /// RFC 7009 §2.1.
    case tokenTypeHint = "token_type_hint"
    /// OpenID Connect RP-Initiated Logout §2.
    case idTokenHint = "id_token_hint"
    /// OpenID Connect RP-Initiated Logout §2.
    case clientID = "client_id"
    /// OpenID Connect RP-Initiated Logout §2.
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    /// OpenID Connect RP-Initiated Logout §2.
    case state
}
