// SPDX-License-Identifier: Apache-2.0

internal import OAuth
internal import BearerdRouting

/// One worker's view of one route's token; it survives a reload that keeps the session and the credentials
/// field.
final class TokenState {
    let session: AuthSession
    let credentials: RequestAuthorization.Field
    /// The exchanged tokens of callers; nil on a route that does not act for its callers.
    let callers: CallerTokens?
    /// True if the session's tokens may be bound to a key (RFC 9449).
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

    /// The state for a route's token; nil if the route has no session.
    ///
    /// - Parameter known: the state of the same route under the previous snapshot.
    static func of(_ route: PreparedRoute, known: TokenState?) -> TokenState? {
        guard let session = route.session else { return nil }
        if let known, known.session === session, known.credentials == route.terms.credentials { return known }
        return TokenState(session, route.terms.credentials)
    }
}
