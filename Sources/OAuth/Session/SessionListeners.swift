// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Those who read what happens to a session.
final class SessionListeners: Sendable {
    private struct State {
        var nextID = 0
        var isOver = false
        var continuations: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func add(_ continuation: AsyncStream<SessionEvent>.Continuation) {
        let id = state.withLock { state -> Int? in
            guard !state.isOver else { return nil }
            state.nextID += 1
            state.continuations[state.nextID] = continuation
            return state.nextID
        }
        guard let id else { return continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.continuations[id] = nil }
        }
    }

    func tell(_ event: SessionEvent) {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }

    /// Nothing happens any more.
    func finish() {
        let all = state.withLock { state in
            state.isOver = true
            return Array(state.continuations.values)
        }
        for continuation in all { continuation.finish() }
    }
}
