// SPDX-License-Identifier: Apache-2.0

/// What a login brought, as far as it may be told.
package struct Login: Equatable, Sendable {
    /// Without one the session ends with its access token.
    package let hasRefreshToken: Bool
    package let hasIDToken: Bool
}
