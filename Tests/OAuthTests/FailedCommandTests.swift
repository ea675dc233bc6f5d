// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// What becomes of a registration and a revocation where the store does not take, once, what the server has done.
struct `A command whose write fails once` {
    private static let made = FakeServer.Reply.status(
        201, #"{"client_id":"made","token_endpoint_auth_method":"none"}"#)

    private func harness() -> SessionHarness {
        SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
            $0.endpoints[.registration] = HTTPURL("https://sso.example/register")
        }
    }

    private func refreshes(_ harness: SessionHarness) -> Int {
        harness.server.bodies.count { $0.hasPrefix("grant_type=refresh_token") }
    }

    @Test func `changes nothing where it was a registration`() async throws {
        let harness = harness()
        try await harness.run("rt0") {
            let session = harness.session
            harness.server.script(Self.made)
            harness.store.isBroken = true
            await #expect(throws: SessionFailure.store(.unavailable("no space"))) {
                try await session.register(redirectURI: "http://127.0.0.1/")
            }
            harness.store.isBroken = false
            #expect(await session.isAuthorized)
            #expect(await session.clientID == "app")
            #expect(harness.token == "at1")
            for _ in 0..<3 { await harness.pass(.seconds(5)) }
            #expect(harness.store.stored()?.registration == nil)
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
            harness.server.script(Self.made)
            let registration = try await session.register(redirectURI: "http://127.0.0.1/")
            #expect(registration.clientID == "made")
            #expect(await session.clientID == "made")
            #expect(await session.needsLogin)
            #expect(harness.token == nil && harness.store.stored()?.registration?.clientID == "made")
        }
    }

    @Test func `ends with a logout that comes meanwhile, of which the new client is left`() async throws {
        let harness = harness()
        try await harness.run("rt0") {
            harness.server.script(Self.made)
            harness.store.hanging = .save
            let registering = Task { try await harness.session.register(redirectURI: "http://127.0.0.1/") }
            await harness.settle()
            let logout = Task { await harness.session.logOut(onlyHere: true) }
            await harness.settle()
            harness.store.hanging = nil
            let registration = try await registering.value
            #expect(registration.clientID == "made")
            #expect(await logout.value.storeFailure == nil)
            #expect(harness.store.stored()?.registration?.clientID == "made")
            #expect(harness.store.stored()?.holdsTokens == false && harness.token == nil)
            #expect(await harness.session.clientID == "made")
        }
    }

    @Test(arguments: [[TokenHint.refreshToken], [.refreshToken, .accessToken]])
    func `brings back no refresh token that was revoked`(hints: [TokenHint]) async throws {
        let harness = harness()
        try await harness.run("rt0") {
            let session = harness.session
            let before = try #require(harness.store.stored())
            harness.store.isBroken = true
            await #expect(throws: SessionFailure.store(.unavailable("no space"))) {
                try await session.revoke(hints)
            }
            harness.store.isBroken = false
            // The store holds it still, and is looked at.
            harness.store.replace(with: before)
            await harness.settle()
            for _ in 0..<3 { await harness.pass(.seconds(5)) }
            #expect(await session.refreshToken == nil)
            #expect(await session.needsLogin)
            #expect(refreshes(harness) == 1)
            #expect(harness.store.stored()?.holdsTokens == false)
        }
    }
}
