// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdHTTPMessages
package import OAuth

/// The settings of the admin listener.
package struct AdminSettings: Sendable {
    /// bearerd's version.
    package var version: String
    /// The routes of the configuration.
    package var routes: [AdminRoute]
    /// The hosts to which it answers; health, readiness and metrics ignore the `Host`.
    package var hosts: HostList
    /// The key for everything but health, readiness and metrics (`admin.key`); nil if none is configured.
    package var key: CurrentSecret?
    /// True if the listener is off loopback, where such requests are refused while there is no key.
    package var needsKey: Bool
    /// The users of this machine who may change something without the key, besides our own user and root
    /// (`admin.peer_uids`).
    package var peerUserIDs: Set<UInt32>
    /// True if `POST /api/quit` ends the process (`admin.quit`).
    package var allowsQuit: Bool
    /// The redirect URIs of the identities to which a browser can log in here.
    package var redirects: [String: RedirectURI]
    /// The configuration of each identity's client, keyed by the identity's name.
    package var clients: [String: ClientFacts]
    /// A sentence for each protection that the configuration turns off; the status page shows them.
    package var warnings: [String]
    /// The data listeners, each with the protocols that it speaks; the status page shows them.
    package var listeners: [String]
    /// The absolute path of the configuration; nil if it is in no file.
    package var configurationFile: String?
    /// Where the sessions are kept; nil where they are in no files.
    package var storeDirectory: String?
    /// True if the configuration is in a file, so that commands help.
    var namesCommands: Bool { configurationFile != nil }

    package init(
        version: String, routes: [AdminRoute], hosts: HostList, key: CurrentSecret? = nil,
        needsKey: Bool = false, peerUserIDs: Set<UInt32> = [], allowsQuit: Bool = false,
        redirects: [String: RedirectURI] = [:], clients: [String: ClientFacts] = [:],
        warnings: [String] = [], listeners: [String] = [], configurationFile: String? = nil
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
        self.listeners = listeners
        self.configurationFile = configurationFile
    }
}
