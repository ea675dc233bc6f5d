// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

struct `Sessions on one store` {
    @Test func `adopt what another process stored instead of refreshing`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            await harness.pass(.seconds(230))
            harness.store.replace(
                with: harness.stored(7, accessToken: "theirs", refreshToken: "rt9"), notifying: false)
            await harness.pass(.seconds(10))
            #expect(harness.token == "theirs")
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `use what another process stored as soon as they are told`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.replace(with: harness.stored(7, accessToken: "theirs", refreshToken: "rt9"))
            while harness.token != "theirs" { await harness.settle() }
            #expect(harness.journal.entries.last == "adopted 7")
        }
    }

    @Test func `come back to life when somebody logs in`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
        try await harness.run("dead") {
            #expect(await harness.session.status.state == .loginRequired)
            harness.store.replace(with: harness.stored(7, refreshToken: "fresh"))
            while harness.token != "at1" { await harness.settle() }
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `never refresh at the same time, and never with a spent token`() async throws {
        let first = SessionHarness(grantType: .refreshToken)
        try await first.run("rt0") {
            let second = SessionHarness(grantType: .refreshToken, sharing: first)
            try await second.run {
                for _ in 0..<20 {
                    first.clock.advance(by: .seconds(240))
                    for _ in 0..<5 {
                        await first.settle()
                        await second.settle()
                    }
                    #expect(first.token == second.token)
                }
            }
        }
        #expect(first.server.mostInFlight == 1)
        #expect(
            Set(first.server.bodies).count == first.server.bodies.count, "each refresh token is sent once")
        #expect(first.server.bodies.count == 21)
    }

    @Test func `try again later when another one keeps the lock`() async throws {
        let harness = SessionHarness()
        harness.store.isBusy = true
        try await harness.run {
            #expect(harness.server.bodies.isEmpty)
            #expect(await harness.session.status.lastError?.code == "store_busy")
            harness.store.isBusy = false
            await harness.pass(.seconds(1))
            #expect(harness.token == "at1")
            #expect(await harness.session.status.lastError == nil)
        }
    }

    @Test func `adopt what comes while they wait for the lock, and ask no more`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            await harness.store.lock()
            await harness.pass(.seconds(240))
            harness.store.replace(with: harness.stored(9, accessToken: "theirs", refreshToken: "rt9"))
            await harness.settle()
            #expect(harness.token == "theirs", "the lock is still theirs")
            harness.store.unlock()
            await harness.settle()
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `send no refresh token once they have lost the lock`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.losesLeases = true
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.count == 1)
            #expect(await harness.session.status.lastError?.code == "store_unavailable")
            #expect(harness.token == "at1", "it has not expired")
            harness.store.losesLeases = false
            await harness.pass(.seconds(5))
            #expect(harness.server.bodies.count == 2)
            #expect(harness.token == "at2")
            #expect(await harness.session.status.lastError == nil)
        }
    }

    @Test func `repeat no request with a refresh token once they have lost the lock`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) { $0.authentication = .basic }
        harness.secret.set("a+b")
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            let generation = try #require(harness.store.stored()?.generation)
            let others = harness.stored(generation + 1, accessToken: "theirs", refreshToken: "rt9")
            harness.store.replace(with: others, notifying: false)
            harness.store.losesLeases = true
            let count = harness.server.bodies.count
            harness.server.release(with: .status(401, #"{"error":"invalid_client"}"#))
            await harness.settle()
            #expect(harness.server.bodies.count == count, "it would be asked again with the other encoding")
            harness.store.losesLeases = false
            await harness.pass(.seconds(5))
            #expect(harness.token == "theirs" && harness.server.bodies.count == count)
            #expect(await harness.session.status.lastError == nil)
        }
    }

    @Test func `use what another one stored in their place while they stood still, from then on`()
        async throws
    {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            let generation = try #require(harness.store.stored()?.generation)
            harness.store.replace(
                with: harness.stored(generation + 1, accessToken: "theirs", refreshToken: "rt9"),
                notifying: false)
            harness.store.losesLeases = true
            harness.server.release()
            await harness.settle()
            #expect(harness.token == "theirs")
            harness.store.losesLeases = false
            await harness.pass(.seconds(10))
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt9".utf8)) == true)
        }
    }

    @Test func `keep what they got without the lock in memory, and store it when they have it again`()
        async throws
    {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            harness.store.losesLeases = true
            harness.server.release()
            await harness.settle()
            #expect(harness.token == "at2")
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
            await harness.pass(.seconds(5))
            #expect(harness.journal.entries.contains("save failed"))
            harness.store.losesLeases = false
            await harness.pass(.seconds(5))
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt2".utf8)) == true)
        }
    }

    @Test(arguments: [true, false])
    func `give way to a newer session that was stored in spite of the lock`(notifying: Bool) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            harness.store.replace(
                with: harness.stored(9, accessToken: "theirs", refreshToken: "rt9"), notifying: notifying)
            harness.server.release()
            await harness.settle()
            #expect(harness.store.stored()?.generation == 9)
            await harness.pass(.seconds(5))
            #expect(harness.token == "theirs")
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt9".utf8)) == true)
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.last?.contains("refresh_token=rt9") == true)
        }
    }
}
