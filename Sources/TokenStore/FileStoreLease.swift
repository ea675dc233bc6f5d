// SPDX-License-Identifier: Apache-2.0

import OAuth

/// The right to change one identity's files, until it is given back.
struct FileStoreLease: StoreLease {
    let store: FileStore
    let identity: String
    let lock: FileStoreLock

    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError) {
        precondition(session.identity == identity, "a lease is good for one identity")
        try await store.save(session, over: read, keepingPrevious: keepsPrevious, with: lock)
    }

    func spend(_ session: StoredSession) async throws(StoreError) {
        try await store.spend(session, with: lock)
    }

    var isHeld: Bool { lock.isHeld }

    var mayBeSpent: Bool { lock.mayBeSpent }

    func wasLeftSpent(_ session: StoredSession) async -> Bool { lock.wasLeftSpent(session.generation) }

    var markTrouble: StoreError? { lock.markTrouble.map { .unavailable("\($0)") } }

    func leaveSpent() { lock.leaveSpent() }

    func isClaimed() async -> Bool { await store.isClaimed(identity) }

    func release() async { await store.release(lock) }
}
