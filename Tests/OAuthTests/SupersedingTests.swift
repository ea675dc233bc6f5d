// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// Logins and logouts while the provider is still to answer a refresh.
struct `A refresh that is superseded` {
    private func harness(
        sharing other: SessionHarness? = nil, _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> SessionHarness {
        SessionHarness(
            grantType: .refreshToken, sharing: other, isBeside: other != nil
        ) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
            configure(&$0)
        }
    }

    private func logIn(_ harness: SessionHarness) async throws {
        let grant = TokenResponse(
            accessToken: Secret("at-login"), lifetime: .seconds(300), refreshToken: Secret("rt-login"))
        try await harness.session.adopt(
            login: grant, sentAt: harness.clock.now, wall: harness.clock.wallNow)
    }

    /// Runs `body` while the provider has a refresh in its hands, and does not answer.
    private func runHeld(_ harness: SessionHarness, _ body: () async throws -> Void) async throws {
        try await harness.run("rt0") {
            harness.server.script(.held)
            await harness.pass(.seconds(240))
            try await body()
        }
    }

    private func refreshToken(_ harness: SessionHarness) -> String? {
        harness.store.stored()?.refreshToken?.withPlaintext { $0 }
    }

    private func settle(_ harnesses: SessionHarness...) async {
        for _ in 0..<5 { for harness in harnesses { await harness.settle() } }
    }

