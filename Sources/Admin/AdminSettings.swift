// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import HTTPMessages

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
    /// Whether `POST /api/quit` ends the process (`admin.quit`).
    package var allowsQuit: Bool
    /// Protections that the configuration turns off, as sentences; the status page shows them.
    package var warnings: [String]

    package init(
        version: String, routes: [AdminRoute], hosts: HostList, key: CurrentSecret? = nil,
        needsKey: Bool = false, allowsQuit: Bool = false,
        warnings: [String] = []
    ) {
        self.version = version
        self.routes = routes
        self.hosts = hosts
        self.key = key
        self.needsKey = needsKey
        self.allowsQuit = allowsQuit
        self.warnings = warnings
    }
}
