// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

struct `Sessions of one identity` {
    private func family(
        _ grantType: GrantType, _ body: (SessionHarness, SessionHarness) async throws -> Void
    ) async throws {
        let own = SessionHarness(grantType: grantType)
        try await own.run(grantType.needsPerson ? "rt0" : nil) {
            let route = SessionHarness(grantType: grantType, sharing: own, isBeside: true) {
                $0 = $0.aimed(at: TokenTarget(scope: ["api.read"]))
            }
            try await route.run { try await body(own, route) }
        }
    }

    private func settle(_ sessions: SessionHarness...) async {
        for _ in 0..<5 { for session in sessions { await session.settle() } }
    }

    @Test func `have one refresh token and an access token each`() async throws {
        try await family(.refreshToken) { own, route in
            await settle(own, route)
            #expect(own.token == "at1" && route.token == "at2")
            #expect(
                own.server.bodies == [
                    "grant_type=refresh_token&refresh_token=rt0&client_id=app",
                    "grant_type=refresh_token&refresh_token=rt1&scope=api.read&client_id=app",
                ])
            own.clock.advance(by: .seconds(240))
            await settle(own, route)
            #expect(own.server.bodies.count == 4 && Set(own.server.bodies).count == 4)
            #expect(own.server.mostInFlight == 1)
            #expect(own.store.stored()?.accessTokens.count == 2)
        }
    }

    @Test func `see what could not be stored`() async throws {
        try await family(.refreshToken) { own, route in
            await settle(own, route)
            own.store.isBroken = true
            for _ in 0..<3 {
                own.clock.advance(by: .seconds(240))
                await settle(own, route)
            }
            let shown = own.server.bodies
            #expect(shown.count == 8 && Set(shown).count == 8)
            own.store.isBroken = false
            own.clock.advance(by: .seconds(5))
            await settle(own, route)
            #expect(own.store.stored()?.refreshToken?.matches(Array("rt8".utf8)) == true)
        }
    }

    @Test func `leave each other's tokens alone`() async throws {
        try await family(.refreshToken) { own, route in
            await settle(own, route)
            try await route.session.invalidate(waitingAtMost: .seconds(1))
            await settle(own, route)
            #expect(own.token == "at1" && route.token == "at3")
            #expect(own.store.stored()?.accessTokens.count == 2)
        }
    }

    @Test func `are all refreshed where a person asks for it`() async throws {
        try await family(.refreshToken) { own, route in
            await settle(own, route)
            for harness in [own, route] { try await harness.session.refresh(waitingAtMost: .seconds(1)) }
            #expect(own.server.bodies.count == 4 && own.token == "at3" && route.token == "at4")
        }
    }

    @Test func `need a person together`() async throws {
        try await family(.refreshToken) { own, route in
            await settle(own, route)
            own.server.script(.status(400, #"{"error":"invalid_grant"}"#))
            try? await route.session.refresh(waitingAtMost: .seconds(1))
            await settle(own, route)
            #expect(await own.session.status.state == .loginRequired)
            #expect(own.token == "at1", "what has not expired is used")
            own.clock.advance(by: .seconds(240))
            await settle(own, route)
            #expect(own.server.bodies.count == 3, "not one more request")
        }
    }

    @Test func `ask by themselves where nobody logs in`() async throws {
        try await family(.clientCredentials) { own, route in
            await settle(own, route)
            own.clock.advance(by: .seconds(240))
            await settle(own, route)
            let ours = own.server.bodies.filter { $0.contains("scope=api.read") }
            #expect(
                ours
                    == Array(
                        repeating: "grant_type=client_credentials&scope=api.read&client_id=app", count: 2))
            #expect(own.server.bodies.contains("grant_type=refresh_token&refresh_token=rt1&client_id=app"))
        }
    }

    @Test func `get nothing of a session of another name, whatever family that is in`() async throws {
        let family = SessionFamily()
        let alice = SessionHarness(grantType: .refreshToken, family: family)
        try await alice.run("rt0") {
            let bob = SessionHarness(grantType: .refreshToken, sharing: alice, family: family) {
                $0.name = "bob"
            }
            try await bob.run {
                alice.store.isBroken = true
                let grant = TokenResponse(
                    accessToken: Secret("at-alice"), lifetime: .seconds(300), refreshToken: Secret("rt-alice")
                )
                await #expect(throws: StoreError.self) {
                    try await alice.session.adopt(
                        login: grant, sentAt: alice.clock.now, wall: alice.clock.wallNow)
                }
                await alice.session.stop()
                alice.store.isBroken = false
                await bob.pass(.seconds(10))
                #expect(bob.token == nil && bob.store.stored("bob") == nil)
            }
        }
    }

    @Test func `have one state, the first that applies`() async throws {
        let own = SessionHarness(grantType: .clientCredentials)
        try await own.run {
            own.server.script(.status(400, #"{"error":"invalid_scope"}"#))
            let route = SessionHarness(sharing: own, isBeside: true) {
                $0 = $0.aimed(at: TokenTarget(scope: ["nonsense"]))
            }
            try await route.run {
                await settle(own, route)
                #expect(own.journal.entries.contains("state authorized"))
                #expect(route.journal.entries.last == "state misconfigured")
                // What the other one is answered does not make this one ask again.
                try await own.session.refresh(waitingAtMost: .seconds(1))
                await settle(own, route)
                #expect(route.journal.entries.filter { $0.hasPrefix("state") }.last == "state misconfigured")
                #expect(own.server.bodies.count == 3)
            }
        }
    }
}
