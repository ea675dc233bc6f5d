// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
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

    @Test func `is not taken for a newer one, however often its successor was replaced`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            for _ in 0..<12 { await harness.pass(.seconds(240)) }
            // Somebody touches the file.
            harness.store.replace(with: try #require(harness.store.stored()))
            await harness.settle()
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.count == 14 && Set(harness.server.bodies).count == 14)
            harness.store.isBroken = false
            await harness.pass(.seconds(5))
            #expect(newest(harness) == "rt14")
        }
    }

    @Test func `is kept by all sessions of the identity together`() async throws {
        let own = SessionHarness(grantType: .refreshToken)
        try await own.run("rt0") {
            let route = SessionHarness(grantType: .refreshToken, sharing: own, isBeside: true) {
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

    /// A session with other settings in the place of one whose refresh token could not be replaced in the store.
    private func succeed(
        _ old: SessionHarness, _ configure: (inout ClientConfiguration) -> Void,
        _ body: (_ new: SessionHarness, _ other: Task<String?, Never>) async throws -> Void
    ) async throws {
        try await old.run("rt0") {
            old.store.isBroken = true
            await old.pass(.seconds(240))
            #expect(old.token == "at2" && newest(old) == "rt1")
            let other = Task { () -> String? in
                await old.store.lock()
                defer { old.store.unlock() }
                return newest(old)
            }
            let new = SessionHarness(
                grantType: .refreshToken, sharing: old, family: old.session.core.family, configure)
            old.session.leaveFamily()
            await old.session.serveWaitersOnly()
            try await new.run { try await body(new, other) }
        }
    }

    @Test func `is kept and written by the session that takes the place of its holder`() async throws {
        let old = SessionHarness(grantType: .refreshToken)
        try await succeed(old) {
            $0.refreshMargin = .seconds(20)
        } _: { new, other in
            await old.session.retire()
            #expect(new.token == "at2" && new.server.bodies.count == 2)
            let isKept = await new.keepsLock
            #expect(newest(new) == "rt1" && isKept)
            for _ in 0..<3 { await new.pass(.seconds(5)) }
            old.store.isBroken = false
            await new.pass(.seconds(5))
            #expect(await other.value == "rt2")
            #expect(new.server.bodies.count == 2)
        }
    }

    @Test func `is sent by one session alone while another one takes it over`() async throws {
        let old = SessionHarness(grantType: .refreshToken)
        try await old.run("rt0") {
            let new = SessionHarness(
                grantType: .refreshToken, sharing: old, family: old.session.core.family
            ) { $0.refreshMargin = .seconds(20) }
            try await new.run {
                old.session.leaveFamily()
                await old.session.serveWaitersOnly()
                old.server.script(.held)
                Task { try? await old.session.refresh() }
                await old.settle()
                (old.store.isBroken, old.store.hanging) = (true, .load)
                // It cannot be written, and the new session looks at the store before it takes it over.
                old.server.release()
                await old.settle()
                old.server.script(.held)
                Task { try? await old.session.refresh() }
                await old.settle()
                old.store.hanging = nil
                await old.settle()
                try? await new.session.refresh(waitingAtMost: .zero)
                await new.settle()
                #expect(old.server.bodies.count { $0.contains("refresh_token=rt2&") } == 1)
                old.store.isBroken = false
                old.server.release()
                await new.settle()
                await new.pass(.seconds(5))
            }
        }
    }

    @Test func `is marked by the session that takes its holder's place as what the store may hold`()
        async throws
    {
        let old = SessionHarness(grantType: .refreshToken)
        try await old.run("rt0") {
            // It is written, and the word of it is lost.
            old.store.losesWord = true
            await old.pass(.seconds(240))
            #expect(old.token == "at2" && newest(old) == "rt2")
            old.store.losesWord = false
            let new = SessionHarness(
                grantType: .refreshToken, sharing: old, family: old.session.core.family
            ) { $0.refreshMargin = .seconds(20) }
            old.session.leaveFamily()
            await old.session.serveWaitersOnly()
            try await new.run {
                await old.session.retire()
                new.server.script(.held)
                let refreshing = Task { try await new.session.refresh(waitingAtMost: .seconds(1)) }
                await new.settle()
                #expect(new.store.spent == new.store.stored()?.generation)
                new.server.release()
                try await refreshing.value
            }
        }
    }

    @Test func `is kept and written by a retired holder whose place nobody takes`() async throws {
        let old = SessionHarness(grantType: .refreshToken)
        try await succeed(old) {
            $0.endpoints[.token] = HTTPURL("https://other.example/token")
        } _: { new, other in
            let retirement = Task { await old.session.retire() }
            for _ in 0..<3 {
                await old.settle()
                await new.pass(.seconds(5))
            }
            let isKept = await old.keepsLock
            #expect(newest(old) == "rt1" && isKept)
            old.store.isBroken = false
            await old.settle()
            old.clock.advance(by: .seconds(5))
            await retirement.value
            #expect(await other.value == "rt2")
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

    @Test func `is kept no longer by who has lost the lock without knowing, and is written under a new one`()
        async throws
    {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            await harness.pass(.seconds(240))
            #expect(newest(harness) == "rt1")
            let other = Task {
                await harness.store.lock()
                harness.store.unlock()
            }
            harness.store.losesLeases = true
            harness.store.isBroken = false
            await harness.pass(.seconds(5))
            await other.value
            #expect(newest(harness) == "rt1")
            harness.store.losesLeases = false
            await harness.pass(.seconds(5))
            #expect(newest(harness) == "rt2")
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
            // It may already have been refreshed, and replaced by its successor.
            let saved = harness.journal.entries.filter { $0.hasPrefix("saved ") }
            #expect(saved.contains { $0.hasSuffix(" other") } && !saved.contains { $0.hasSuffix(" rt2") })
            await harness.store.lock()
            harness.store.unlock()
        }
    }
}
