// SPDX-License-Identifier: Apache-2.0

/// Scope tokens that many servers know.
public enum Scope {
    /// Asks for an ID token (OpenID Connect Core §3.1.2.1).
    public static let openID = "openid"
    /// Name, picture and so on (OpenID Connect Core §5.4).
    public static let profile = "profile"
    /// The person's mail address (OpenID Connect Core §5.4).
    public static let email = "email"
    /// The person's postal address (OpenID Connect Core §5.4).
    public static let address = "address"
    /// The person's telephone number (OpenID Connect Core §5.4).
    public static let phone = "phone"
    /// A refresh token that outlives the browser's session (OpenID Connect Core §11).
    public static let offlineAccess = "offline_access"
}
