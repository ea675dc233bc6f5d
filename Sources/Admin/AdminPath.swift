// SPDX-License-Identifier: Apache-2.0

package import OAuth

/// Paths of the admin listener for those who ask it; ``AdminResource`` reads them.
package enum AdminPath {
    /// What is to know of the identities, as JSON.
    package static let status = "/api/status"
    /// Whether requests can be served.
    package static let readiness = "/readyz"

    /// Forces a refresh of an identity, whose name needs no percent-encoding.
    package static func refresh(_ identity: String) -> String { "/api/identities/\(identity)/refresh" }
    /// The claims about an identity's user.
    package static func userinfo(_ identity: String) -> String { "/api/identities/\(identity)/userinfo" }
    /// Has the provider forget one of an identity's tokens, or all of them.
    package static func revoke(_ hint: TokenHint?, of identity: String) -> String {
        "/api/identities/\(identity)/revoke" + (hint.map { "/\($0.rawValue)" } ?? "")
    }
    /// Has the provider make a client for an identity.
    package static func register(_ identity: String) -> String { "/api/identities/\(identity)/register" }
    /// Takes a session over that a command began, or finishes one.
    package static func session(_ identity: String) -> String { "/api/identities/\(identity)/session" }
    /// Ends an identity's session.
    package static func logout(_ identity: String) -> String { "/api/identities/\(identity)/logout" }
}
