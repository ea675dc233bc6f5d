// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// What a program is told that has not called `start()`, or has called `stop()`.
struct `A session that was not started` {
    private let harness = SessionHarness(grantType: .refreshToken)

    @Test func `tells what is stored, and what is stored meanwhile`() async {
        let session = harness.session
        #expect(await session.needsLogin)
        #expect(await !session.isAuthorized)
        harness.store.replace(with: harness.stored(1, accessToken: "at0", refreshToken: "rt0"))
        #expect(await session.isAuthorized)
        #expect(await !session.needsLogin)
        #expect(await session.status.state == .authorized)
        #expect(await session.refreshToken?.matches(Array("rt0".utf8)) == true)
        harness.store.replace(with: harness.stored(2, refreshToken: "rt1"))
        #expect(await session.refreshToken?.matches(Array("rt1".utf8)) == true)
        #expect(harness.server.bodies.isEmpty)
        await session.stop()
    }

    @Test func `hands out a stored token, and refreshes where there is none`() async throws {
        let session = harness.session
        harness.store.replace(with: harness.stored(1, accessToken: "at0", refreshToken: "rt0"))
        #expect(try await session.withFreshTokens { $0.accessToken } == "at0")
        #expect(harness.server.bodies.isEmpty)
        await session.stop()
        let next = SessionHarness(grantType: .refreshToken)
        next.store.replace(with: next.stored(1, refreshToken: "rt0"))
        #expect(try await next.session.withFreshTokens { $0.accessToken } == "at1")
        #expect(next.server.bodies.count == 1)
        await next.session.stop()
    }

    @Test func `makes requests and refreshes with what is stored`() async throws {
        harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
        let answer = try await harness.session.authorized("https://api.example/") {
            ResourceResponse(status: 200, value: $0.value)
        }
        #expect(answer.value == "Bearer at1")
        try await harness.session.refresh()
        #expect(harness.server.bodies.count == 2)
        await harness.session.stop()
    }

    /// The clock of a program that has no other.
    private struct SystemClock: SessionClock {
        let wallNow: WallTime
        var now: Instant { .now }

        func sleep(until deadline: Instant) async throws(CancellationError) {
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
            } catch {
                throw CancellationError()
            }
        }
    }

    @Test(arguments: [Int64.max, Int64.min])
    func `waits for no longer than clocks count`(seconds: Int64) async throws {
        harness.store.replace(with: harness.stored(1, accessToken: "at0", refreshToken: "rt0"))
        let session = AuthSession(
            configuration: await harness.session.engine.configured, executor: harness.session.executor,
            clock: SystemClock(wallNow: harness.clock.wallNow), transport: harness.server,
            store: harness.store, credentials: harness.secret, observer: harness.journal)
        let limit = Duration.seconds(seconds)
        if seconds > 0 {
            #expect(try await session.withFreshTokens(waitingAtMost: limit) { $0.accessToken } == "at0")
            try await session.refresh(waitingAtMost: limit)
            await session.start()
        } else {
            _ = try? await session.refresh(waitingAtMost: limit)
        }
        await session.stop(savingFor: limit)
        await harness.session.stop()
    }

    @Test func `asks for a login where nothing is stored`() async {
        await #expect(throws: TokenError.loginRequired) { try await harness.session.refresh() }
        await #expect(throws: TokenError.loginRequired) {
            try await harness.session.withFreshTokens { _ in Issue.record("there are no tokens") }
        }
        await harness.session.stop()
    }

    @Test func `says so after its stop`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            let session = harness.session
            await session.stop()
            await #expect(throws: TokenError.stopped) { try await session.withFreshTokens { _ in } }
            await #expect(throws: TokenError.stopped) { try await session.freshToken() }
            await #expect(throws: TokenError.stopped) { try await session.refresh() }
            await #expect(throws: TokenError.stopped) { try await session.refresh(scope: ["a"]) }
            await #expect(throws: TokenError.stopped) { try await session.invalidate() }
            await #expect(throws: SessionFailure.token(.stopped)) { try await session.userinfo() }
            await #expect(throws: TokenError.stopped) {
                try await session.authorized("https://api.example/") { _ in
                    ResourceResponse(status: 200, value: ())
                }
            }
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `spends and revokes nothing after its stop`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) {
            for endpoint in [Endpoint.revocation, .registration, .authorization, .deviceAuthorization] {
                $0.endpoints[endpoint] = HTTPURL("https://sso.example/\(endpoint)")
            }
        }
        try await harness.run("rt0") {
            let session = harness.session
            let code = AuthorizationCode(
                code: Secret("c"), redirectURI: "a:/b", verifier: Secret("v"), nonce: Secret("n"))
            let device = DeviceAuthorization(
                code: Secret("d"), verifier: Secret("v"), interval: .zero,
                expiry: harness.clock.now + .seconds(60))
            let request = TokenRequest(grantType: .clientCredentials)
            await session.stop()
            await #expect(throws: LoginError.unstored(.stopped)) { try await session.logIn(with: code) }
            let polling = Task { try await session.logIn(with: device) }
            await harness.settle()
            await harness.pass(.seconds(10))
            await #expect(throws: LoginError.unstored(.stopped)) { try await polling.value }
            await #expect(throws: LoginError.unstored(.stopped)) { try await session.logIn(with: request) }
            await #expect(throws: TokenFailure(.stopped)) { try await session.perform(request) }
            await #expect(throws: TokenFailure(.stopped)) { try await session.authorizeDevice() }
            await #expect(throws: TokenFailure(.stopped)) {
                _ = try await session.authorizationFlow(redirectURI: "a:/b")
            }
            await #expect(throws: SessionFailure.store(.stopped)) {
                try await session.register(redirectURI: "a:/b")
            }
            await #expect(throws: SessionFailure.store(.stopped)) {
                _ = try await session.revoke([.refreshToken])
            }
            #expect(await session.logOut().storeFailure == .stopped)
            #expect(harness.server.bodies.count == 1, "the refresh at its start")
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
            for await state in session.states { Issue.record("\(state)") }
        }
    }
}
