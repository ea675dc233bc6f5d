// SPDX-License-Identifier: Apache-2.0

/// What a login brought, as far as it may be told.
public struct Login: Equatable, Sendable {
    /// Without one the session ends with its access token.
    public let hasRefreshToken: Bool
    /// Whether the provider said who the person is.
    public let hasIDToken: Bool

    package init(hasRefreshToken: Bool, hasIDToken: Bool) {
        self.hasRefreshToken = hasRefreshToken
        self.hasIDToken = hasIDToken
    }
}
