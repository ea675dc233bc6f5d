// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One task that waits for a value, woken exactly once: by whoever has the value, or by its own cancellation.
///
/// It knows of no time: whoever limits the wait wakes it.
final class OneTimeWaiter<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, TokenError>

    private enum Progress {
        case unasked
        case waiting(CheckedContinuation<Outcome, Never>)
        case woken(Outcome)
    }

    private let progress = Mutex<Progress>(.unasked)

    /// True if it needs no waking any more.
    var isWoken: Bool {
        progress.withLock {
            switch $0 {
            case .unasked, .waiting: false
            case .woken: true
            }
        }
    }

    /// Ends the wait; only the first call counts.
    func wake(with outcome: Outcome) {
        let continuation = progress.withLock { progress -> CheckedContinuation<Outcome, Never>? in
            switch progress {
            case .unasked:
                progress = .woken(outcome)
                return nil
            case .waiting(let continuation):
                progress = .woken(outcome)
                return continuation
            case .woken:
                return nil
            }
        }
        continuation?.resume(returning: outcome)
    }

    /// Waits until woken; a task waits once.
    ///
    /// - Throws: what it was woken with, ``TokenError/cancelled`` if its task is cancelled.
    ///
    /// The closure below belongs to the caller's actor because it names it: else it would run on the global pool.
    func value(isolation: isolated (any Actor)? = #isolation) async throws(TokenError) -> Value {
        let outcome = await withTaskCancellationHandler {
            _ = isolation
            return await withCheckedContinuation { continuation in
                let early = progress.withLock { progress -> Outcome? in
                    if case .woken(let outcome) = progress { return outcome }
                    progress = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            wake(with: .failure(.cancelled))
        }
        return try outcome.get()
    }
}
