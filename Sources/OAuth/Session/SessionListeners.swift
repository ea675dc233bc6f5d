// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The open streams of a session's events or states.
final class SessionListeners<Element: Sendable>: Sendable {
    private struct State {
        var nextID = 0
        var isOver = false
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
    }

    private let state = Mutex(State())

    deinit { finish() }

    /// The values that are told from now on.
    ///
    /// - Parameter most: how much is kept for a slow reader, the newest of it.
    func stream(keeping most: Int) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(most))
        add(continuation)
        return stream
    }

    private func add(_ continuation: AsyncStream<Element>.Continuation) {
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

    func tell(_ element: Element) {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield(element) }
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
