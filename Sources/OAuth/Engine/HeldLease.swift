// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The store's lease on the identity, with what was read under it.
struct HeldLease: Sendable {
    var ticket: Ticket
    /// The stored session, which a save replaces; nil if there is none.
    var stored: StoredSession?
    /// True while nobody knows what became of the refresh token that was sent.
    var leavesMark = false
    /// True if no other process can have sent the refresh token since we did, under this lease.
    var isDoubtOurs = false
    /// True if ours has taken the place of the stored refresh token, whatever session has taken the place of ours since.
    var isStoredSpent = false
    /// True if a save failed, so that the store may hold it all the same: it is read before a refresh token is marked.
    var isUnsure = false
    /// True if it was kept while others were to write first: no refresh token is sent under it.
    var hasKeptOthersOut = false
    /// True if other processes look for the identity elsewhere, so that keeping the lease keeps nobody out.
    var hasMoved = false

    /// Takes note of what the store holds, and whether ours has taken the place of its refresh token.
    mutating func noteRead(_ session: StoredSession?, isReplaced: Bool) {
        let isSame = session?.refreshToken?.matches(stored?.refreshToken) ?? false
        isStoredSpent = isReplaced || isSame && isStoredSpent
        stored = session
        isUnsure = false
    }

    /// Takes note that the store holds what was to be written.
    mutating func noteWritten(_ session: StoredSession) {
        stored = session
        (isUnsure, leavesMark, isStoredSpent) = (false, false, false)
    }
}
