// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Synchronization

/// Waits for a number of ends, or for a time limit, whichever comes first.
final class TimedCount: Sendable {
    private struct State {
        var finished = 0
        var awaited = Int.max
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    /// Counts one end.
    func finishedOne() {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            state.finished += 1
            guard state.finished >= state.awaited else { return nil }
            return state.continuation.take()
        }
        continuation?.resume(returning: true)
    }

    /// Waits for `count` ends, at most for `limit`.
    ///
    /// - Returns: whether all came in time.
    func wait(for count: Int, atMost limit: Duration, on loop: EventLoop) async -> Bool {
        let timer = LoopSleep()
        defer { loop.execute { timer.end() } }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.awaited = count
                guard state.finished < count else { return true }
                state.continuation = continuation
                return false
            }
            if isOver { return continuation.resume(returning: true) }
            Task(executorPreference: loop) { [self] in
                await timer.sleep(until: .now + limit, on: loop)
                state.withLock { $0.continuation.take() }?.resume(returning: false)
            }
        }
    }
}
