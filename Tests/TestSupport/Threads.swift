// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// Runs `body` on a thread of its own.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, context)
    pthread_detach(thread)
}

/// Runs the bodies at once, each on its own thread, and waits for all of them; throws the first failure.
package func concurrently<Result: Sendable>(
    _ count: Int, within limit: Duration = patience, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Result] {
    let outcomes = Monitor([Swift.Result<Result, any Error>?](repeating: nil, count: count))
    for index in 0..<count {
        startThread {
            let outcome = Swift.Result { try body(index) }
            outcomes.withLock { $0[index] = outcome }
        }
    }
    return try outcomes.wait(for: "\(count) threads", within: limit) { outcomes in
        outcomes.contains { $0 == nil } ? nil : outcomes.compactMap(\.self)
    }.map { try $0.get() }
}

/// Work on a thread of its own whose outcome is awaited later.
package final class Background<Value: Sendable>: Sendable {
    private let outcome = Monitor<Result<Value, any Error>?>(nil)

    package init(_ body: @escaping @Sendable () throws -> Value) {
        startThread { [outcome] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
        }
    }

    /// True once the work has ended.
    package var isFinished: Bool { outcome.withLock { $0 != nil } }

    /// Waits for the end of the work and returns its value, or throws its error.
    package func value(within limit: Duration = patience) throws -> Value {
        try outcome.wait(for: "work in the background", within: limit) { $0 }.get()
    }
}

/// A few threads on which tests that block may run, so that they don't starve Swift's own pool.
private final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads(count: 4)

    private let jobs = Monitor<[UnownedJob]>([])

    init(count: Int) {
        for _ in 0..<count { startThread { [unowned self] in run() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    private func run() {
        while true {
            let job = try? jobs.wait(for: "a job", within: .seconds(86_400)) { jobs in
                jobs.isEmpty ? nil : jobs.removeFirst()
            }
            job?.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Lets a suite's tests block their thread: they run on a few threads kept for that, so many at a time.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingThreads.shared) {
            try await function()
        }
    }
}

extension Trait where Self == BlockingTrait {
    /// For tests that talk to sockets and processes with blocking calls.
    package static var blocking: Self { BlockingTrait() }
}
