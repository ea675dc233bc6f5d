// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// Runs `body` as a task of the caller's actor that never leaves the loop.
    ///
    /// Being on the actor does not suffice: a continuation that the loop resumes may go through the global
    /// pool unless the task itself prefers the loop. A function that is not async has no actor to pass, and neither has a
    /// task that one began: theirs prefers the loop from its first step on, or that step would be the control loop's and
    /// share a connection with this thread.
    package func startTask<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping () async -> Value
    ) -> Task<Value, Never> {
        guard isolation != nil else {
            let confined = ConfinedBody(run: body)
            return Task(executorPreference: self) { await confined.run() }
        }
        return Task {
            _ = isolation  // a closure has the isolation that it captures
            return await withTaskExecutorPreference(self) {
                _ = isolation
                return await body()
            }
        }
    }
}

/// The body of a task without an actor.
///
/// `@unchecked Sendable`: it is called once, on the thread of the loop that made it, which only leaves it to its queue.
private struct ConfinedBody<Value: Sendable>: @unchecked Sendable {
    let run: () async -> Value
}
