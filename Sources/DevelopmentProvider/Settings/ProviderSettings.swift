// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The settings of a development provider.
package struct ProviderSettings: Sendable {
    /// The value of `iss` and the address of the provider: an origin without a path.
    package var issuer: String
    package var clients: [DevelopmentClient]
    package var users: [DevelopmentUser]
    /// The lifetime of access tokens, `expires_in`.
    package var accessTokenLifetime: Duration
    /// The `aud` of access tokens for which the request names no audience.
    package var audience: String

    /// Describes a provider.
    ///
    /// - Parameters:
    ///   - origin: the address on which it listens; a path is ignored.
    ///   - clients: its clients.
    ///   - users: the users who can log in.
    ///   - accessTokenLifetime: whole seconds.
    package init(
        origin: HTTPURL, clients: [DevelopmentClient], users: [DevelopmentUser] = [.alice],
        accessTokenLifetime: Duration = .seconds(300)
    ) {
        issuer = origin.origin
        self.clients = clients
        self.users = users
        self.accessTokenLifetime = accessTokenLifetime
        audience = "urn:bearerd:sample-api"
    }
}
