// SPDX-License-Identifier: Apache-2.0

/// The result of a login, without its tokens.
public struct Login: Equatable, Sendable {
    /// True if the login brought a refresh token; without one the session ends with its access token.
    public let hasRefreshToken: Bool
    /// True if the login brought an ID token.
    public let hasIDToken: Bool
    /// `preferred_username`, `email` or `sub` of the ID token; nil without one.
    public let person: String?

    package init(hasRefreshToken: Bool, hasIDToken: Bool, person: String? = nil) {
        self.hasRefreshToken = hasRefreshToken
        self.hasIDToken = hasIDToken
        self.person = person
    }
}
