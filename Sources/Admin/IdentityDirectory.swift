// SPDX-License-Identifier: Apache-2.0

package import OAuth
package import Observability

/// The identities of the process, as the admin listener sees them: never a token.
package protocol IdentityDirectory: Sendable {
    /// Every configured identity, in the order of the configuration.
    func statuses() async -> [IdentityStatus]

    /// What was counted of every configured identity.
    func metrics() async -> [IdentityMetrics]

    /// Asks for a new access token now.
    ///
    /// - Parameter name: of a configured identity.
    /// - Throws: why there is none.
    func refresh(_ name: String) async throws(TokenError)

    /// Makes sure that the present access token is never used again, and asks for a new one.
    ///
    /// - Parameter name: of a configured identity.
    /// - Throws: why there is no new one; the old one is not used all the same.
    func invalidate(_ name: String) async throws(TokenError)
}
