// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// A client of an authorization server, whose tokens routes carry (`identities.NAME`).
package struct IdentityConfiguration: Sendable {
    /// What the engine works with.
    package let client: ClientConfiguration
    /// What the client proves itself with; nil where its method needs nothing.
    package let clientSecret: SecretSource?
    /// How the authorization server is connected to.
    package let transport: TransportConfiguration

    /// The name under which routes, the store and the admin listener know it.
    package var name: String { client.name }
}
