// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// Runs `body` as a task of the caller's actor that never leaves the loop.
    ///
    /// Being on the actor is not enough: a continuation that is resumed by the loop may be queued on the global pool,
    /// and come back from there, unless the task itself prefers the loop. A function that is not async has no actor to
    /// give.
    package func startTask(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping () async -> Void
    ) -> Task<Void, Never> {
        Task {
            _ = isolation  // a closure has the isolation that it captures
            await withTaskExecutorPreference(self) {
                _ = isolation
                await body()
            }
        }
    }
}
