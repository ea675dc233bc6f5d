// SPDX-License-Identifier: Apache-2.0

/// An executor for tasks whose calls block, with timers.
package protocol DelayingExecutor: TaskExecutor {
    /// Runs `action` after at least `delay`, or never if the executor was stopped before.
    func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void)
}

extension DelayingExecutor {
    /// Suspends the caller for at least `delay` without blocking a thread; ignores cancellation, so keep it short.
    package func sleep(for delay: Duration) async {
        await withCheckedContinuation { continuation in
            after(delay) { continuation.resume() }
        }
    }
}
