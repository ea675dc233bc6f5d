// SPDX-License-Identifier: Apache-2.0

extension EventLoop {
    /// What `work` comes to; nil where that takes longer than `limit`.
    ///
    /// For what cannot be cancelled, such as reading from a disk that may be gone: it goes on then, and nobody hears of it.
    ///
    /// - Parameter work: begins on the loop, and leaves it for what blocks.
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
