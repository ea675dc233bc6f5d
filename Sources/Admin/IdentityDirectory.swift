// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import BearerdJSON
package import OAuth
package import BearerdObservability

/// The identities of the process, as the admin listener sees them: never a token.
package protocol IdentityDirectory: Sendable {
    /// Every configured identity, in the order of the configuration.
    func statuses() async -> [IdentityStatus]

    /// Whether an identity's sessions are begun by a person; nil if there is no such identity.
    func needsPerson(_ name: String) -> Bool?

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

    /// The claims about the user, as the provider tells them.
    ///
    /// - Parameter name: of a configured identity.
    /// - Throws: why there are none.
    func userinfo(_ name: String) async throws(SessionFailure) -> JSONObject

    /// Has the provider forget tokens, and forgets them.
    ///
    /// - Parameters:
    ///   - hints: which of them.
    ///   - name: of a configured identity.
    /// - Returns: those that there were.
    /// - Throws: why nothing has changed.
    func revoke(_ hints: [TokenHint], of name: String) async throws(SessionFailure) -> [TokenHint]

    /// Has the provider make a client, which the identity is from then on.
    ///
    /// - Parameter name: of a configured identity.
    /// - Throws: why nothing has changed.
    func register(_ name: String) async throws(SessionFailure) -> RegistrationReport

    /// A request for a browser to make, in which somebody logs in.
    ///
    /// - Parameters:
    ///   - name: of a configured identity.
    ///   - redirectURI: where the answer is awaited.
    /// - Throws: why nobody can log in.
    func beginLogin(_ name: String, redirectURI: String) async throws(TokenFailure) -> AuthorizationRequest

    /// Takes a session over from a command, or finishes a login that one began.
    ///
    /// - Parameters:
    ///   - transfer: what the command has.
    ///   - name: of a configured identity.
    /// - Returns: what came of it.
    /// - Throws: why the session that there was goes on.
    func take(_ transfer: SessionTransfer, for name: String) async throws(LoginError) -> SessionTransferReport

    /// Forgets the session, and asks the provider to do the same.
    ///
    /// - Parameter name: of a configured identity.
    /// - Throws: why the session could not be forgotten.
    func logOut(_ name: String) async throws(SessionFailure) -> LogoutOutcome
}
