// SPDX-License-Identifier: Apache-2.0

/// A time limit for a store that may never return.
struct Deadline {
    /// Clocks count no centuries.
    private static let longest: Duration = .seconds(24 * 3600)

    private let limit: Duration

    init(_ limit: Duration) {
        self.limit = min(limit, Self.longest)
    }

    /// Returns the result of `work`, or nil after the limit; `work` is then cancelled.
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
