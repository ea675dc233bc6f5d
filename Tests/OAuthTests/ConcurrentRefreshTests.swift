// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// Refreshes that are asked for at once, and say something.
struct `Refreshes that are asked for at once` {
    private func asked(_ harness: SessionHarness) -> [String] {
        harness.server.bodies.compactMap { body in
            ["tenant=blue", "tenant=red"].first(where: body.contains)
        }.sorted()
    }

    private func refresh(_ session: AuthSession, _ tenant: String) async throws {
        try await session.refresh(waitingAtMost: .seconds(9), adding: [NamedValue("tenant", tenant)])
    }

    @Test func `of one session are each made`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            async let blue: Void = refresh(harness.session, "blue")
            async let red: Void = refresh(harness.session, "red")
            await harness.settle()
            harness.server.release()
            _ = try await (blue, red)
            #expect(asked(harness) == ["tenant=blue", "tenant=red"])
            #expect(harness.server.bodies.count == 3)
        }
    }

    @Test func `of two sessions of a client are each made`() async throws {
        let family = SessionFamily()
        let first = SessionHarness(grantType: .refreshToken, family: family)
        let second = SessionHarness(grantType: .refreshToken, sharing: first, family: family)
        try await first.run("rt0") {
            try await second.run {
                first.server.script(.held)
                async let blue: Void = refresh(first.session, "blue")
                await first.settle()
                async let red: Void = refresh(second.session, "red")
                await second.settle()
                first.server.release()
                _ = try await (blue, red)
                #expect(asked(first) == ["tenant=blue", "tenant=red"])
                #expect(first.server.mostInFlight == 1)
            }
        }
    }

    @Test func `of which one says nothing bring it no other one's scope`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            async let narrow: Void = harness.session.refresh(waitingAtMost: .seconds(9), scope: ["read"])
            await harness.settle()
            async let plain: Void = harness.session.refresh(waitingAtMost: .seconds(9))
            await harness.settle()
            harness.server.release()
            _ = try await (narrow, plain)
            #expect(harness.server.bodies.map { $0.contains("scope=read") } == [false, true, false])
        }
    }

    @Test func `and say nothing are one`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            async let first: Void = harness.session.refresh()
            await harness.settle()
            async let second: Void = harness.session.refresh()
            await harness.settle()
            harness.server.release()
            _ = try await (first, second)
            #expect(harness.server.bodies.count == 2)
        }
    }

    @Test func `are told of it where one of them fails`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held, .status(400, #"{"error":"invalid_scope"}"#))
            async let blue: Void = refresh(harness.session, "blue")
            await harness.settle()
            let red = Task { try await refresh(harness.session, "red") }
            await harness.settle()
            harness.server.release()
            try await blue
            let outcome = await red.result
            #expect(throws: TokenError.self) { try outcome.get() }
            #expect(asked(harness) == ["tenant=blue", "tenant=red"])
        }
    }
}
