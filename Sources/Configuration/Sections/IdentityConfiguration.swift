// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import OAuth

/// A client of an authorization server whose tokens routes carry (`identities.NAME`).
package struct IdentityConfiguration: Sendable {
    package internal(set) var client: ClientConfiguration
    /// The client's credentials and those of its grant.
    package let credentials: [Credential: SecretSource]
    /// The configuration keys that name them.
    package let credentialKeys: [Credential: String]
    /// The redirect URI of a login in a browser.
    package let redirectURI: RedirectURI
    /// The address that is bound for the redirect, if it differs from the URI's.
    package let redirectListen: ListenAddress?
    package let transport: TransportConfiguration
    let preset: Preset?
    /// The command that runs on its changes of state; empty for none, nil for the configuration's.
    package let onStateChange: [String]?

    /// A copy whose login also asks for the resources of these routes.
    func serving(_ routes: [RouteConfiguration]) -> IdentityConfiguration {
        var serving = self
        for resource in routes.filter({ $0.identity == name }).flatMap({ $0.target?.resource ?? [] })
        where !serving.client.furtherResources.contains(resource) {
            serving.client.furtherResources.append(resource)
        }
        return serving
    }

    package var name: String { client.name }
    package var clientSecret: SecretSource? { credentials[.clientSecret] }

    /// The address at which redirects arrive.
    package var redirectAddress: ListenAddress {
        redirectListen ?? .tcp(host: redirectURI.host, port: redirectURI.port)
    }

    /// Returns true if redirects to the fixed port of ``redirectURI`` arrive at a listener, by whatever name of loopback.
    package func redirects(arriveAt listener: ListenAddress) -> Bool {
        guard case .tcp(let host, let port) = redirectAddress, case .tcp(let own, port) = listener, port != 0
        else { return false }
        func isLoopback(_ address: ListenAddress, _ host: String) -> Bool {
            host == "localhost" || address.isLoopback
        }
        return host == own || ["0.0.0.0", "::"].contains(own)
            || isLoopback(redirectAddress, host) && isLoopback(listener, own)
    }
}
