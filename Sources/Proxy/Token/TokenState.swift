// SPDX-License-Identifier: Apache-2.0

internal import OAuth
internal import BearerdRouting

/// One worker's view of the token of one route; it outlives the snapshot as long as session and credentials stay the same.
final class TokenState {
    let session: AuthSession
    let credentials: RequestAuthorization.Field
    /// Where callers' own tokens are exchanged; nil where the session has its own.
    let callers: CallerTokens?
    /// Whether the session's tokens may be bound to a key.
    let mayProve: Bool
    var reader: TokenReader
    var authorization: RequestAuthorization
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    init(_ session: AuthSession, _ credentials: RequestAuthorization.Field) {
        self.session = session
        self.credentials = credentials
        mayProve = session.mayProve
        callers = session.callers
        reader = TokenReader(session.slot)
        authorization = RequestAuthorization(credentials)
    }

    /// What a route's tokens are, if it has any.
    ///
    /// - Parameter known: of the same route, by the snapshot before.
    static func of(_ route: PreparedRoute, known: TokenState?) -> TokenState? {
        guard let session = route.session else { return nil }
        if let known, known.session === session, known.credentials == route.terms.credentials { return known }
        return TokenState(session, route.terms.credentials)
    }
}
