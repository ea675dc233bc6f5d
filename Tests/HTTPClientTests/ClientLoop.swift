// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPClient
import Testing

/// A loop on a thread of its own, and an actor on it that runs a test's body.
actor ClientLoop: LoopConfined {
    nonisolated let loop: EventLoop
    private nonisolated let thread: LoopThread
    private lazy var multis = CurlMultiSet(loop: loop)

    init(name: String = "client") throws {
        try HTTPClientLibrary.initialize()
        loop = try EventLoop(name: name)
        thread = loop.start()
    }

    /// Runs `body` on the loop's thread.
    func run<Result: Sendable>(_ body: @Sendable (CurlMultiSet) async throws -> Result) async throws -> Result
    {
        try await body(multis)
    }

    /// Ends the thread; call it last.
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
