// SPDX-License-Identifier: Apache-2.0

/// The record of one identity, as a look at the store finds it.
struct StoreRecord: Sendable {
    /// The stored session; nil if there is none.
    var session: StoredSession?
    /// True if somebody who ended, or gave up, without an answer has spent its refresh token; known only under the lease.
    var isLeftSpent = false
    /// Until then others may have a newer session that could not be stored; nil if that cannot be.
    var settledAt: Instant?
    /// Why other processes look for it elsewhere; nil if they do not.
    var misplacement: StoreError?

    init(session: StoredSession?, settledAt: Instant? = nil, misplacement: StoreError? = nil) {
        self.session = session
        self.settledAt = settledAt
        self.misplacement = misplacement
    }
}
