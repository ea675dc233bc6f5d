// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What one login asks for that others do not.
extension `A login` {
    private func asking(
        sharing other: SessionHarness? = nil,
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) -> SessionHarness {
        SessionHarness(grantType: .authorizationCode, sharing: other) { configuration in
            configuration.issuer = Self.issuer
            configuration.endpoints[.authorization] = HTTPURL("\(Self.issuer)/auth")
            configuration.endpoints[.deviceAuthorization] = HTTPURL("\(Self.issuer)/device")
            configuration.scope = ["openid", "email"]
            configuration.authorizationParameters = [
                NamedValue("prompt", "login"), NamedValue("tenant", "red"),
            ]
            change(&configuration)
        }
    }

    private func code(answering request: AuthorizationRequest) throws -> AuthorizationCode {
        let state = request.state.withPlaintext { $0 }
        guard case .granted(let code) = try request.response(in: "code=c&state=\(state)") else {
            throw TokenFailure(.transient, .badResponse, detail: "no code")
        }
        return code
    }

    @Test func `may ask for a scope and parameters of its own, in place of those of the same names`()
        async throws
    {
        let harness = asking()
        try await harness.run {
            let redirect = "http://127.0.0.1:1/"
            let request = try await harness.session.authorizationRequest(
                redirectURI: redirect, scope: ["api"],
                adding: [NamedValue("prompt", "consent"), NamedValue("login_hint", "alice@example")])
            #expect(request.url.contains("&scope=api&"))
            #expect(request.url.hasSuffix("&tenant=red&prompt=consent&login_hint=alice%40example"))
            #expect(!request.url.contains("prompt=login"))
            let next = try await harness.session.authorizationRequest(redirectURI: redirect)
            #expect(next.url.contains("&scope=openid%20email&") || next.url.contains("&scope=openid+email&"))
            #expect(next.url.hasSuffix("&prompt=login&tenant=red"))
        }
    }

