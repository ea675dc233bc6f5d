// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// The time of these tests is moved only once nothing is under way: else it would be moved before a request is held, and
/// the test would wait for ever.
struct `What a test of a session stands on` {
    @Test func `is that work which goes from thread to thread is waited for, however long`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            let isDone = Flag()
            Task {
                for _ in 0..<5000 {
                    _ = await harness.session.status
                    await Task { @concurrent in }.value
                }
                isDone.raise()
            }
            await harness.settle()
            #expect(isDone.isRaised)
        }
    }

    @Test func `is that work which stays on a thread is waited for, however long`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            let isDone = Flag()
            Task.detached {
                var generator = SeededGenerator(seed: 1)
                for _ in 0..<1_000_000 where generator.next() == 0 { return }
                isDone.raise()
            }
            await harness.settle()
            #expect(isDone.isRaised)
        }
    }

    @Test func `is that nobody is waited for who waits for the clock, or for an answer`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.held)
            let refreshing = Task { try await harness.session.refresh(waitingAtMost: .seconds(600)) }
            await harness.settle()
            #expect(harness.server.bodies.count == 2)
            harness.server.release()
            try await refreshing.value
        }
    }
}
