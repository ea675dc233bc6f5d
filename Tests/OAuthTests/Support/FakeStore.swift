// SPDX-License-Identifier: Apache-2.0

import Crypto
import Synchronization

@testable import OAuth

/// A store in memory that can fail, and tells when it is used.
final class FakeStore: SessionStore {
    private struct State {
        var sessions: [String: StoredSession] = [:]
        var watchers: [AsyncStream<Void>.Continuation] = []
        var isBroken = false
        var isBusy = false
        var isUnreadable = false
        var isUnlockable = false
        var previous: StoredSession?
        var isLocked = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    /// Whether writing fails.
    var isBroken: Bool {
        get { state.withLock { $0.isBroken } }
        set { state.withLock { $0.isBroken = newValue } }
    }

    /// Whether reading fails.
    var isUnreadable: Bool {
        get { state.withLock { $0.isUnreadable } }
        set { state.withLock { $0.isUnreadable = newValue } }
    }

    /// Whether it cannot lock at all.
    var isUnlockable: Bool {
        get { state.withLock { $0.isUnlockable } }
        set { state.withLock { $0.isUnlockable = newValue } }
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
        if isUnreadable { throw .unavailable("no reading") }
        return stored(identity)
    }

    func save(
        _ session: StoredSession, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError) {
        guard !isBroken else { throw .unavailable("no space") }
        if keepsPrevious || previous == nil { previous = stored(session.identity) }
        let token = session.refreshToken.map { $0.withPlaintext { " \($0)" } } ?? ""
        state.withLock { $0.sessions[session.identity] = session }
        journal.append("saved \(session.generation)\(token)")
    }

    func remove(_ identity: String) async throws(StoreError) {
        state.withLock { $0.sessions[identity] = nil }
    }

    func lock(_ identity: String, waitingAtMost limit: Duration) async throws(StoreError) -> any StoreLock {
        if isBusy { throw .busy(by: "process 7") }
        if isUnlockable { throw .unavailable("no locks") }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isLocked { state.waiting.append(continuation) }
                defer { state.isLocked = true }
                return !state.isLocked
            }
            if isFree { continuation.resume() }
        }
        return Lock(store: self)
    }

    func changes(of identity: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.watchers.append(continuation) }
        return stream
    }

    private func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isLocked = false
            return nil
        }
        next?.resume()
    }

    private struct Lock: StoreLock {
        let store: FakeStore
        func release() async { store.unlock() }
    }
}