    @Test(arguments: ["state", "scope", "client_id", "code_challenge", "request_uri", ""])
    func `never says twice what its request says itself`(name: String) async throws {
        let harness = asking()
        try await harness.run {
            let failure = await #expect(throws: TokenFailure.self) {
                _ = try await harness.session.authorizationRequest(
                    redirectURI: "http://127.0.0.1:1/", adding: [NamedValue(name, "x")])
            }
            #expect(failure?.reason == .badParameter)
            let device = await #expect(throws: TokenFailure.self) {
                _ = try await harness.session.authorizeDevice(adding: [NamedValue(name, "x")])
            }
            #expect(device?.reason == .badParameter && harness.server.bodies.isEmpty)
        }
    }

    @Test func `is held against what it asked for, in another process too`() async throws {
        let harness = asking()
        try await harness.run {
            let session = harness.session
            let request = try await session.authorizationRequest(
                redirectURI: "http://127.0.0.1:1/", scope: ["api"])
            let read = try #require(AuthorizationRequest(decoding: request.encoded()))
            try await session.keep(try code(answering: read))
            let kept = try #require(harness.store.stored())
            let stored = try #require(StoredSession(decoding: kept.encoded()))
            #expect(stored.pendingCode?.additions.scope == ["api"])
            #expect(stored.pendingCode?.additions.checked == [NamedValue]())
            // Without `openid` in its scope there need be no id token; what the answer does not tell was asked for.
            harness.server.script(
                .status(503, #"{"error":"invalid_grant"}"#),
                .status(200, #"{"access_token":"at-api","expires_in":300,"refresh_token":"rt"}"#))
            // A broken gateway has not looked at the code.
            await #expect(throws: LoginError.self) { try await session.logInWithPendingCode() }
            #expect(harness.store.stored()?.pendingCode != nil)
            let login = try await session.logInWithPendingCode()
            #expect(login?.hasIDToken == false)
            #expect(await session.scope == ["api"])
            harness.server.script(
                .status(200, #"{"access_token":"at","expires_in":300,"refresh_token":"rt"}"#))
            let usual = try await session.authorizationRequest(redirectURI: "http://127.0.0.1:1/")
            await #expect(throws: LoginError.self) {
                try await session.logIn(with: try code(answering: usual))
            }
        }
    }

    @Test(arguments: [true, false])
    func `that waits in the store is sent once, by whichever process takes it`(isCode: Bool) async throws {
        let harness = asking()
        let other = asking(sharing: harness)
        @Sendable func finish(_ session: AuthSession, _ url: String) async throws -> Login? {
            guard !isCode else { return try await session.logInWithPendingCode() }
            return try await session.logIn(withResponse: url)
        }
        try await other.run {
            try await harness.run {
                let request = try await harness.session.authorizationRequest(
                    redirectURI: "http://127.0.0.1:1/", scope: ["api"])
                let url = "http://127.0.0.1:1/?code=c&state=\(request.state.withPlaintext { $0 })"
                if isCode {
                    try await harness.session.keep(try code(answering: request))
                } else {
                    try await harness.session.keep(request)
                }
                harness.server.script(.held)
                let first = Task { try await finish(harness.session, url) }
                await harness.settle()
                #expect(harness.server.bodies.count == 1)
                let stored = harness.store.stored()
                #expect(stored != nil && stored?.pendingCode == nil && stored?.pendingRequest == nil)
                #expect(try await finish(other.session, url) == nil)
                harness.server.release()
                #expect(try await first.value != nil && harness.server.bodies.count == 1)
            }
        }
    }

    @Test func `whose code may be used up does not wait any more`() async throws {
        let harness = asking()
        try await harness.run {
            let session = harness.session
            let answers: [FakeServer.Reply] = [
                .error(.timedOut), .error(.interrupted("the end")), .status(200, "{}"),
                .status(400, #"{"error":"invalid_grant"}"#),
            ]
            for answer in answers {
                let request = try await session.authorizationRequest(redirectURI: "http://127.0.0.1:1/")
                try await session.keep(try code(answering: request))
                harness.server.script(answer)
                await #expect(throws: LoginError.self) { try await session.logInWithPendingCode() }
                #expect(harness.store.stored()?.pendingCode == nil, "\(answer)")
            }
        }
    }

    @Test func `that fails late does not wait behind a logout`() async throws {
        let harness = asking()
        try await harness.run {
            let session = harness.session
            let request = try await session.authorizationRequest(redirectURI: "http://127.0.0.1:1/")
            try await session.keep(try code(answering: request))
            harness.server.script(.held)
            let login = Task { try await session.logInWithPendingCode() }
            await harness.settle()
            _ = await session.logOut(onlyHere: true)
            harness.server.release(with: .error(.unreachable("nobody")))
            await #expect(throws: LoginError.self) { _ = try await login.value }
            #expect(harness.store.stored()?.pendingCode == nil)
        }
    }

    @Test func `with an empty scope is one for who the person is, with all that follows`() async throws {
        let harness = asking { $0.scope = ["api"] }
        try await harness.run {
            let session = harness.session
            let request = try await session.authorizationRequest(
                redirectURI: "http://127.0.0.1:1/", scope: [])
            #expect(request.url.contains("&scope=openid&"))
            harness.server.script(
                .status(200, #"{"access_token":"at","expires_in":300,"refresh_token":"rt"}"#))
            let error = await #expect(throws: LoginError.self) {
                try await session.logIn(with: try code(answering: request))
            }
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.reason == .badIDToken)
        }
    }

    @Test func `with an age at most takes no id token that is older`() async throws {
        let harness = asking { $0.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys") }
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run {
            let session = harness.session
            await #expect(throws: TokenFailure.self) {
                try await session.authorizationRequest(
                    redirectURI: "http://127.0.0.1:1/", adding: [NamedValue("max_age", "soon")])
            }
            for (age, isTaken) in [(100, false), (100_000, true)] {
                let request = try await session.authorizationRequest(
                    redirectURI: "http://127.0.0.1:1/", adding: [NamedValue("max_age", "\(age)")])
                let nonce = request.nonce.withPlaintext { $0 }
                let idToken = try idToken(key) {
                    $0["nonce"] = .string(nonce)
                    $0["auth_time"] = 1_699_990_000
                }
                harness.server.script(answer(idToken))
                let code = try code(answering: request)
                if isTaken {
                    try await session.logIn(with: code)
                } else {
                    await #expect(throws: LoginError.self) { try await session.logIn(with: code) }
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `is held against the age that it asked for, and not the one that is configured by then`(
        isAsked: Bool
    ) async throws {
        func configured(sharing other: SessionHarness? = nil, _ hasAge: Bool) -> SessionHarness {
            asking(sharing: other) {
                $0.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys")
                if hasAge { $0.authorizationParameters.append(NamedValue("max_age", "100")) }
            }
        }
        let before = configured(isAsked)
        let after = configured(sharing: before, !isAsked)
        let key = try SigningKey.generateP256()
        publish([key], on: before)
        try await after.run {
            try await before.run {
                let request = try await before.session.authorizationRequest(
                    redirectURI: "http://127.0.0.1:1/")
                let read = try #require(AuthorizationRequest(decoding: request.encoded()))
                let nonce = request.nonce.withPlaintext { $0 }
                before.server.script(answer(try idToken(key) { $0["nonce"] = .string(nonce) }))
                let code = try code(answering: read)
                if isAsked {
                    await #expect(throws: LoginError.self) { try await after.session.logIn(with: code) }
                } else {
                    try await after.session.logIn(with: code)
                }
            }
        }
    }

    @Test func `on another device may ask for a scope of its own`() async throws {
        let harness = asking { $0.deviceParameters = [NamedValue("tenant", "red")] }
        try await harness.run {
            harness.server.script(
                .status(
                    200,
                    #"{"device_code":"dc","user_code":"A","verification_uri":"https://sso.example/d","expires_in":60}"#
                ))
            let device = try await harness.session.authorizeDevice(
                scope: ["api"], adding: [NamedValue("tenant", "blue")])
            let asked = try #require(harness.server.bodies.last)
            #expect(asked.hasPrefix("scope=api&") && asked.contains("&tenant=blue") && !asked.contains("red"))
            #expect(device.additions == LoginAdditions(scope: ["api"]))
        }
    }

    @Test(arguments: [true, false])
    func `with a scope of its own names that with each refresh, where a refresh names one`(
        names: Bool
    ) async throws {
        let harness = asking {
            $0.scope = ["more", "api"]
            $0.sendsScopeOnRefresh = names
        }
        try await harness.run {
            let session = harness.session
            let request = try await session.authorizationRequest(
                redirectURI: "http://127.0.0.1:1/", scope: ["api"])
            harness.server.script(
                .status(200, #"{"access_token":"at","expires_in":300,"refresh_token":"rt"}"#))
            try await session.logIn(with: try code(answering: request))
            #expect(await session.status.lastError == nil)
            try await session.refresh(waitingAtMost: .seconds(1))
            let body = try #require(harness.server.bodies.last)
            #expect(
                body.contains("grant_type=refresh_token") && body.contains("scope=api&") == names, "\(body)")
            #expect(!body.contains("more"))
        }
    }

    @Test(arguments: [
        (["api", "openid"], false, nil), (["openid", "api"], false, nil), (["openid"], true, nil),
        (["openid"], false, "scope openid+api to openid"),
        (["openid", "api", "more"], true, "scope openid+api to openid+api+more"),
    ])
    func `is told apart, once, from what is configured later`(
        scope: [String], names: Bool, told: String?
    ) async throws {
        let after = asking {
            $0.scope = scope
            $0.sendsScopeOnRefresh = names
        }
        var stored = after.stored(3, refreshToken: "rt")
        stored.binding = "\(Self.issuer) app"
        stored.scope = ["api"]
        stored.loginScope = ["openid", "api"]
        after.store.replace(with: try #require(StoredSession(decoding: stored.encoded())))
        try await after.run {
            await after.settle()
            stored.generation += 7
            after.store.replace(with: stored)
            await after.settle()
            #expect(after.journal.entries.filter { $0.hasPrefix("scope") } == (told.map { [$0] } ?? []))
            let error = await after.session.status.lastError
            #expect((error?.code == "scope_changed") == (told != nil), "\(error.debugDescription)")
        }
    }
}
