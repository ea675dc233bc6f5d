// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes
import JSON
import Testing

@testable import OAuth

@Suite("A login")
struct LoginTests {
    private static let issuer = "https://sso.example"
    private static let code = AuthorizationCode(
        code: Secret("the-code"), redirectURI: "http://127.0.0.1:1/callback",
        verifier: Secret("the-verifier"),
        nonce: Secret("n1"))

    private func harness() -> SessionHarness {
        SessionHarness(grantType: .authorizationCode) { configuration in
            configuration.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys")
            configuration.endpoints[.deviceAuthorization] = HTTPURL("\(Self.issuer)/device")
        }
    }

    private func idToken(_ key: SigningKey, _ change: (inout JSONObject) -> Void = { _ in }) throws -> String
    {
        var claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "app", "sub": "alice", "exp": 1_700_000_300,
            "iat": 1_700_000_000,
            "nonce": "n1",
        ]
        change(&claims)
        return try key.sign(claims.serialized())
    }

    private func answer(
        _ idToken: String, accessToken: String = "at-login", refreshToken: String = "rt-login"
    ) -> FakeServer.Reply {
        .status(
            200,
            #"{"access_token":"\#(accessToken)","expires_in":300,"refresh_token":"\#(refreshToken)","id_token":"\#(idToken)"}"#
        )
    }

    private func publish(_ keys: [SigningKey], on harness: SessionHarness) {
        let set: JSONValue = ["keys": .array(keys.compactMap { $0.publicJWK.map(JSONValue.object) })]
        harness.server.publish(
            .status(200, String(decoding: set.serialized(), as: UTF8.self)), at: "\(Self.issuer)/keys")
    }

    private func refreshToken(_ harness: SessionHarness) -> String? {
        harness.store.stored()?.refreshToken?.withPlaintext { $0 }
    }

    private func failure(_ body: () async throws(LoginError) -> Void) async -> LoginError? {
        do throws(LoginError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `is stored before it is used, and replaces what was there`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            harness.server.script(answer(try idToken(key)))
            let login = try await harness.session.logIn(with: Self.code)
            #expect(login == Login(hasRefreshToken: true, hasIDToken: true))
            #expect(harness.token == "at-login")
            #expect(refreshToken(harness) == "rt-login")
            #expect(await harness.session.status.state == .authorized)
        }
        let body = try #require(harness.server.bodies.last)
        #expect(body.contains("grant_type=authorization_code&code=the-code"))
        #expect(
            body.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&code_verifier=the-verifier"))
    }

    @Test func `that fails leaves the session that there is alone`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        let other = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            await harness.settle()
            let before = try #require(harness.token)
            harness.server.script(
                .status(400, #"{"error":"invalid_grant"}"#), .error(.timedOut), answer("rubbish"),
                answer(try idToken(key) { $0["nonce"] = "n2" }), answer(try idToken(other)),
                answer(try idToken(key) { $0["exp"] = 1_600_000_000 }))
            for _ in 0..<6 {
                let failed = await failure { () async throws(LoginError) in
                    try await harness.session.logIn(with: Self.code)
                }
                #expect(failed != nil)
                #expect(harness.token == before)
                #expect(await harness.session.status.state == .authorized)
            }
            #expect(refreshToken(harness) == "rt1")
        }
    }

    @Test func `with an unsigned id token comes to nothing, whatever is published`() async throws {
        let harness = harness()
        publish([], on: harness)
        let header = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        let payload = try idToken(try SigningKey.generateP256()).split(separator: ".")[1]
        try await harness.run {
            harness.server.script(answer("\(header).\(payload)."))
            let failed = await failure { () async throws(LoginError) in
                try await harness.session.logIn(with: Self.code)
            }
            guard case .failed(let failure)? = failed else {
                Issue.record("\(String(describing: failed))")
                return
            }
            #expect(failure.code == "bad_id_token")
            #expect(harness.store.stored() == nil)
        }
    }

    @Test func `ends a final refusal`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
        try await harness.run("old") {
            await harness.settle()
            #expect(await harness.session.status.state == .loginRequired)
            harness.server.script(answer(try idToken(key)))
            try await harness.session.logIn(with: Self.code)
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `is not made by a daemon that nobody logged in to`() async throws {
        let harness = harness()
        try await harness.run {
            await #expect(throws: TokenError.loginRequired) { try await harness.request() }
            #expect(harness.server.bodies.isEmpty)
            #expect(await harness.session.status.state == .empty)
        }
    }

    @Test func `without a refresh token ends with its access token`() async throws {
        let harness = harness()
        try await harness.run {
            harness.server.script(.status(200, #"{"access_token":"at","expires_in":60}"#))
            let login = try await harness.session.logIn(with: Self.code)
            #expect(login == Login(hasRefreshToken: false, hasIDToken: false))
            #expect(await harness.session.status.state == .authorized)
            await harness.pass(.seconds(61))
            #expect(await harness.session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) { try await harness.request() }
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `needs no metadata where endpoints are given by hand`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) { configuration in
            configuration.issuer = Self.issuer
            configuration.endpoints[.authorization] = HTTPURL("\(Self.issuer)/auth")
        }
        let key = try SigningKey.generateP256()
        try await harness.run {
            let request = try await harness.session.authorizationRequest(redirectURI: "http://127.0.0.1:1/")
            #expect(request.url.hasPrefix("\(Self.issuer)/auth?"))
            harness.server.script(answer(try idToken(key)))
            try await harness.session.logIn(with: Self.code)
            #expect(harness.token == "at-login")
        }
    }

    @Test func `may wait in the store for its exchange`() async throws {
        let harness = harness()
        try await harness.run("old") {
            await harness.settle()
            try await harness.session.keep(Self.code)
            let stored = try #require(harness.store.stored())
            #expect(stored.refreshToken != nil && stored.accessToken != nil)
            let read = try #require(StoredSession(decoding: stored.encoded()))
            #expect(read.pendingCode?.verifier.withPlaintext { $0 } == "the-verifier")
            let waiting = try #require(await harness.session.pendingCode())
            try await harness.session.forget(waiting)
            #expect(harness.store.stored()?.pendingCode == nil)
            #expect(harness.store.stored()?.refreshToken != nil)
        }
    }

    // MARK: Refreshes of a login

    private func loggedIn(
        _ harness: SessionHarness, _ key: SigningKey, _ body: () async throws -> Void
    ) async throws {
        publish([key], on: harness)
        try await harness.run {
            harness.server.script(answer(try idToken(key)))
            try await harness.session.logIn(with: Self.code)
            try await body()
        }
    }

    @Test
    func `refreshed with somebody else's id token keeps the new refresh token and the old access token`()
        async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        try await loggedIn(harness, key) {
            for (index, bad) in [
                try idToken(key) { $0["sub"] = "bob" }, try idToken(key) { $0["aud"] = "other" },
                try idToken(try SigningKey.generateP256()), "rubbish",
            ].enumerated() {
                harness.server.script(answer(bad, accessToken: "bad", refreshToken: "rotated\(index)"))
                await #expect(throws: TokenError.self) {
                    try await harness.session.refresh(waitingAtMost: .seconds(1))
                }
                #expect(refreshToken(harness) == "rotated\(index)")
                #expect(harness.token == "at-login")
                #expect(await harness.session.status.lastError?.code == "bad_id_token")
            }
        }
    }

    @Test func `stores a rotated refresh token before it asks for keys`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        let next = try SigningKey.generateP256()
        try await loggedIn(harness, key) {
            await harness.pass(.seconds(31))
            publish([key, next], on: harness)
            let before = harness.server.urls.count
            harness.server.script(answer(try idToken(next), accessToken: "at2", refreshToken: "rt2"))
            try await harness.session.refresh(waitingAtMost: .seconds(1))
            #expect(harness.token == "at2")
            #expect(
                harness.server.urls.dropFirst(before) == [
                    "https://sso.example/token", "https://sso.example/keys",
                ])
            let saves = harness.journal.entries.filter { $0.hasSuffix(" rt2") }
            #expect(saves.count == 2)
        }
    }

    @Test func `asks for keys that it does not know only so often`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        try await loggedIn(harness, key) {
            func keyRequests() -> Int { harness.server.urls.count { $0.hasSuffix("/keys") } }
            #expect(keyRequests() == 1)
            for _ in 0..<5 {
                harness.server.script(answer(try idToken(try SigningKey.generateP256())))
                try? await harness.session.refresh(waitingAtMost: .seconds(1))
            }
            #expect(keyRequests() == 1)
        }
    }

    @Test func `is refreshed without keys where they cannot be had`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        let sharing = SessionHarness(grantType: .authorizationCode, sharing: harness) { configuration in
            configuration.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys")
        }
        harness.server.publish(.status(503), at: "\(Self.issuer)/keys")
        try await sharing.run("old") {
            harness.server.script(answer(try idToken(key) { $0["nonce"] = nil }, accessToken: "at3"))
            try await sharing.session.refresh(waitingAtMost: .seconds(1))
            #expect(sharing.token == "at3")
        }
    }

    // MARK: On another device

    private static let deviceAnswer =
        #"{"device_code":"dc","user_code":"AB-CD","verification_uri":"https://sso.example/d","expires_in":60,"interval":5}"#

    /// The seconds after which the token endpoint was asked, until the login's end.
    private func polls(
        _ harness: SessionHarness, _ replies: [FakeServer.Reply]
    ) async throws -> (seconds: [Int], error: LoginError?) {
        harness.server.script(.status(200, Self.deviceAnswer))
        let device = try await harness.session.authorizeDevice()
        #expect(device.userCode == "AB-CD" && device.verificationURI == "https://sso.example/d")
        for reply in replies { harness.server.script(reply) }
        let login = Task {
            await failure { () async throws(LoginError) in try await harness.session.logIn(with: device) }
        }
        var seconds: [Int] = []
        var asked = harness.server.bodies.count
        for second in 0...70 {
            await harness.settle()
            if harness.server.bodies.count > asked {
                asked = harness.server.bodies.count
                seconds.append(second)
            }
            harness.clock.advance(by: .seconds(1))
        }
        return (seconds, await login.value)
    }

    private func no(_ code: String) -> FakeServer.Reply { .status(400, #"{"error":"\#(code)"}"#) }

    @Test func `on another device asks at the pace it is told`() async throws {
        let harness = harness()
        try await harness.run {
            let pending = no("authorization_pending")
            let (seconds, error) = try await polls(
                harness,
                [pending, pending, no("slow_down"), pending, .status(200, #"{"access_token":"at"}"#)])
            #expect(error == nil)
            #expect(seconds == [5, 10, 15, 25, 35])
            #expect(harness.server.bodies.last?.contains("device_code=dc") ?? false)
            #expect(harness.store.stored()?.accessToken != nil)
        }
    }

    @Test func `on another device proves that the one who asks is the one who began`() async throws {
        let harness = harness()
        try await harness.run {
            _ = try await polls(harness, [.status(200, #"{"access_token":"at"}"#)])
            let (begun, asked) = (
                harness.server.bodies.suffix(2).first ?? "", harness.server.bodies.last ?? ""
            )
            let verifier = try #require(asked.firstMatch(of: #/code_verifier=([^&]{43})/#)).output.1
            let challenge = Base64URL.encode(SHA256.digest(Array(verifier.utf8)))
            #expect(begun.contains("code_challenge=\(challenge)&code_challenge_method=S256"), "\(begun)")
            #expect(!begun.contains(verifier))
        }
    }

    @Test func `on another device backs off from a server that does not answer`() async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(
                harness, [.error(.timedOut), .status(503), .status(200, #"{"access_token":"at"}"#)])
            #expect(error == nil)
            #expect(seconds == [5, 15, 35])
        }
    }

    @Test func `on another device ends with the code's expiry`() async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(
                harness, Array(repeating: no("authorization_pending"), count: 20))
            #expect(error == .expired)
            #expect(seconds.last == 55)
        }
    }

    @Test(arguments: [
        ("access_denied", LoginError.refused(AuthorizationRefusal(code: .accessDenied, description: nil))),
        ("expired_token", .expired),
    ])
    func `on another device ends with the person's decision`(code: String, expected: LoginError) async throws
    {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(harness, [no(code)])
            #expect(error == expected)
            #expect(seconds == [5])
        }
    }

    @Test(arguments: ["invalid_grant", "invalid_client", "unheard_of"])
    func `on another device ends with any other refusal`(code: String) async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(harness, [no(code)])
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.code == code)
            #expect(seconds == [5])
        }
    }

    @Test(arguments: [
        "{}", #"{"device_code":"d"}"#,
        #"{"device_code":"d","user_code":"\u001b[31m","verification_uri":"x"}"#,
    ])
    func `on another device needs an answer that can be shown`(body: String) async throws {
        let harness = harness()
        try await harness.run {
            harness.server.script(.status(200, body))
            await #expect(throws: TokenFailure.self) { _ = try await harness.session.authorizeDevice() }
        }
    }
}
