// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdRouting
internal import BearerdSystem
internal import OAuth

/// One worker's view of one route's token; it survives a reload that keeps the session and the credentials
/// field.
final class TokenState {
    let session: AuthSession
    let credentials: RequestAuthorization.Field
    /// The exchanged tokens of callers; nil on a route that does not act for its callers.
    let callers: CallerTokens?
    /// True if the session's tokens may be bound to a key (RFC 9449).
    let mayProve: Bool
    /// Where the session publishes its tokens.
    let slot: TokenSlot
    var authorization: RequestAuthorization {
        @inline(__always)
        _read { yield writing.value }
        @inline(__always)
        _modify { yield &writing.value }
    }
    private let reading: Exclusive<Reading>
    private let writing: Exclusive<RequestAuthorization>
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1

    init(_ session: AuthSession, _ credentials: RequestAuthorization.Field) {
        self.session = session
        self.credentials = credentials
        mayProve = session.mayProve
        callers = session.callers
        slot = session.slot
        reading = Exclusive(Reading(reader: TokenReader(session.slot)))
        writing = Exclusive(RequestAuthorization(credentials))
    }

    /// The published token, however old it is.
    func current() -> AccessTokenSnapshot? { reading.value.reader.current() }

    /// The published token, unless it has expired at that moment.
    func token(usableAt now: PreciseInstant) -> AccessTokenSnapshot? { reading.value.token(usableAt: now) }

    /// The published token with its expiry, read once for each token.
    private struct Reading {
        var reader: TokenReader
        private var known: AccessTokenSnapshot?
        private var expiry: PreciseInstant?

        init(reader: TokenReader) { self.reader = reader }

        mutating func token(usableAt now: PreciseInstant) -> AccessTokenSnapshot? {
            guard let token = reader.current() else { return nil }
            if token !== known {
                known = token
                expiry = PreciseInstant(token.expiry)
            }
            guard let expiry, now < expiry else { return nil }
            return token
        }
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
