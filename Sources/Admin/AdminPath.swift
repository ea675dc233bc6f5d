// SPDX-License-Identifier: Apache-2.0

/// Paths of the admin listener for those who ask it; ``AdminResource`` reads them.
package enum AdminPath {
    /// What is to know of the identities, as JSON.
    package static let status = "/api/status"
    /// Whether requests can be served.
    package static let readiness = "/readyz"

    /// Forces a refresh of an identity, whose name needs no percent-encoding.
    package static func refresh(_ identity: String) -> String { "/api/identities/\(identity)/refresh" }
}
