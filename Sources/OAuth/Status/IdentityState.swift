// SPDX-License-Identifier: Apache-2.0

/// The one word that describes an identity to people, metrics and hooks; the raw value is what they see.
///
/// Of several that apply the first in this order is shown. No state decides readiness.
public enum IdentityState: String, CaseIterable, Sendable {
    /// Somebody must log in: nobody has yet, or the authorization server refused for good.
    case loginRequired = "login_required"
    /// The authorization server refuses this client or its request: somebody must mend the configuration.
    case misconfigured = "misconfigured"
    /// A resource server refused the newest access token with 401.
    case authorizationError = "authorization_error"
    /// No usable token, and the last attempt to get one failed.
    case unavailable = "idp_unavailable"
    /// No usable token, and one is being fetched.
    case refreshing = "refreshing"
    /// There is an access token that has not expired.
    case authorized = "authorized"
    /// Nothing was ever fetched or stored.
    case empty = "empty"
}
