// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// What a development provider is told at its start.
package struct ProviderSettings: Sendable {
    /// `iss`, and where it is reached: an origin without path.
    package var issuer: String
    package var clients: [DevelopmentClient]
    package var users: [DevelopmentUser]
    /// Of access tokens; `expires_in` has it in seconds.
    package var accessTokenLifetime: Duration
    /// `aud` of access tokens for which nothing else is asked.
    package var audience: String

    /// Describes a provider.
    ///
    /// - Parameters:
    ///   - origin: where it listens; a path is ignored.
    ///   - clients: those it knows.
    ///   - users: those who can log in.
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
