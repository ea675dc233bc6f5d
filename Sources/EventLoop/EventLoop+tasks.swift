// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// Runs `body` as a task of the caller's actor that never leaves the loop.
    ///
    /// A continuation may be resumed outside the actor, and comes back to it. On the way it passes where Swift runs jobs
    /// without an executor: the thread that resumed it, where loops take those (``takeStrayJobs()``). Elsewhere that is
    /// Swift's pool of threads, which the task avoids by preferring the loop. To prefer it where it is not needed costs a
    /// request 1,600 instructions.
    ///
    /// A function that is not async has no actor to pass, and neither has a task that one began: theirs prefers the loop
    /// from its first step on, or that step could be another thread's and share a connection with this one.
    package func startTask<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping () async -> Value
    ) -> Task<Value, Never> {
        guard isolation != nil else {
            let confined = ConfinedBody(run: body)
            return Task(executorPreference: self) { await confined.run() }
        }
        guard !Self.takesStrayJobs else {
            return Task {
                _ = isolation  // a closure has the isolation that it captures
                return await body()
            }
        }
        return Task {
            _ = isolation
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
