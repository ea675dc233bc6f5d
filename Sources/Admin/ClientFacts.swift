// SPDX-License-Identifier: Apache-2.0

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

    package init(server: String?, serverName: String?, clientID: String, grant: String, needsPerson: Bool) {
        self.server = server
        self.serverName = serverName
        self.clientID = clientID
        self.grant = grant
        self.needsPerson = needsPerson
    }
}
