// SPDX-License-Identifier: Apache-2.0

/// A member of client metadata, spelled as on the wire (RFC 7591 §2, §3.2.1).
package enum RegistrationMember: String {
    case redirectURIs = "redirect_uris"
    case applicationType = "application_type"
    case clientName = "client_name"
    case grantTypes = "grant_types"
    case responseTypes = "response_types"
    case tokenEndpointAuthMethod = "token_endpoint_auth_method"
    case scope
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case clientSecretExpiresAt = "client_secret_expires_at"
    case error
    case jwks
    case jwksURI = "jwks_uri"
    case postLogoutRedirectURIs = "post_logout_redirect_uris"

    /// True if the configuration may replace the member.
    var isReplaceable: Bool {
        [.jwks, .jwksURI, .postLogoutRedirectURIs].contains(self)
    }

    /// Returns true if the configuration may not have further metadata of this name.
    package static func isBuiltIn(_ name: String) -> Bool {
        RegistrationMember(rawValue: name).map { !$0.isReplaceable } ?? false
    }
}
