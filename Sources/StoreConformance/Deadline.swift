// SPDX-License-Identifier: Apache-2.0

/// Ends the wait for a store that never returns.
struct Deadline {
    private let limit: Duration

    init(_ limit: Duration) {
        self.limit = limit
    }

    /// What `work` brings, or nil if it takes longer and may go on, cancelled.
    func race<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let (values, continuation) = AsyncStream.makeStream(of: Value?.self)
        let worker = Task {
            continuation.yield(await work())
        }
        let clock = Task { [limit] in
            guard (try? await ContinuousClock().sleep(for: limit)) != nil else { return }
            continuation.yield(nil)
        }
        defer {
            worker.cancel()
            clock.cancel()
        }
        for await value in values { return value }
        return nil
    }
}
