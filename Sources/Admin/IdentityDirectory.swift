// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import BearerdJSON
package import BearerdObservability
package import OAuth

/// The identities of the process as the admin listener sees them, without tokens.
package protocol IdentityDirectory: Sendable {
    /// The status of every configured identity, in the order of the configuration.
    func statuses() async -> [SessionStatus]

    /// Returns true if a person begins the identity's sessions; nil if there is no such identity.
    func needsPerson(_ name: String) -> Bool?

    /// The metrics of every configured identity.
    func metrics() async -> [IdentityMetrics]

    /// Requests a new access token now.
    ///
    /// - Parameter name: a configured identity.
    /// - Throws: the failure of the request.
    func refresh(_ name: String) async throws(TokenError)

    /// Stops using the current access token, and requests a new one.
    ///
    /// - Parameter name: a configured identity.
    /// - Throws: the failure of the request; the old token is dropped all the same.
    func invalidate(_ name: String) async throws(TokenError)

    /// Fetches the claims about the user from the provider.
    ///
    /// - Parameter name: a configured identity.
    /// - Throws: the failure of the request.
    func userinfo(_ name: String) async throws(SessionFailure) -> JSONObject

    /// Revokes tokens at the provider, and forgets them.
    ///
    /// - Parameters:
    ///   - hints: the kinds of tokens to revoke.
    ///   - name: a configured identity.
    /// - Returns: the kinds of tokens that existed.
    /// - Throws: the failure, after which nothing has changed.
    func revoke(_ hints: [TokenHint], of name: String) async throws(SessionFailure) -> [TokenHint]

    /// Registers a client at the provider, for the identity to use from now on.
    ///
    /// - Parameter name: a configured identity.
    /// - Throws: the failure, after which nothing has changed.
    func register(_ name: String) async throws(SessionFailure) -> RegistrationReport

    /// Makes the authorization request for a browser in which somebody logs in.
    ///
    /// - Parameters:
    ///   - name: a configured identity.
    ///   - redirectURI: the address of the redirect.
    /// - Throws: the reason why nobody can log in.
    func beginLogin(_ name: String, redirectURI: String) async throws(TokenFailure) -> AuthorizationRequest

    /// Takes over a session from a command, or finishes a login that a command began.
    ///
    /// - Parameters:
    ///   - transfer: the session or login from the command.
    ///   - name: a configured identity.
    ///   - departure: returns once the command has ended, which gives up a login that waits for a person; nil for one whose end
    ///     is not known.
    /// - Returns: the result.
    /// - Throws: the failure, after which the previous session goes on.
    func take(
        _ transfer: SessionTransfer, for name: String, until departure: (@Sendable () async -> Void)?
    ) async throws(LoginError) -> SessionTransferReport

    /// Forgets the session, and asks the provider to do the same unless `isLocal`.
    ///
    /// - Parameter name: a configured identity.
    /// - Throws: the reason why the session could not be forgotten.
    func logOut(_ name: String, onlyHere isLocal: Bool) async throws(SessionFailure) -> LogoutOutcome
}

extension IdentityDirectory {
    /// Takes over what waits for nobody.
    func take(_ transfer: SessionTransfer, for name: String) async throws(LoginError) -> SessionTransferReport
    {
        try await take(transfer, for: name, until: nil)
    }
}
