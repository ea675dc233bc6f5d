// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Testing

@testable import OAuth

/// What another process would read of a store that could not take a rotated refresh token.
struct `A refresh token that was spent and could not be replaced in the store` {
    private func newest(_ harness: SessionHarness) -> String? {
        harness.store.stored()?.refreshToken?.withPlaintext { $0 }
    }

    @Test func `is kept from other processes until its successor is written`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            await harness.pass(.seconds(240))
            #expect(harness.token == "at2" && newest(harness) == "rt1")
            let other = Task { () -> String? in
                await harness.store.lock()
                defer { harness.store.unlock() }
                return newest(harness)
            }
            // The session goes on rotating meanwhile.
            for _ in 0..<3 { await harness.pass(.seconds(240)) }
            #expect(harness.server.bodies.count == 5 && Set(harness.server.bodies).count == 5)
            harness.store.isBroken = false
            await harness.pass(.seconds(5))
            #expect(await other.value == "rt5")
        }
    }

    @Test func `is kept by all sessions of the identity together`() async throws {
        let own = SessionHarness(grantType: .refreshToken)
        try await own.run("rt0") {
            let route = SessionHarness(grantType: .refreshToken, sharing: own, family: own.session.family) {
                $0 = $0.aimed(at: TokenTarget(scope: ["api.read"]))
            }
            try await route.run {
                for _ in 0..<3 {
                    await own.settle()
                    await route.settle()
                }
                own.store.isBroken = true
                own.clock.advance(by: .seconds(240))
                for _ in 0..<5 {
                    await own.settle()
                    await route.settle()
                }
                let shown = own.server.bodies
                #expect(shown.count == 4 && Set(shown).count == 4)
                let other = Task { () -> String? in
                    await own.store.lock()
                    defer { own.store.unlock() }
                    return newest(own)
                }
                await own.settle()
                own.store.isBroken = false
                own.clock.advance(by: .seconds(5))
                for _ in 0..<5 {
                    await own.settle()
                    await route.settle()
                }
                #expect(await other.value == "rt4")
            }
        }
    }

    @Test func `is no longer kept when its holder has gone`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            await harness.pass(.seconds(240))
            let other = Task {
                await harness.store.lock()
                harness.store.unlock()
            }
            await harness.session.stop()
            await other.value
        }
    }

    @Test func `keeps no other process out where the provider did not replace it`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            harness.server.script(.status(200, #"{"access_token":"at","expires_in":300}"#))
            await harness.pass(.seconds(240))
            #expect(harness.token == "at")
            await harness.store.lock()
            harness.store.unlock()
        }
    }

    @Test func `gives way to a login`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            await harness.pass(.seconds(240))
            harness.store.isBroken = false
            let isTaken = try await harness.session.take(Secret("other"))
            #expect(isTaken)
            #expect(newest(harness) == "other")
            await harness.store.lock()
            harness.store.unlock()
        }
    }
}
