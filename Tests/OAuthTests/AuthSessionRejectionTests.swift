// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

struct `A session whose token is refused` {
    private func reject(
        _ harness: SessionHarness, _ generation: Int, canReplay: Bool = true
    ) async -> String? {
        await harness.session.accessTokenRejected(
            TokenRejection(generation: generation, route: "/", canReplay: canReplay),
            waitingAtMost: .seconds(10)
        )?.token.withPlaintext { $0 }
    }

    @Test func `refreshes once for all who were refused, and lets them replay`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.held)
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<50 { group.addTask { await reject(harness, 1) } }
                await harness.settle()
                harness.server.release()
                for await token in group { #expect(token == "at2") }
            }
            #expect(harness.server.bodies.count == 2)
            #expect(await reject(harness, 1) == "at2", "a late one gets it as well")
            #expect(harness.server.bodies.count == 2)
        }
    }

    @Test func `lets the refusal through when the refresh fails`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.status(500))
            #expect(await reject(harness, 1) == nil)
            #expect(harness.token == "at1")
            #expect(harness.journal.entries.contains("401 /"))
            #expect(await harness.session.status.state == .authorizationError)
            await harness.pass(.milliseconds(200))
            #expect(harness.token == "at2")
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `names no next attempt once its provider has refused for good`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
        try await harness.run {
            harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
            #expect(await reject(harness, await harness.session.status.generation) == nil)
            let status = await harness.session.status
            #expect(status.state == .loginRequired && status.nextRequest == nil)
        }
    }

    @Test func `lets the refusal through when the provider hangs`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.held)
            let refused = Task { await reject(harness, 1) }
            await harness.settle()
            #expect(harness.token == "at1")
            let token = try await harness.request()
            #expect(token == "at1", "others are not held up")
            await harness.pass(.seconds(10))
            #expect(await refused.value == nil)
            harness.server.release()
        }
    }

    @Test func `makes the next request refresh when the refused one could not be replayed`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            #expect(await reject(harness, 1, canReplay: false) == nil)
            #expect(harness.token == nil && harness.server.bodies.count == 1)
            harness.server.script(.held)
            let first = Task { try await harness.request() }
            await harness.settle()
            #expect(harness.token == "at1")
            let other = try await harness.request()
            #expect(other == "at1", "that one need not wait")
            harness.server.release()
            let token = try await first.value
            #expect(token == "at2")
        }
    }

    @Test func `makes the next request wait two seconds at most`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            #expect(await reject(harness, 1, canReplay: false) == nil)
            harness.server.script(.held)
            let first = Task { try await harness.request() }
            await harness.settle()
            await harness.pass(.seconds(2))
            let token = try await first.value
            #expect(token == "at1")
            harness.server.release()
        }
    }

    @Test func `tells changes that undo each other once a second`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            _ = await reject(harness, 1)
            _ = await reject(harness, 2, canReplay: false)
            let before = harness.journal.entries.count
            for _ in 0..<50 {
                await harness.session.accessTokenAccepted(generation: 2, route: "/")
                _ = await reject(harness, 2, canReplay: false)
                await harness.pass(.milliseconds(100))
            }
            let told = harness.journal.entries.dropFirst(before)
            #expect(told.count <= 6, "\(told)")
            await harness.session.accessTokenAccepted(generation: 2, route: "/")
            await harness.pass(.seconds(1))
            #expect(harness.journal.entries.filter { $0.hasPrefix("state") }.last == "state authorized")
        }
    }

    @Test func `heals without traffic, ever more slowly`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            #expect(await reject(harness, 1) == "at2")
            #expect(await reject(harness, 2) == nil)
            #expect(harness.session.slot.isWatched)
            await harness.pass(.seconds(9))
            #expect(harness.token == "at2")
            await harness.pass(.seconds(1))
            #expect(harness.token == "at3")
            #expect(await reject(harness, 3) == nil)
            await harness.pass(.seconds(19))
            #expect(harness.token == "at3")
            await harness.pass(.seconds(1))
            #expect(harness.token == "at4")
            await harness.session.accessTokenAccepted(generation: 4, route: "/")
            #expect(!harness.session.slot.isWatched)
            #expect(await reject(harness, 4) == nil, "the route has to wait")
            await harness.pass(.seconds(40))
            #expect(harness.token == "at5")
        }
    }
}
