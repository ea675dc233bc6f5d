// SPDX-License-Identifier: Apache-2.0

/// A person took tokens back.
extension AuthState {
    /// The session without some of its tokens; nothing has changed before ``ended(_:isSaved:)``.
    ///
    /// Access tokens go in any case: most servers let them die with the refresh token.
    func session(withoutRefreshToken isForgotten: Bool) -> StoredSession {
        session.withoutTokens(forgettingRefreshToken: isForgotten)
    }

    /// The session of somebody who logged out.
    ///
    /// It is stored, not removed: its generation tells every other process that theirs has ended.
    ///
    /// - Parameter wall: the civil clock.
    func loggedOutSession(at wall: WallTime) -> StoredSession {
        session.loggedOut(binding: binding, at: wall)
    }

    /// What ``session(withoutRefreshToken:)`` or ``loggedOutSession(at:)`` gave has been stored, or could not be.
    mutating func ended(_ stored: StoredSession, isSaved: Bool) {
        invalidated = session.generation
        session = stored
        follow(stored)
        isUnsaved = !isSaved
        isStoreBehind = false
        outranksStored = !isSaved
        hasStoredWorked = false
        if isSaved { storeTroubles[.lock] = nil }
        access = nil
        failure = nil
        doubts = 0
        demand = nil
        unauthorized = nil
        isWithheld = false
        isAskedFor = false
    }
}
