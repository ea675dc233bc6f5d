// SPDX-License-Identifier: Apache-2.0

/// The state of a session, as programs and people see it; the raw value is its name in JSON.
///
/// If several apply, the first in this order is shown. Readiness does not depend on it.
public enum SessionState: String, CaseIterable, Sendable {
    /// Somebody must log in: nobody has yet, or the authorization server refused the session for good.
    case loginRequired = "login_required"
    /// The authorization server refuses this client or its request, so the configuration must change.
    case misconfigured = "misconfigured"
    /// A resource server refused the newest access token with 401.
    case authorizationError = "authorization_error"
    /// No usable token, and the last token request failed.
    case unavailable = "idp_unavailable"
    /// No usable token, and a token request is in flight.
    case refreshing = "refreshing"
    /// There is an access token that has not expired.
    case authorized = "authorized"
    /// Nothing was ever fetched or stored.
    case empty = "empty"
}
