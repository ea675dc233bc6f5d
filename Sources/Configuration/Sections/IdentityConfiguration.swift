// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages
package import OAuth

/// A client of an authorization server, whose tokens routes carry (`identities.NAME`).
package struct IdentityConfiguration: Sendable {
    /// What the engine works with.
    package internal(set) var client: ClientConfiguration
    /// What the client proves itself and its grant with.
    package let credentials: [Credential: SecretSource]
    /// The keys under which the file has them.
    package let credentialKeys: [Credential: String]
    /// Where a login in a browser comes back to.
    package let redirectURI: RedirectURI
    /// Where that is really bound, if it differs.
    package let redirectListen: ListenAddress?
    /// How the authorization server is connected to.
    package let transport: TransportConfiguration
    /// Run on its changes of state, in place of the configuration's; empty for none, nil for that one.
    package let onStateChange: [String]?

    /// This identity, logging in for what these routes ask for too.
    func serving(_ routes: [RouteConfiguration]) -> IdentityConfiguration {
        var serving = self
        for resource in routes.filter({ $0.identity == name }).flatMap({ $0.target?.resource ?? [] })
        where !serving.client.furtherResources.contains(resource) {
            serving.client.furtherResources.append(resource)
        }
        return serving
    }

    /// The name under which routes, the store and the admin listener know it.
    package var name: String { client.name }
    /// The client's secret; nil without one.
    package var clientSecret: SecretSource? { credentials[.clientSecret] }
}
