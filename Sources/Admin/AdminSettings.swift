// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdHTTPMessages
package import OAuth

/// What the admin listener needs to know beforehand.
package struct AdminSettings: Sendable {
    /// bearerd's version.
    package var version: String
    /// The routes of the configuration.
    package var routes: [AdminRoute]
    /// The hosts it answers to; health, readiness and metrics answer whatever the Host.
    package var hosts: HostList
    /// What everything but health, readiness and metrics needs, if anything (`admin.key`).
    package var key: CurrentSecret?
    /// Whether the listener is off loopback, where all that needs a key is refused as long as there is none.
    package var needsKey: Bool
    /// Who on this machine may change something without the key, beside our own user and root (`admin.peer_uids`).
    package var peerUserIDs: Set<UInt32>
    /// Whether `POST /api/quit` ends the process (`admin.quit`).
    package var allowsQuit: Bool
    /// Where the provider sends a browser back to that logs in here, by identity.
    package var redirects: [String: RedirectURI]
    /// What the configuration says of each identity's client, by the identity's name.
    package var clients: [String: ClientFacts]
    /// Protections that the configuration turns off, as sentences; the status page shows them.
    package var warnings: [String]

    /// Whether the routes of a path carry tokens of ours.
    package func hasIdentity(_ path: String) -> Bool {
        routes.contains { $0.path == path && $0.identity != nil }
    }

    package init(
        version: String, routes: [AdminRoute], hosts: HostList, key: CurrentSecret? = nil,
        needsKey: Bool = false, peerUserIDs: Set<UInt32> = [], allowsQuit: Bool = false,
        redirects: [String: RedirectURI] = [:], clients: [String: ClientFacts] = [:],
        warnings: [String] = []
    ) {
        self.version = version
        self.routes = routes
        self.hosts = hosts
        self.key = key
        self.needsKey = needsKey
        self.peerUserIDs = peerUserIDs
        self.allowsQuit = allowsQuit
        self.redirects = redirects
        self.clients = clients
        self.warnings = warnings
    }
}
