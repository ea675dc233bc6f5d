// SPDX-License-Identifier: Apache-2.0

internal import OAuth

/// One worker's view of the token of one route; it outlives the snapshot as long as session and credentials stay the same.
final class TokenState {
    let session: AuthSession
    let credentials: RequestAuthorization.Field
    var reader: TokenReader
    var authorization: RequestAuthorization
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    init(_ session: AuthSession, _ credentials: RequestAuthorization.Field) {
        self.session = session
        self.credentials = credentials
        reader = TokenReader(session.slot)
        authorization = RequestAuthorization(credentials)
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
