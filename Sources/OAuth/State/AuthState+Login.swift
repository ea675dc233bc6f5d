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
        var fresh = StoredSession(
            identity: session.identity, generation: session.generation, binding: binding)
        fresh.basicEncoding = session.basicEncoding
        fresh.registration = session.registration
        fresh.scope = configuration.loginScope
        return granted(grant, to: fresh, sentAt: sentAt, wall: wall, jitter: jitter)
    }

    /// The session of a login has been stored, or could not be.
    ///
    /// - Parameter outranksStored: whether it is not stored, and newer than whatever is.
    mutating func loggedIn(
        _ stored: StoredSession, with token: AccessToken, isSaved: Bool, outranksStored: Bool = false
    ) {
        session = stored
        isUnsaved = !isSaved
        isStoreBehind = false
        self.outranksStored = outranksStored
        if isSaved { hasStoredWorked = false }
        isAskedFor = false
        use(token)
    }

    /// The session with something beside the tokens changed, as it must be stored.
    func changing(_ change: (inout StoredSession) -> Void) -> StoredSession {
        var next = session
        next.generation += 1
        change(&next)
        return next
    }

    /// `stored` has been stored; its tokens are those of before.
    mutating func changed(to stored: StoredSession) {
        session = stored
        isUnsaved = false
    }
}
