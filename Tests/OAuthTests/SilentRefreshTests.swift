// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A session whose provider leaves a rotating refresh token unanswered.
struct `A session whose provider hangs` {
    private static let late = FakeServer.Reply.status(
        200, #"{"access_token":"at-late","expires_in":3000,"refresh_token":"rt-late"}"#)
    private static let refusal = FakeServer.Reply.status(400, #"{"error":"invalid_grant"}"#)

    /// Runs `body` while a refresh is held that was to replace `rt1`.
    private func runHeld(
        _ harness: SessionHarness = SessionHarness(grantType: .refreshToken), isFrozen: Bool = true,
        _ body: (SessionHarness) async throws -> Void
    ) async throws {
        try await harness.run("rt0") {
            harness.server.isFrozen = isFrozen
            harness.server.script(.held, .held)
            await harness.pass(.seconds(240))
            #expect(shown(harness, "rt1") == 1)
            try await body(harness)
        }
    }

    private func shown(_ harness: SessionHarness, _ token: String) -> Int {
        harness.server.bodies.count { $0.contains("refresh_token=\(token)&") }
    }

    private func stored(_ harness: SessionHarness) -> String? {
        harness.store.stored()?.refreshToken?.withPlaintext { $0 }
    }

    /// Lets time pass in steps that no timer notices as one, once what was begun before has begun.
    private func pass(_ seconds: Int, _ harness: SessionHarness) async {
        await harness.settle()
        let step = seconds > 60 ? 10 : 1
        for _ in 0..<(seconds / step) { await harness.pass(.seconds(step)) }
    }

    @Test func `sends the token once, however long that takes, and takes the answer when it comes`()
        async throws
    {
        try await runHeld { harness in
            await pass(140, harness)
            #expect(shown(harness, "rt1") == 1 && harness.server.urls.count == 3, "one question at a time")
            #expect(await harness.session.status.state == .unavailable)
            #expect(await harness.session.status.lastError?.code == "timed_out")
            #expect(harness.journal.entries.count { $0 == "unanswered" } == 1)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "at-late" && stored(harness) == "rt-late")
            #expect(await harness.session.status.lastError == nil && harness.store.spent == nil)
            #expect(harness.journal.entries.filter { $0.hasPrefix("refresh_token") }.count == 2)
            harness.server.release(with: .status(404))
            await harness.settle()
            #expect(shown(harness, "rt1") == 1)
        }
    }

    @Test func `lets nobody wait longer than for others`() async throws {
        try await runHeld { harness in
            let refreshing = Task { try await harness.session.refresh(waitingAtMost: .seconds(15)) }
            await pass(10, harness)
            await #expect(throws: TokenError.self) { try await refreshing.value }
            #expect(harness.token == "at1", "the old one is good for some time")
            let taker = Task { try await harness.session.renewedToken(waitingAtMost: .seconds(10)) }
            _ = try await taker.value
            await pass(60, harness)
            let request = Task { try await harness.request() }
            await pass(10, harness)
            await #expect(throws: TokenError.unavailable(retryAfter: .seconds(1))) { try await request.value }
            #expect(shown(harness, "rt1") == 1)
            harness.server.release(with: Self.late)
            await harness.settle()
        }
    }

    @Test func `sends the token once more where the provider answers all but this, and takes either answer`()
        async throws
    {
        for isFirst in [true, false] {
            try await runHeld(isFrozen: false) { harness in
                await pass(14, harness)
                #expect(shown(harness, "rt1") == 1)
                await pass(2, harness)
                #expect(shown(harness, "rt1") == 2)
                await pass(300, harness)
                #expect(shown(harness, "rt1") == 2, "and no third time")
                if isFirst {
                    harness.server.release(with: Self.late)
                } else {
                    harness.server.release(with: .error(.interrupted("reset")))
                    await harness.settle()
                    #expect(shown(harness, "rt1") == 2)
                    harness.server.release(with: Self.late)
                }
                await harness.settle()
                #expect(harness.token == "at-late" && stored(harness) == "rt-late")
                harness.server.release(with: Self.refusal)
                await harness.settle()
                #expect(harness.token == "at-late" && stored(harness) == "rt-late")
            }
        }
    }

    @Test func `counts the time for an answer from when the connection stands`() async throws {
        try await runHeld(isFrozen: false) { harness in
            await pass(8, harness)
            #expect(harness.server.posts.last?.maySend?() == true)
            await pass(14, harness)
            #expect(shown(harness, "rt1") == 1)
            await pass(2, harness)
            #expect(shown(harness, "rt1") == 2)
            harness.server.release(with: Self.late)
            await harness.settle()
        }
    }

    @Test func `takes a late answer after another one's refusal`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held, Self.refusal)
            await harness.pass(.seconds(240))
            await pass(31, harness)
            await pass(70, harness)
            #expect(shown(harness, "rt1") == 2)
            #expect(await harness.session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) { try await harness.request() }
            #expect(harness.store.stored()?.refusal == nil)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "at-late" && stored(harness) == "rt-late")
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `believes a refusal when no other answer can come`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held, Self.refusal)
            await harness.pass(.seconds(240))
            await pass(30, harness)
            harness.server.release(with: .error(.timedOut))
            await harness.settle()
            #expect(harness.store.stored()?.refusal == .invalidGrant)
        }
    }

    @Test func `asks before it sends the token again where the connection has died`() async throws {
        try await runHeld { harness in
            harness.server.release(with: .error(.interrupted("reset")))
            await harness.settle()
            #expect(shown(harness, "rt1") == 1)
            // The question is answered by nobody.
            harness.server.release(with: .error(.timedOut))
            await harness.settle()
            #expect(shown(harness, "rt1") == 1 && harness.store.spent == harness.store.stored()?.generation)
            await pass(2, harness)
            harness.server.release(with: .status(502))
            await harness.settle()
            #expect(shown(harness, "rt1") == 1, "a gateway is not the provider")
            harness.server.isFrozen = false
            await pass(8, harness)
            #expect(shown(harness, "rt1") == 2)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "at-late" && harness.store.spent == nil)
            #expect(!harness.journal.entries.contains { $0.hasPrefix("may be spent") }, "it was its own")
        }
    }

    @Test(arguments: [502, 504, 524])
    func `takes no gateway's word for the provider's, and sends the token when that is there again`(
        status: Int
    ) async throws {
        try await runHeld { harness in
            harness.server.release(with: .status(status, "<html>"))
            for _ in 0..<3 {
                // Each time a question alone, which the gateway answers, too.
                harness.server.release(with: .status(status))
                await pass(10, harness)
                #expect(shown(harness, "rt1") == 1)
            }
            #expect(await harness.session.status.state != .loginRequired)
            harness.server.isFrozen = false
            harness.server.release(with: .status(404))
            await pass(4, harness)
            #expect(shown(harness, "rt1") == 1, "what waits in the provider's sockets comes first")
            for _ in 0..<40 where shown(harness, "rt1") == 1 { await pass(1, harness) }
            #expect(shown(harness, "rt1") == 2)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "at-late" && stored(harness) == "rt-late")
        }
    }

    @Test func `asks first, and says it once, where somebody else has sent the token`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.isFrozen = true
        harness.store.spent = 1
        try await harness.run("rt0") {
            for _ in 0..<3 {
                harness.server.release(with: .error(.timedOut))
                await pass(2, harness)
            }
            #expect(harness.server.bodies.isEmpty)
            #expect(harness.journal.entries.filter { $0 == "may be spent 1" }.count == 1)
            harness.server.isFrozen = false
            harness.server.release(with: .status(404))
            await pass(7, harness)
            #expect(shown(harness, "rt0") == 1 && harness.token == "at1" && harness.store.spent == nil)
        }
    }

    @Test func `makes room for a person in another process, and waits on`() async throws {
        try await runHeld { harness in
            await pass(20, harness)
            harness.store.isWanted = true
            await pass(1, harness)
            // Nothing came of it.
            await harness.store.lock()
            harness.store.isWanted = false
            harness.store.unlock()
            await pass(5, harness)
            #expect(shown(harness, "rt1") == 1)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "at-late" && stored(harness) == "rt-late")
        }
    }

    @Test func `lets go of it where another process has stored a session`() async throws {
        try await runHeld { harness in
            await pass(20, harness)
            harness.store.isWanted = true
            await pass(1, harness)
            await harness.store.lock()
            harness.store.replace(with: harness.stored(9, accessToken: "theirs", refreshToken: "rt9"))
            harness.store.isWanted = false
            harness.store.unlock()
            await pass(5, harness)
            #expect(harness.token == "theirs")
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(harness.token == "theirs" && stored(harness) == "rt9")
        }
    }

    @Test func `writes what is in memory alone meanwhile`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            try await harness.session.refresh(waitingAtMost: .seconds(1))
            #expect(stored(harness) == "rt1")
            harness.server.isFrozen = true
            harness.server.script(.held)
            try? await harness.session.refresh(waitingAtMost: .zero)
            await pass(12, harness)
            harness.store.isBroken = false
            await pass(6, harness)
            #expect(stored(harness) == "rt2" && shown(harness, "rt2") == 1)
            harness.server.release(with: Self.late)
            await harness.settle()
            #expect(stored(harness) == "rt-late")
        }
    }
}
