// SPDX-License-Identifier: Apache-2.0

/// Logins.
extension AuthState {
    /// The session and token of a login; the state changes with ``loggedIn(_:with:isSaved:)``.
    ///
    /// Only the generation and what was learnt of the server remain of the session before.
    ///
    /// - Parameters:
    ///   - sentAt: when the token request was sent; the lifetime counts from here.
    ///   - wall: the civil time at `sentAt`.
    ///   - jitter: in 0..<1.
    /// - Returns: the session, to be stored before the token is used, and the token.
    mutating func login(
        _ response: TokenResponse, sentAt: Instant, wall: WallTime, jitter: Double
    ) -> (StoredSession, AccessToken) {
        let fresh = session.beginning(configured, with: response, at: wall)
        return granted(response, to: fresh, sentAt: sentAt, wall: wall, jitter: jitter)
    }

    /// Takes over the session of a login; `isSaved` is false if it could not be stored.
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

    /// The session with a waiting code or request, to be stored.
    ///
    /// - Parameter stored: the stored session, read under the lock; one of another client stays until a login replaces it.
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

    /// Takes over a stored session that differs in the waiting code or request alone.
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
