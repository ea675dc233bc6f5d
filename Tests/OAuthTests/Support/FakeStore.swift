// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Synchronization

@testable import OAuth

/// A store in memory that can fail, and tells when it is used.
final class FakeStore: SessionStore {
    /// Something that a store is asked to do.
    enum Part: Sendable { case lock, load, save, claim, release }

    private struct State {
        var hanging: Part?
        var hung: [CheckedContinuation<Void, Never>] = []
        var sessions: [String: StoredSession] = [:]
        var watchers: [AsyncStream<Void>.Continuation] = []
        var isBroken = false
        var isBusy = false
        var isUnreadable = false
        var isUnlockable = false
        var losesLeases = false
        var previous: StoredSession?
        /// The generation whose refresh token was sent, and is not known to be answered.
        var spent: Int?
        var isFoundSpent = false
        var leavesSpent = false
        var isWanted = false
        var claims: [WeakClaim] = []
        var losesWord = false
        var isLocked = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What somebody has who claims the lock.
    private final class Claim: Sendable {}
    private struct WeakClaim { weak var claim: Claim? }

    private let state = Mutex(State())
    let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    private subscript(flag: WritableKeyPath<State, Bool>) -> Bool {
        get { state.withLock { $0[keyPath: flag] } }
        set { state.withLock { $0[keyPath: flag] = newValue } }
    }

    /// What is not answered, until it is nil again.
    var hanging: Part? {
        get { state.withLock { $0.hanging } }
        set {
            let hung = state.withLock { state in
                state.hanging = newValue
                defer { if newValue == nil { state.hung = [] } }
                return newValue == nil ? state.hung : []
            }
            for continuation in hung { continuation.resume() }
        }
    }

    private func hang(_ part: Part) async {
        await withCheckedContinuation { continuation in
            let isHung = state.withLock { state in
                if state.hanging == part { state.hung.append(continuation) }
                return state.hanging == part
            }
            if !isHung { continuation.resume() }
        }
    }

    /// Whether writing fails.
    var isBroken: Bool {
        get { self[\.isBroken] }
        set { self[\.isBroken] = newValue }
    }

    /// Whether reading fails.
    var isUnreadable: Bool {
        get { self[\.isUnreadable] }
        set { self[\.isUnreadable] = newValue }
    }

    /// Whether it cannot lock at all.
    var isUnlockable: Bool {
        get { self[\.isUnlockable] }
        set { self[\.isUnlockable] = newValue }
    }

    /// Whether a person in another process wants the lock.
    var isWanted: Bool {
        get { self[\.isWanted] }
        set { self[\.isWanted] = newValue }
    }

    /// Whether a save is done, and its word is lost.
    var losesWord: Bool {
        get { self[\.losesWord] }
        set { self[\.losesWord] = newValue }
    }

    /// Whether somebody has a claim on the lock.
    var isClaimed: Bool { state.withLock { $0.claims.contains { $0.claim != nil } } }

    func claim(_ identity: String) async -> (any Sendable)? {
        await hang(.claim)
        let claim = Claim()
        state.withLock { $0.claims.append(WeakClaim(claim: claim)) }
        return claim
    }

    /// Whether everybody who has the lock has lost it without knowing.
    var losesLeases: Bool {
        get { self[\.losesLeases] }
        set { self[\.losesLeases] = newValue }
    }

    /// Somebody takes the session away, and its watchers notice.
    func lose(_ identity: String = "default") {
        let watchers = state.withLock { state in
            state.sessions[identity] = nil
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    /// The session kept in case the newest is damaged.
    private(set) var previous: StoredSession? {
        get { state.withLock { $0.previous } }
        set { state.withLock { $0.previous = newValue } }
    }

    /// Whether somebody else keeps the lock.
    var isBusy: Bool {
        get { state.withLock { $0.isBusy } }
        set { state.withLock { $0.isBusy = newValue } }
    }

    /// The generation whose refresh token somebody has sent without an answer.
    var spent: Int? {
        get { state.withLock { $0.spent } }
        set { state.withLock { $0.spent = newValue } }
    }

    func stored(_ identity: String = "default") -> StoredSession? { state.withLock { $0.sessions[identity] } }

    /// Another process stores `session`, and its watchers notice.
    func replace(with session: StoredSession, notifying: Bool = true) {
        let watchers = state.withLock { state in
            state.sessions[session.identity] = session
            return state.watchers
        }
        if notifying { for watcher in watchers { watcher.yield() } }
    }

    func load(_ identity: String) async throws(StoreError) -> StoredSession? {
        await hang(.load)
        if isUnreadable { throw .unavailable("no reading") }
        return stored(identity)
    }

    func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        await hang(.lock)
        if isBusy { throw .busy(by: "process 7") }
        if isUnlockable { throw .unavailable("no locks") }
        await lock()
        return Lease(store: self, spentBefore: spent)
    }

    private func release() {
        state.withLock { state in
            if !state.leavesSpent { state.spent = nil }
            state.leavesSpent = false
        }
        unlock()
    }

    /// Returns when somebody else, in the test's hand, has the lock.
    func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isLocked { state.waiting.append(continuation) }
                defer { state.isLocked = true }
                return !state.isLocked
            }
            if isFree { continuation.resume() }
        }
    }

    /// Whoever has the lock gives it up.
    func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isLocked = false
            return nil
        }
        next?.resume()
    }

    func changes(of identity: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.watchers.append(continuation) }
        return stream
    }

    private func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
    ) throws(StoreError) {
        guard !losesLeases else { throw .leaseLost }
        guard !isBroken else { throw .unavailable("no space") }
        try session.checkReplacing(stored(session.identity), read: read)
        if keepsPrevious || previous == nil { previous = stored(session.identity) }
        let token = session.refreshToken.map { $0.withPlaintext { " \($0)" } } ?? ""
        state.withLock { $0.sessions[session.identity] = session }
        journal.append("saved \(session.generation)\(token)")
        if losesWord { throw .unavailable("the word of it was lost") }
    }

    private struct Lease: StoreLease {
        let store: FakeStore
        let spentBefore: Int?

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) async throws(StoreError) {
            await store.hang(.save)
            try store.save(session, over: read, keepingPrevious: keepsPrevious)
        }

        func spend(_ session: StoredSession) async throws(StoreError) {
            if store.losesLeases { throw .leaseLost }
            store.state.withLock { state in
                state.isFoundSpent = state.spent == session.generation
                state.spent = session.generation
                state.leavesSpent = false
            }
        }

        var isHeld: Bool { !store.losesLeases }

        var mayBeSpent: Bool { store.state.withLock { $0.isFoundSpent } }

        func wasLeftSpent(_ session: StoredSession) async -> Bool { spentBefore == session.generation }

        func isClaimed() async -> Bool { store.isWanted }

        func leaveSpent() { store.state.withLock { $0.leavesSpent = true } }

        func release() async {
            await store.hang(.release)
            store.release()
        }
    }
}