    private static let answer = FakeServer.Reply.status(
        200, #"{"access_token":"at-late","expires_in":300,"refresh_token":"rt-late"}"#)

    @Test(arguments: [false, true])
    func `by a logout brings nothing back, and what it brought is revoked`(isLocal: Bool) async throws {
        let harness = harness()
        try await runHeld(harness) {
            let refreshing = Task { try await harness.session.refresh(waitingAtMost: .seconds(600)) }
            await harness.settle()
            let outcome = await harness.session.logOut(onlyHere: isLocal)
            #expect(outcome.storeFailure == nil && outcome.failures.isEmpty)
            #expect(await harness.session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) { try await refreshing.value }
            let saved = harness.journal.entries.count { $0.hasPrefix("saved") }
            let results = harness.journal.entries.filter { $0.hasPrefix("refresh_token") }

            harness.server.release(with: Self.answer)
            await harness.settle()
            #expect(await harness.session.status.state == .loginRequired)
            #expect(await harness.session.status.lastError == nil)
            #expect(harness.token == nil && harness.store.stored()?.holdsTokens == false)
            #expect(harness.journal.entries.count { $0.hasPrefix("saved") } == saved)
            #expect(harness.journal.entries.filter { $0.hasPrefix("refresh_token") } == results)
            let revoked = harness.server.bodies.filter { $0.hasPrefix("token=") }
                .map { String($0.prefix { $0 != "&" }) }
            #expect(revoked == (isLocal ? [] : ["token=rt1", "token=at1", "token=rt-late"]))
        }
    }

    @Test func `by a logout has its access token revoked where it brought no other`() async throws {
        let harness = harness()
        try await runHeld(harness) {
            _ = await harness.session.logOut()
            harness.server.release(with: .status(200, #"{"access_token":"at-late"}"#))
            await harness.settle()
            #expect(harness.server.bodies.last?.hasPrefix("token=at-late&token_type_hint=access") == true)
        }
    }

    @Test func `by a logout fails without a word`() async throws {
        let harness = harness()
        try await runHeld(harness) {
            _ = await harness.session.logOut()
            let count = harness.server.bodies.count
            harness.server.release(with: .status(400, #"{"error":"invalid_grant"}"#))
            await harness.settle()
            #expect(await harness.session.status.lastError == nil)
            #expect(harness.server.bodies.count == count)
        }
    }

    @Test func `by a login does not take its place, and harms neither`() async throws {
        let harness = harness()
        try await runHeld(harness) {
            try await logIn(harness)
            #expect(harness.token == "at-login" && refreshToken(harness) == "rt-login")
            harness.server.release(with: Self.answer)
            await harness.settle()
            #expect(harness.token == "at-login" && refreshToken(harness) == "rt-login")
            #expect(!harness.server.bodies.contains { $0.hasPrefix("token=") }, "the login may depend on it")
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.last?.contains("refresh_token=rt-login") == true)
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test(arguments: [false, true])
    func `may be a sibling's`(isLogin: Bool) async throws {
        let own = harness()
        try await own.run("rt0") {
            let route = harness(sharing: own) { $0 = $0.aimed(at: TokenTarget(scope: ["api.read"])) }
            try await route.run {
                await settle(own, route)
                #expect(own.token == "at1" && route.token == "at2")
                // One of them asks, the other one waits for its turn.
                own.server.script(.held)
                own.clock.advance(by: .seconds(240))
                await settle(own, route)
                #expect(own.server.bodies.count == 3)
                for harness in [own, route] {
                    if isLogin { try await logIn(harness) } else { _ = await harness.session.logOut() }
                    await settle(own, route)
                }
                own.server.release(with: Self.answer)
                await settle(own, route)
                let shown = own.server.bodies.filter { $0.contains("refresh_token=rt2") }
                #expect(shown.count == 1, "nobody shows the old one again")
                if isLogin {
                    #expect(refreshToken(own) != "rt-late" && own.token != nil && route.token != nil)
                } else {
                    for harness in [own, route] {
                        #expect(await harness.session.status.state == .loginRequired)
                        #expect(harness.token == nil)
                    }
                    #expect(own.store.stored()?.holdsTokens == false)
                    #expect(own.server.bodies.last?.hasPrefix("token=rt-late") == true)
                }
            }
        }
    }

    @Test func `sends nothing any more that it has not sent yet`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.token] = nil
            $0.issuer = "https://sso.example"
        }
        let document = "https://sso.example/.well-known/openid-configuration"
        harness.server.publish(.held, at: document)
        var session = harness.stored(1, refreshToken: "rt0")
        session.binding = "https://sso.example app"
        harness.store.replace(with: session)
        try await harness.run {
            #expect(harness.server.urls == [document])
            _ = await harness.session.logOut(onlyHere: true)
            harness.server.release(
                with: .status(
                    200, #"{"issuer":"https://sso.example","token_endpoint":"https://sso.example/token"}"#))
            await harness.settle()
            #expect(harness.server.bodies.isEmpty)
        }
    }

    @Test func `is awaited by who stops the session`() async throws {
        let harness = harness()
        try await runHeld(harness) {
            _ = await harness.session.logOut()
            let stopping = Task { await harness.session.stop() }
            await harness.settle()
            harness.server.release(with: Self.answer)
            _ = await stopping.value
            #expect(harness.server.bodies.last?.hasPrefix("token=rt-late") == true)
        }
    }

    // MARK: A provider that hangs

    /// Runs `body` while nobody waits any more for an answer that has not come.
    private func runSilent(_ harness: SessionHarness, _ body: () async throws -> Void) async throws {
        try await runHeld(harness) {
            harness.server.isFrozen = true
            for _ in 0..<12 { await harness.pass(.seconds(1)) }
            try await body()
        }
    }

    /// Answers all that is held, which is the refresh and a question, and what follows.
    private func answerAll(_ harness: SessionHarness) async {
        harness.server.isFrozen = false
        for _ in 0..<3 {
            harness.server.release(with: Self.answer)
            await harness.settle()
        }
    }

    @Test func `is not waited for by a login that is kept, and goes on`() async throws {
        let harness = harness()
        try await runSilent(harness) {
            let code = AuthorizationCode(
                code: Secret("c"), redirectURI: "http://127.0.0.1/", verifier: Secret("v"), nonce: Secret("n")
            )
            try await harness.session.keep(code)
            #expect(harness.store.stored()?.pendingCode != nil && harness.store.stored()?.isDoubted == true)
            await answerAll(harness)
            #expect(harness.token == "at-late" && refreshToken(harness) == "rt-late")
            #expect(harness.store.stored()?.pendingCode != nil)
            #expect(harness.server.bodies.count { $0.contains("refresh_token=rt1&") } == 1)
        }
    }

    @Test func `is not waited for by an import, which counts`() async throws {
        let harness = harness()
        try await runSilent(harness) {
            let isNew = try await harness.session.take(Secret("theirs"))
            #expect(isNew)
            await answerAll(harness)
            #expect(refreshToken(harness) != "rt-late" && harness.token != "at-late")
            #expect(harness.server.bodies.contains { $0.contains("refresh_token=theirs&") })
            #expect(harness.server.bodies.count { $0.contains("refresh_token=rt1&") } == 1)
        }
    }

    @Test func `is not waited for by a revocation, and what it brought is revoked`() async throws {
        let harness = harness()
        try await runSilent(harness) {
            let revoked = try await harness.session.revoke([.refreshToken])
            #expect(revoked == [.refreshToken])
            await answerAll(harness)
            #expect(harness.store.stored()?.holdsTokens == false && harness.token == nil)
            #expect(
                harness.server.bodies.filter { $0.hasPrefix("token=") }.map {
                    String($0.prefix { $0 != "&" })
                }
                    == ["token=rt1", "token=rt-late"])
        }
    }

    @Test func `may be followed by a revocation that hangs, for which no login waits`() async throws {
        let harness = harness()
        try await harness.run("rt0") {
            harness.server.script(.held)
            let revoking = Task { try await harness.session.revoke([.refreshToken]) }
            await harness.settle()
            #expect(harness.server.bodies.last?.hasPrefix("token=rt1") == true)
            try await logIn(harness)
            #expect(harness.token == "at-login" && refreshToken(harness) == "rt-login")
            await #expect(throws: SessionFailure.self) { try await revoking.value }
            harness.server.release(with: .status(200, ""))
            await harness.settle()
            #expect(harness.token == "at-login" && refreshToken(harness) == "rt-login")
        }
    }

    // MARK: Turns and troubles

    @Test func `gives way to what another process stored meanwhile`() async throws {
        let own = harness()
        try await own.run("rt0") {
            let route = harness(sharing: own) { $0 = $0.aimed(at: TokenTarget(scope: ["api.read"])) }
            try await route.run {
                await settle(own, route)
                own.server.script(.held)
                own.clock.advance(by: .seconds(240))
                await settle(own, route)
                own.store.replace(with: own.stored(9, refreshToken: "rt9"))
                await settle(own, route)
                own.server.release(with: Self.answer)
                await settle(own, route)
                let stored = own.store.stored()
                #expect(stored?.generation ?? 0 > 9, "what was stored counts, and is refreshed")
                for harness in [own, route] {
                    #expect(await harness.session.status.generation == stored?.generation)
                }
            }
        }
    }

    @Test func `leaves no word of a lock that nobody needs any more`() async throws {
        let harness = harness()
        func isBusy() async -> Bool { await harness.session.status.lastError?.code == "store_busy" }
        try await harness.run("rt0") {
            harness.store.isBusy = true
            await harness.pass(.seconds(240))
            #expect(await isBusy())
            harness.store.replace(with: harness.stored(5, accessToken: "theirs", refreshToken: "rt5"))
            await harness.settle()
            #expect(await !isBusy() && harness.token == "theirs")

            await harness.pass(.seconds(240))
            #expect(await isBusy())
            harness.store.isBusy = false
            try await logIn(harness)
            #expect(await !isBusy())
        }
    }
}
