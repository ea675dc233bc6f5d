// SPDX-License-Identifier: Apache-2.0

import OAuth
import Synchronization

/// The right to change one identity, which ends by itself when its holder does not renew it in time.
///
/// A holder that has sent a refresh token, and has not stored what came of it, has the right to take the lock anew.
final class RedisLease: StoreLease {
    private struct State {
        /// The lock is ours until then at least.
        var end: ContinuousClock.Instant
        var isOver = false
        var isReleased = false
        var mayBeSpent = false
        var leavesMark = false
        /// Whether the server has ever said that the lock is ours.
        var wasGiven = false
        /// The generation whose refresh token may have been sent, until what came of it is stored.
        var spending: Int?
    }

    let store: RedisStore
    let identity: String
    /// A word of its own and who that is, for those who wait.
    let owner: String
    private let state: Mutex<State>

    init(store: RedisStore, identity: String, owner: String, end: ContinuousClock.Instant) {
        self.store = store
        self.identity = identity
        self.owner = owner
        state = Mutex(State(end: end))
    }

    /// Whether nobody else can have it yet, as far as we know.
    var isHeld: Bool { state.withLock { !$0.isOver && .now < $0.end } }

    /// Whether there is somebody who would renew it.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether the lock may still be in our name, though nobody renews it.
    var mayLiveOn: Bool { state.withLock { .now < $0.end } }

    /// Whether the lock was asked for, and no answer has come.
    var isInDoubt: Bool { state.withLock { !$0.wasGiven } }

    /// The generation whose refresh token may have been sent, until what came of it is stored.
    var spending: Int? { state.withLock { $0.spending } }

    /// It is ours until `end`.
    func renewed(until end: ContinuousClock.Instant) {
        state.withLock { state in
            state.end = end
            state.wasGiven = true
        }
    }

    /// What came of the refresh token is stored.
    func stored() { state.withLock { $0.spending = nil } }

    /// It is nobody's, or somebody else's.
    func finish() { state.withLock { $0.isOver = true } }

    /// Whether somebody else's mark was in the place of ours.
    func marked(overAnother isOverAnother: Bool) {
        state.withLock { state in
            state.mayBeSpent = isOverAnother
            state.leavesMark = false
        }
    }

    var mayBeSpent: Bool { state.withLock { $0.mayBeSpent } }

    func leaveSpent() { state.withLock { $0.leavesMark = true } }

    /// Whether the mark outlives the lock.
    var leavesMark: Bool { state.withLock { $0.leavesMark } }

    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError) {
        precondition(session.identity == identity, "a lease is good for one identity")
        try await hold()
        do throws(StoreError) {
            try await store.save(session, over: read, under: self)
        } catch {
            // Where somebody has deleted all, the lock went with it.
            guard error == .leaseLost, spending != nil else { throw error }
            try await store.renew(self)
            try await store.save(session, over: read, under: self)
        }
    }

    func spend(_ session: StoredSession) async throws(StoreError) {
        try await hold()
        let before = spending
        state.withLock { $0.spending = session.generation }
        do throws(StoreError) {
            try await store.spend(session, under: self)
            try await hold()
        } catch {
            state.withLock { $0.spending = before }
            throw error
        }
    }

    func release() async {
        let isFirst = state.withLock { state in
            defer { (state.isOver, state.isReleased) = (true, true) }
            return !state.isReleased
        }
        if isFirst { await store.release(self) }
    }

    /// Makes sure that nobody else can have the lock.
    private func hold() async throws(StoreError) {
        guard !isHeld else { return }
        guard spending != nil, !isOver else { throw .leaseLost }
        try await store.renew(self)
    }
}
