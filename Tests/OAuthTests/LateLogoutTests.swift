// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// Logouts that can be stored only when another process has stored something in the meantime.
struct `A logout that is stored late` {
    private func harness() -> SessionHarness {
        SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
        }
    }

    /// What another process has stored, begun so much later than the logout.
    private func theirs(_ delay: Duration, _ harness: SessionHarness) -> StoredSession {
        var session = harness.stored(3, accessToken: "theirs", refreshToken: "rt-theirs")
        session.began = harness.clock.wallNow + delay
        return session
    }

    @Test(arguments: [-1, 1])
    func `because nothing could be written ends what began before, and nothing else`(delay: Int) async throws
    {
        let harness = harness()
        try await harness.run("rt0") {
            harness.store.isBroken = true
            #expect(await harness.session.logOut().storeFailure != nil)
            harness.store.isBroken = false
            harness.store.replace(with: theirs(.seconds(delay), harness))
            await harness.pass(.seconds(5))
            let isKept = harness.store.stored()?.refreshToken?.matches(Array("rt-theirs".utf8)) ?? false
            #expect(isKept == (delay > 0))
            #expect(harness.token == (delay > 0 ? "theirs" : nil))
            #expect(await harness.session.status.state == (delay > 0 ? .authorized : .loginRequired))
        }
    }

    @Test(arguments: [true, false])
    func `because nothing could be written is undone by a restart where the store holds the session`(
        isStored: Bool
    ) async throws {
        let harness = harness()
        try await harness.run("rt0") {
            harness.store.isBroken = true
            if !isStored {
                harness.store.lose()
                await harness.settle()
            }
            #expect(await harness.session.logOut().storeFailure != nil)
            let detail = try #require(await harness.session.status.lastError?.detail)
            #expect(detail.contains("no space") && detail.contains("a restart brings back") == isStored)
        }
    }

    @Test(arguments: [false, true])
    func `in another process has the answer of a provider that hangs revoked`(isLocal: Bool) async throws {
        let harness = harness()
        try await harness.run("rt0") {
            harness.server.isFrozen = true
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            for _ in 0..<12 { await harness.pass(.seconds(1)) }
            harness.server.isFrozen = false
            var ended = try #require(harness.store.stored())
            ended = ended.loggedOut(binding: ended.binding, at: harness.clock.wallNow)
            ended.isEndOnlyHere = isLocal
            harness.store.replace(with: ended)
            await harness.settle()
            #expect(await harness.session.status.state == .loginRequired)
            // The refresh is what was held first.
            harness.server.release(
                with: .status(200, #"{"access_token":"at-late","expires_in":300,"refresh_token":"rt-late"}"#))
            harness.server.release(with: .status(404))
            await harness.settle()
            let revoked = harness.server.bodies.filter { $0.hasPrefix("token=") }
            #expect(revoked.map { $0.prefix { $0 != "&" } } == (isLocal ? [] : ["token=rt-late"]))
            #expect(harness.token == nil && harness.store.stored()?.holdsTokens == false)
        }
    }

    @Test func `has the answer of a provider that hangs revoked by the client that asked`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
            $0.endpoints[.registration] = HTTPURL("https://sso.example/register")
        }
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            _ = await harness.session.logOut()
            harness.server.script(.status(201, #"{"client_id":"made","token_endpoint_auth_method":"none"}"#))
            let client = try await harness.session.register(redirectURI: "http://127.0.0.1/")
            #expect(client.clientID == "made")
            harness.server.release(
                with: .status(200, #"{"access_token":"at-late","expires_in":300,"refresh_token":"rt-late"}"#))
            await harness.settle()
            let revocation = harness.server.bodies.last { $0.hasPrefix("token=rt-late&") }
            #expect(revocation?.contains("client_id=app") == true)
        }
    }

    @Test(arguments: [-1, 1])
    func `because somebody had the lock ends what began before, and nothing else`(delay: Int) async throws {
        let harness = harness()
        try await harness.run("rt0") {
            let requests = harness.server.bodies.count
            await harness.store.lock()
            let logout = Task { await harness.session.logOut() }
            await harness.settle()
            harness.store.replace(with: theirs(.seconds(delay), harness))
            harness.store.unlock()
            let outcome = await logout.value
            await harness.settle()
            #expect(outcome.storeFailure == nil)
            #expect(outcome.revocation == (delay > 0 ? .nothingToDo : .requested))
            #expect((harness.server.bodies.count == requests) == (delay > 0))
            #expect((harness.store.stored()?.holdsTokens ?? false) == (delay > 0))
            #expect(harness.token == (delay > 0 ? "theirs" : nil))
        }
    }
}
