// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// Runs `body` as a task of the caller's actor that never leaves the loop.
    ///
    /// Being on the actor does not suffice: a continuation that the loop resumes may go through the global
    /// pool unless the task itself prefers the loop. A function that is not async has no actor to pass.
    package func startTask<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping () async -> Value
    ) -> Task<Value, Never> {
        Task {
            _ = isolation  // a closure has the isolation that it captures
            return await withTaskExecutorPreference(self) {
                _ = isolation
                return await body()
            }
        }
    }
}
