// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// Returns the result of `work`; nil if that takes longer than `limit`.
    ///
    /// It serves for work that cannot be cancelled, such as reading from a failed disk: the work then goes
    /// on, and its result is dropped.
    ///
    /// - Parameter work: begins on the loop and must leave it before it blocks.
    package func value<Value: Sendable>(
        within limit: Duration, of work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (values, told) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingOldest(1))
        _ = Task(executorPreference: self) {
            told.yield(await work())
            told.finish()
        }
        let sleep = LoopSleep()
        let end = ContinuousClock.now + limit
        _ = Task(executorPreference: self) {
            await sleep.sleep(until: end, on: self)
            told.finish()
        }
        var value: Value?
        for await result in values { value = result }
        execute { sleep.end() }
        return value
    }
}
