// SPDX-License-Identifier: Apache-2.0

internal import OAuth

/// One worker's view of the token of one route; it outlives the snapshot as long as session and field stay the same.
final class TokenState {
    let session: AuthSession
    let credentials: Route.Credentials
    var reader: TokenReader
    var field: TokenField
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    init(_ session: AuthSession, _ credentials: Route.Credentials) {
        self.session = session
        self.credentials = credentials
        reader = TokenReader(session.slot)
        field = TokenField(credentials)
    }

    /// What a route's tokens are, if it has any.
    ///
    /// - Parameter known: of the same route, by the snapshot before.
    static func of(_ route: Route, known: TokenState?) -> TokenState? {
        guard let session = route.session else { return nil }
        if let known, known.session === session, known.credentials == route.credentials { return known }
        return TokenState(session, route.credentials)
    }
}
