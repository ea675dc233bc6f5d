// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// The configuration of an identity's client, as far as people see it.
package struct ClientFacts: Sendable, Equatable {
    /// The issuer, else the token endpoint; nil while neither is known.
    package var server: String?
    /// The host of ``server``, as a person knows the provider.
    package var serverName: String?
    package var clientID: String
    /// The `grant_type`.
    package var grant: String
    /// True if somebody logs in to begin a session.
    package var needsPerson: Bool
    /// The source that stands in place of a provider, which nobody logs in to and which forgets no token; nil for
    /// a provider.
    package var source: TokenSource.Name?

    package init(
        server: String?, serverName: String?, clientID: String, grant: String, needsPerson: Bool,
        source: TokenSource.Name? = nil
    ) {
        self.server = server
        self.serverName = serverName
        self.clientID = clientID
        self.grant = grant
        self.needsPerson = needsPerson
        self.source = source
    }
}
