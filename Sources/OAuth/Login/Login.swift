// SPDX-License-Identifier: Apache-2.0

/// What a login brought, as far as it may be told.
public struct Login: Equatable, Sendable {
    /// Without one the session ends with its access token.
    public let hasRefreshToken: Bool
    /// Whether the provider said who the person is.
    public let hasIDToken: Bool
    /// What the id token calls the person: `preferred_username`, `email`, else `sub`; nil where there is none.
    public let person: String?

    package init(hasRefreshToken: Bool, hasIDToken: Bool, person: String? = nil) {
        self.hasRefreshToken = hasRefreshToken
        self.hasIDToken = hasIDToken
        self.person = person
    }
}
