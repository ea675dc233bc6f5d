// SPDX-License-Identifier: Apache-2.0

/// The names in a peer's certificate (subjectAltName, RFC 5280 §4.2.1.6), as its authority wrote them.
package struct PeerNames: Sendable {
    package let hosts: [String]
    package let uris: [String]

    package init(hosts: [String], uris: [String]) {
        self.hosts = hosts
        self.uris = uris
    }

    /// A peer without a certificate.
    package static let none = PeerNames(hosts: [], uris: [])
}
