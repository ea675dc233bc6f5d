// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdTestSupport
import Glibc
import Testing

/// A loop on a thread of its own, and an actor on it that runs a test's body.
actor ClientLoop: LoopConfined {
    nonisolated let loop: EventLoop
    private nonisolated let thread: LoopThread
    private lazy var multis = CurlMultiSet(loop: loop)

    init(name: String = "client") throws {
        ProxyEnvironment.shared?.enter()
        try HTTPClientLibrary.initialize()
        loop = try EventLoop(name: name)
        thread = try loop.start()
    }

    /// Runs `body` on the loop's thread; it must not block.
    func run<Result: Sendable>(_ body: @Sendable (CurlMultiSet) async throws -> Result) async throws -> Result
    {
        try await body(multis)
    }

    /// Ends the thread; call it last, on another thread.
    nonisolated func stop() {
        loop.stop()
        thread.join()
    }
}

/// Runs `body` on a fresh loop, and ends the loop whatever happens.
func onLoop<Result: Sendable>(_ body: @Sendable (CurlMultiSet) async throws -> Result) async throws -> Result
{
    let client = try ClientLoop()
    defer { client.stop() }
    return try await client.run(body)
}

/// The error that `body` throws.
///
/// It stays on the loop, unlike the closure of `#expect(throws:)`.
func failure<Failure: Error>(of body: () async throws(Failure) -> Void) async -> Failure? {
    do throws(Failure) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// Turns the loop until `condition` holds.
func eventually(
    _ loop: EventLoop, _ what: String, _ condition: () -> Bool
) async throws {
    let deadline = ContinuousClock.now + patience
    while !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(what: what) }
        await loop.pause(for: .milliseconds(2))
    }
}

/// The error of ``eventually(_:_:_:)`` at its time limit.
struct NeverHappened: Error {
    let what: String
}
