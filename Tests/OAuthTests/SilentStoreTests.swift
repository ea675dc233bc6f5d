// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A store of a program's own that stops answering, at one of the things that it is asked.
struct `A store that never answers` {
    private func harness(_ hanging: FakeStore.Part?, grantType: GrantType = .refreshToken) -> SessionHarness {
        let harness = SessionHarness(grantType: grantType)
        harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
        harness.store.hanging = hanging
        return harness
    }

    /// Lets so much time pass as the store may take for one thing, and a little more.
    private func passLimit(_ harness: SessionHarness) async {
        for _ in 0..<7 { await harness.pass(.seconds(10)) }
    }

    private func end(_ harness: SessionHarness) async {
        let stopping = Task { await harness.session.stop() }
        await harness.settle()
        harness.store.hanging = nil
        for _ in 0..<20 { await harness.pass(.seconds(10)) }
        _ = await stopping.value
    }

    @Test(arguments: [FakeStore.Part.lock, .load, .save])
    func `holds no request for longer than it wants, and is named`(part: FakeStore.Part) async throws {
        let harness = harness(part)
        let starting = Task { await harness.session.start() }
        await harness.settle()
        let request = Task { try await harness.session.freshToken(waitingAtMost: .seconds(10)) }
        await harness.settle()
        let isFirstLook = part == .load
        let status = await harness.session.status
        #expect(status.isBeingRead == isFirstLook && status.waitsForToken, "\(status.state)")
        await harness.pass(.seconds(6))
        await harness.pass(.seconds(4))
        let error = await #expect(throws: TokenError.self) { try await request.value }
        guard case .storeUnavailable? = error else {
            Issue.record("\(String(describing: error))")
            return await end(harness)
        }
        await passLimit(harness)
        await starting.value
        #expect(await harness.session.status.lastError?.code == "store_unavailable")
        await end(harness)
    }

    @Test func `holds no command for ever`() async throws {
        for part in [FakeStore.Part.lock, .load, .save] {
            let harness = harness(nil)
            await harness.session.start()
            await harness.settle()
            harness.store.hanging = part
            let command = Task {
                try await harness.session.take(Secret("theirs"))
            }
            await harness.settle()
            await passLimit(harness)
            let error = await #expect(throws: StoreError.self, "\(part)") { try await command.value }
            #expect(error?.reason.hasPrefix("the store does not answer") == true)
            // What was to be written may still be.
            #expect(error?.reason.hasSuffix("may still write what it was given") == (part == .save))
            await end(harness)
        }
    }

    @Test func `is waited for no longer by who is cancelled`() async throws {
        let harness = harness(.load)
        let starting = Task { await harness.session.start() }
        await harness.settle()
        starting.cancel()
        await starting.value
        await end(harness)
    }

    @Test func `gives a lease too late, which is given back`() async throws {
        let harness = harness(.lock)
        await harness.session.start()
        await harness.settle()
        await passLimit(harness)
        harness.store.hanging = nil
        await harness.settle()
        await harness.pass(.seconds(5))
        #expect(harness.token == "at1")
        await end(harness)
    }

    @Test func `claims nothing for a command that has gone on without`() async throws {
        let harness = harness(nil)
        try await harness.run {
            #expect(harness.token == "at1")
            // Somebody else has the lock, and the claim is answered when nobody waits for it any more.
            harness.store.hanging = .claim
            await harness.store.lock()
            let command = Task { try await harness.session.take(Secret("theirs")) }
            await harness.settle()
            await passLimit(harness)
            await #expect(throws: StoreError.self) { try await command.value }
            harness.store.hanging = nil
            await harness.settle()
            #expect(!harness.store.isClaimed, "who has the lease would take it for another's")
            harness.store.unlock()
            await harness.settle()
            let isTaken = try await harness.session.take(Secret("theirs"))
            #expect(isTaken && !harness.store.isClaimed)
        }
    }

    @Test func `holds no end of a session for ever, though it takes no lease back`() async throws {
        let harness = harness(nil)
        await harness.session.start()
        await harness.settle()
        harness.store.hanging = .release
        let refreshing = Task { try await harness.session.refresh(waitingAtMost: .seconds(1)) }
        await harness.settle()
        try await refreshing.value
        let stopping = Task { await harness.session.stop() }
        await harness.settle()
        await passLimit(harness)
        #expect(await stopping.value)
        harness.store.hanging = nil
    }

    @Test func `has no lease kept by what a session that is gone was told to do`() async throws {
        let harness = harness(.lock)
        var session: AuthSession? = AuthSession(
            configuration: await harness.session.engine.configured, executor: harness.session.executor,
            clock: harness.clock, transport: harness.server, store: harness.store,
            credentials: harness.secret, observer: harness.journal)
        try? await session?.refresh(waitingAtMost: .zero)
        await harness.settle()
        session = nil
        await harness.settle()
        harness.store.hanging = nil
        await harness.settle()
        let hasLease = Flag()
        let other = Task {
            await harness.store.lock()
            hasLease.raise()
        }
        await harness.settle()
        #expect(hasLease.isRaised)
        harness.store.unlock()
        await other.value
        await end(harness)
    }

    @Test func `does not have a person log in whose session is only being read`() async throws {
        let harness = harness(.load)
        let starting = Task { await harness.session.start() }
        await harness.settle()
        starting.cancel()
        await starting.value
        #expect(await harness.session.status.state == .empty)
        #expect(!harness.journal.entries.contains("state login_required"))
        let request = Task { try await harness.request() }
        await harness.settle()
        harness.store.hanging = nil
        #expect(try await request.value == "at1")
        #expect(!harness.journal.entries.contains("state login_required"))
        await harness.session.stop()
    }

    @Test func `is no reason for a login to try without end once the session is stopped`() async throws {
        let harness = harness(nil)
        await harness.session.start()
        await harness.session.stop()
        let grant = TokenResponse(
            accessToken: Secret("at"), lifetime: .seconds(300), refreshToken: Secret("rt"))
        await #expect(throws: StoreError.self) {
            try await harness.session.adopt(
                login: grant, sentAt: harness.clock.now, wall: harness.clock.wallNow)
        }
    }
}
