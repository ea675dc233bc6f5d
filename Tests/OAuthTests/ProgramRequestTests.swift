// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// Token requests that say what the configuration does not.
struct `A token request of a program's own` {
    private func trace(_ harness: SessionHarness) -> String? {
        harness.server.last?.headers.last { $0.name.lowercased() == "x-trace" }?.value
    }

    @Test func `names a scope and further parameters for one refresh, and for that one alone`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) { $0.tokenParameters = [NamedValue("a", "b")] }
        try await harness.run("rt0") {
            let session = harness.session
            try await session.refresh(
                waitingAtMost: .seconds(1), scope: ["read", "write"], adding: [NamedValue("tenant", "blue")],
                headers: [NamedValue("X-Trace", "17")])
            #expect(trace(harness) == "17")
            try await session.refresh(waitingAtMost: .seconds(1), scope: ["read"])
            try await session.refresh(waitingAtMost: .seconds(1))
            #expect(
                harness.server.bodies == [
                    "grant_type=refresh_token&refresh_token=rt0&a=b&client_id=app",
                    "grant_type=refresh_token&refresh_token=rt1&scope=read%20write&a=b&tenant=blue&client_id=app",
                    "grant_type=refresh_token&refresh_token=rt2&scope=read&a=b&client_id=app",
                    "grant_type=refresh_token&refresh_token=rt3&a=b&client_id=app",
                ])
        }
    }

    @Test func `has the session's proof of its key, whatever headers the program adds`() async throws {
        let harness = SessionHarness(grantType: .refreshToken) { $0.proofs = .always }
        try await harness.run("rt0") {
            try await harness.session.refresh(
                waitingAtMost: .seconds(1), adding: [],
                headers: [NamedValue("DPoP", "x"), NamedValue("dpop", "y")])
            let proofs = harness.server.last?.headers.filter { $0.name.lowercased() == "dpop" } ?? []
            #expect(proofs.count == 1 && proofs.allSatisfy { (try? JWS(compact: $0.value)) != nil })
        }
    }

    @Test func `is made after the refresh in flight, which knows nothing of it`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.held)
        try await harness.run("rt0") {
            async let refresh: Void = harness.session.refresh(
                waitingAtMost: .seconds(5), adding: [NamedValue("tenant", "blue")])
            await harness.settle()
            #expect(harness.server.bodies.count == 1)
            harness.server.release()
            try await refresh
            #expect(harness.server.bodies.map { $0.contains("tenant=blue") } == [false, true])
        }
    }

    @Test func `names the scope with each refresh where the configuration wants that`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) {
            $0.scope = ["openid", "api"]
            $0.sendsScopeOnRefresh = true
        }
        try await harness.run("rt0") {
            #expect(harness.server.bodies.first?.contains("&scope=openid%20api&") == true)
        }
    }

    @Test func `of an extension's grant becomes the session`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        harness.server.script(
            .status(
                200,
                #"{"access_token":"at","token_type":"bearer","expires_in":300,"refresh_token":"rt","x":"y"}"#)
        )
        try await harness.run {
            var request = TokenRequest(grantType: GrantType(rawValue: "urn:example:otp"))
            request.scope = ["api"]
            request.parameters = [NamedValue("device", "blue")]
            request.secrets = [("otp", Secret("271828"))]
            request.headers = [NamedValue("X-Trace", "17")]
            #expect("\(request)" == "[token request]")
            #expect(try await harness.session.logIn(with: request).hasRefreshToken)
            #expect(
                harness.server.bodies == [
                    "grant_type=urn%3Aexample%3Aotp&scope=api&device=blue&otp=271828&client_id=app"
                ])
            #expect(trace(harness) == "17" && harness.token == "at")
            #expect(await harness.session.tokenType == "bearer")
            #expect(await harness.session.additionalParameters["x"] == "y")
            let stored = try #require(harness.store.stored())
            let read = try #require(StoredSession(decoding: stored.encoded()))
            #expect(read.newestAccessToken?.tokenType == "bearer")
            try await harness.session.refresh(waitingAtMost: .seconds(1))
            #expect(harness.server.bodies.last?.contains("refresh_token=rt&") == true)
        }
    }

    @Test func `leaves the session alone where only its answer is wanted`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        harness.server.script(.status(200, #"{"access_token":"other","expires_in":60,"scope":"a b"}"#))
        try await harness.run {
            let response: TokenResponse = try await harness.session.perform(
                TokenRequest(grantType: .clientCredentials))
            #expect(response.accessToken.matches(Array("other".utf8)) && response.scope == ["a", "b"])
            #expect(response.lifetime == .seconds(60) && response.tokenType == nil)
            #expect("\(response)" == "[token response]")
            #expect(await harness.session.needsLogin && harness.store.stored() == nil)
        }
    }

    @Test func `is refused with the domain of its grant, and with the server's page`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        let grant = GrantType(rawValue: "urn:example:otp")
        harness.server.script(
            .status(400, #"{"error":"invalid_grant","error_uri":"https://sso.example/help"}"#),
            .error(.timedOut))
        try await harness.run {
            let session = harness.session
            let refused = await #expect(throws: TokenFailure.self) {
                try await session.perform(TokenRequest(grantType: grant))
            }
            #expect(refused?.domain == .token(grant) && refused?.kind == .final)
            #expect(refused?.errorURI == "https://sso.example/help")
            let lost = await #expect(throws: TokenFailure.self) {
                try await session.perform(TokenRequest(grantType: grant))
            }
            #expect(lost?.domain == .general && lost?.kind == .transient)
        }
    }

    @Test func `never says twice what the client says of itself`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) { $0.scope = ["api"] }
        try await harness.run {
            let session = harness.session
            for name in ["client_id", "client_secret", "grant_type", "scope", "client_assertion", ""] {
                var request = TokenRequest(grantType: .clientCredentials)
                request.parameters = [NamedValue(name, "x")]
                let failure = await #expect(throws: TokenFailure.self) { try await session.perform(request) }
                #expect(failure?.reason == .badParameter && failure?.kind == .misconfigured, "\(name)")
            }
            let code = AuthorizationCode(
                code: Secret("c"), redirectURI: "app:/x", verifier: Secret("v"), nonce: Secret("n"))
            await #expect(throws: LoginError.self) {
                try await session.logIn(with: code, adding: [NamedValue("code_verifier", "x")])
            }
            #expect(harness.server.bodies.isEmpty)
            try await session.logIn(with: code, adding: [NamedValue("tenant", "blue")])
            #expect(harness.server.bodies.last?.contains("&tenant=blue&") == true)
        }
    }
}
