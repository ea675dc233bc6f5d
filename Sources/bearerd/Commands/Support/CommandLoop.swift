// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Synchronization

/// The event loop of one command.
enum CommandLoop {
    /// Runs the asynchronous part of a command on this thread until it is done.
    ///
    /// - Parameter body: gets the loop on which it runs.
    /// - Returns: the result of `body`.
    /// - Throws: the failure of `body`.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable (EventLoop) async throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value {
        let loop: EventLoop
        do {
            EventLoop.hearMessages { _ in }  // a command tells in words of its own what fails
            loop = try EventLoop(name: "command")
        } catch {
            throw CommandFailure(error)
        }
        loop.takeStrayJobs()
        let outcome = Mutex<Result<Value, CommandFailure>?>(nil)
        Task(executorPreference: loop) {
            do throws(CommandFailure) {
                let value = try await body(loop)
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { [error] in $0 = .failure(error) }
            }
            loop.stop()
        }
        loop.run()
        guard let result = outcome.withLock({ $0 }) else {
            throw CommandFailure(.failure, "interrupted")
        }
        return try result.get()
    }
}
