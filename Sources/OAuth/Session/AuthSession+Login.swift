// SPDX-License-Identifier: Apache-2.0

/// How a login becomes the session.
extension AuthSession {
    /// Longer than another process can need for its own token request.
    private static let longestLockWait: Duration = .seconds(30)

    /// Makes a finished login the session: stored under the store's lock, then used, here and by every other process.
    ///
    /// What the identity had before is replaced, final answers included.
    ///
    /// - Parameters:
    ///   - grant: what the login brought, already checked.
    ///   - sentAt: when the token request was sent; the lifetime counts from then.
    ///   - wall: the civil clock at that moment.
    /// - Throws: ``StoreError`` if it could not be stored. In a lock's case nothing has changed; after a failed write the
    ///   session is in use from memory, and writing is tried again.
    package func adopt(login grant: TokenGrant, sentAt: Instant, wall: WallTime) async throws(StoreError) {
        let lock = try await store.lock(identity, waitingAtMost: Self.longestLockWait)
        await adoptStored()
        let (session, token) = state.login(grant, sentAt: sentAt, wall: wall, jitter: random())
        let failure = await saving(session)
        state.loggedIn(session, with: token, isSaved: failure == nil)
        await lock.release()
        advance()
        if let failure { throw failure }
    }
}
