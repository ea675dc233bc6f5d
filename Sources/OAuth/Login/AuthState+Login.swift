// SPDX-License-Identifier: Apache-2.0

/// A person logged in.
extension AuthState {
    /// What a login makes of the session; nothing has changed before ``loggedIn(_:with:isSaved:)``.
    ///
    /// Only its generation and what was learnt of the server outlive the session before.
    ///
    /// - Parameters:
    ///   - grant: what the login brought.
    ///   - sentAt: when the token request was sent; the lifetime counts from then.
    ///   - wall: the civil clock at that moment.
    ///   - jitter: in 0..<1.
    /// - Returns: what must be stored before the token is used, and the token.
    mutating func login(
        _ grant: TokenGrant, sentAt: Instant, wall: WallTime, jitter: Double
    ) -> (StoredSession, AccessToken) {
        let fresh = session.beginning(configured, with: grant, at: wall)
        return granted(grant, to: fresh, sentAt: sentAt, wall: wall, jitter: jitter)
    }

    /// The session of a login has been stored, or could not be.
    mutating func loggedIn(_ stored: StoredSession, with token: AccessToken, isSaved: Bool) {
        session = stored
        follow(stored)
        isUnsaved = !isSaved
        isStoreBehind = false
        holdsOthersSession = false
        outranksStored = !isSaved
        if isSaved {
            hasStoredWorked = false
            storeTroubles[.lock] = nil
        }
        isAskedFor = false
        use(token)
    }

    /// The session with another code, or another request, that waits, as it must be stored.
    ///
    /// Another client's session stays as it is until a login has replaced it.
    ///
    /// - Parameter stored: what the store holds at this moment, under its lock.
    func keeping(
        _ code: AuthorizationCode?, or request: Secret?, over stored: StoredSession?
    ) -> StoredSession {
        let others = stored.flatMap { $0.binding == binding ? nil : $0 }
        var next = others ?? session
        next.generation = session.generation + 1
        next.pendingCode = code
        next.pendingRequest = request
        next.pendingBinding = others == nil || (code == nil && request == nil) ? nil : binding
        return next
    }

    /// `stored` has been stored; its tokens are those of before.
    mutating func kept(_ stored: StoredSession) {
        guard stored.binding == binding else {
            session.generation = stored.generation
            session.pendingCode = stored.pendingCode
            session.pendingRequest = stored.pendingRequest
            return
        }
        session = stored
        isUnsaved = false
    }
}
