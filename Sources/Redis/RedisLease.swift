// SPDX-License-Identifier: Apache-2.0

import OAuth
import Synchronization

/// The lock on one identity; it ends by itself unless its holder renews it in time.
///
/// A holder that has sent a refresh token and not stored the outcome may take the lock anew.
final class RedisLease: StoreLease {
    private struct State {
        /// The lock is ours at least until then.
        var end: ContinuousClock.Instant
        var isOver = false
        var isReleased = false
        var mayBeSpent = false
        var leavesMark = false
        /// The mark that was there when the lock was given.
        var markFound = ""
        /// True once the server has said that the lock is ours.
        var wasGiven = false
        /// The generation whose refresh token may have been sent, until the outcome is stored.
        var spending: Int?
    }

    let store: RedisStore
    let identity: String
    /// A random word and the name of this process, which others show while they wait.
    let owner: String
    private let state: Mutex<State>

    init(store: RedisStore, identity: String, owner: String, end: ContinuousClock.Instant) {
        self.store = store
        self.identity = identity
        self.owner = owner
        state = Mutex(State(end: end))
    }

    /// True while nobody else can hold the lock, as far as we know.
    var isHeld: Bool { state.withLock { !$0.isOver && .now < $0.end } }

    /// True once nobody renews it any more.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// True while the server may still hold the lock in our name.
    var mayLiveOn: Bool { state.withLock { .now < $0.end } }

    /// True if the lock was asked for and no reply has come.
    var isInDoubt: Bool { state.withLock { !$0.wasGiven } }

    /// The generation whose refresh token may have been sent, until the outcome is stored.
    var spending: Int? { state.withLock { $0.spending } }

    /// The lock is ours until `end`.
    func renewed(until end: ContinuousClock.Instant) {
        state.withLock { state in
            state.end = end
            state.wasGiven = true
        }
    }

    /// The lock was given, and there was this mark.
    func found(mark: Substring) { state.withLock { $0.markFound = String(mark) } }

    /// True if `mark` is another owner's, whoever that is, and says something of the refresh token of `session`.
    func isOfAnother(_ mark: Substring, notOlderThan session: StoredSession) -> Bool {
        let parts = mark.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let generation = Int(parts[0]) else { return false }
        return generation >= session.generation && parts[1] != owner
    }

    func wasLeftSpent(_ session: StoredSession) async -> Bool {
        isOfAnother(state.withLock { $0.markFound }[...], notOlderThan: session)
    }

    /// The outcome of the refresh token is stored.
    func stored() { state.withLock { $0.spending = nil } }

    /// Nobody renews the lock from now on.
    func finish() { state.withLock { $0.isOver = true } }

    /// Notes whether our mark has replaced another daemon's.
    func marked(overAnother isOverAnother: Bool) {
        state.withLock { state in
            state.mayBeSpent = isOverAnother
            state.leavesMark = false
        }
    }

    var mayBeSpent: Bool { state.withLock { $0.mayBeSpent } }

    func leaveSpent() { state.withLock { $0.leavesMark = true } }

    /// True if the mark outlives the lock.
    var leavesMark: Bool { state.withLock { $0.leavesMark } }

    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError) {
        precondition(session.identity == identity, "a lease is good for one identity")
        try await hold()
        do throws(StoreError) {
            try await store.save(session, over: read, under: self)
        } catch {
            // If somebody has deleted all keys, the lock is among them.
            guard error == .leaseLost, spending != nil else { throw error }
            try await store.renew(self)
            try await store.save(session, over: read, under: self)
        }
    }

    func spend(_ session: StoredSession) async throws(StoreError) {
        try await hold()
        let before = spending
        // The store may have lost newer writes since we read it, so the newest generation known here counts.
        state.withLock { $0.spending = max(before ?? 0, session.generation) }
        do throws(StoreError) {
            try await store.spend(session, under: self)
            try await hold()
        } catch {
            state.withLock { $0.spending = before }
            throw error
        }
    }

    func isClaimed() async throws(StoreError) -> Bool { try await store.isClaimed(identity) }

    func release() async {
        let isFirst = state.withLock { state in
            defer { (state.isOver, state.isReleased) = (true, true) }
            return !state.isReleased
        }
        if isFirst { await store.release(self) }
    }

    /// Makes sure that nobody else can hold the lock.
    private func hold() async throws(StoreError) {
        guard !isHeld else { return }
        guard spending != nil, !isOver else { throw .leaseLost }
        try await store.renew(self)
    }
}
