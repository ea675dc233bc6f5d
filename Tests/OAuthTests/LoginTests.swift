// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

@Suite
struct `A login` {
    static let issuer = "https://sso.example"
    static let code = AuthorizationCode(
        code: Secret("the-code"), redirectURI: "http://127.0.0.1:1/callback",
        verifier: Secret("the-verifier"),
        nonce: Secret("n1"))

    func harness() -> SessionHarness {
        SessionHarness(grantType: .authorizationCode) { configuration in
            configuration.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys")
            configuration.endpoints[.deviceAuthorization] = HTTPURL("\(Self.issuer)/device")
        }
    }

    func idToken(_ key: SigningKey, _ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "app", "sub": "alice", "exp": 1_700_000_300,
            "iat": 1_700_000_000,
            "nonce": "n1",
        ]
        change(&claims)
        return try key.sign(claims.serialized())
    }

    func answer(
        _ idToken: String, accessToken: String = "at-login", refreshToken: String = "rt-login"
    ) -> FakeServer.Reply {
        .status(
            200,
            #"{"access_token":"\#(accessToken)","expires_in":300,"refresh_token":"\#(refreshToken)","id_token":"\#(idToken)"}"#
        )
    }

    func publish(_ keys: [SigningKey], on harness: SessionHarness) {
        harness.server.publish(self.keys(keys), at: "\(Self.issuer)/keys")
    }

    func keys(_ keys: [SigningKey]) -> FakeServer.Reply {
        let set: JSONValue = ["keys": .array(keys.compactMap { $0.publicJWK.map(JSONValue.object) })]
        return .status(200, String(decoding: set.serialized(), as: UTF8.self))
    }

    func refreshToken(_ harness: SessionHarness) -> String? {
        harness.store.stored()?.refreshToken?.withPlaintext { $0 }
    }

    @Test func `is stored before it is used, and replaces what was there`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            harness.server.script(answer(try idToken(key)))
            let login = try await harness.session.logIn(with: Self.code)
            #expect(login == Login(hasRefreshToken: true, hasIDToken: true, personName: "alice"))
            #expect(harness.token == "at-login")
            #expect(refreshToken(harness) == "rt-login")
            #expect(await harness.session.status.state == .authorized)
        }
        let body = try #require(harness.server.bodies.last)
        #expect(body.contains("grant_type=authorization_code&code=the-code"))
        #expect(
            body.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&code_verifier=the-verifier"))
    }

    @Test(arguments: ["", #","id_token":5"#, #","id_token":"""#, #","id_token":null"#, #","id_token":[]"#])
    func `without an id token is none where the scope has openid`(member: String) async throws {
        let harness = harness()
        func answer(_ more: String) -> FakeServer.Reply {
            .status(
                200,
                #"{"access_token":"at-login","expires_in":300,"refresh_token":"rt-login"\#(member)\#(more)}"#)
        }
        publish([], on: harness)
        try await harness.run("old") {
            for more in ["", #","scope":"openid email""#] {
                harness.server.script(answer(more))
                let failed = await failure { () async throws(LoginError) in
                    try await harness.session.logIn(with: Self.code)
                }
                guard case .failed(let failure)? = failed else {
                    Issue.record("\(String(describing: failed))")
                    return
                }
                #expect(failure.reason == .badIDToken)
                #expect(harness.token == "at1" && refreshToken(harness) == "rt1", "the session stays")
                let grant = GrantType.authorizationCode.shortName
                let told = harness.journal.entries.last { $0.hasPrefix(grant) }
                #expect(told?.hasSuffix(failure.kind.rawValue) == true, "and nobody hears of a token")
            }
            harness.server.script(answer(#","scope":"read""#))
            let login = try await harness.session.logIn(with: Self.code)
            #expect(!login.hasIDToken && harness.token == "at-login", "openid was not granted")
        }
    }

    @Test func `that is made twice at once fetches the keys once`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        harness.server.publish(.held, at: "\(Self.issuer)/keys")
        try await harness.run("old") {
            harness.server.script(answer(try idToken(key)), answer(try idToken(key)))
            let logins = (0..<2).map { _ in Task { try await harness.session.logIn(with: Self.code) } }
            await harness.settle()
            harness.server.release(with: keys([key]))
            for login in logins { #expect(try await login.value.hasIDToken) }
            #expect(harness.server.urls.count { $0.hasSuffix("/keys") } == 1)
        }
    }

    @Test func `whose keys cannot be fetched fails for all who waited, and the next fetches anew`()
        async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        harness.server.publish(.held, at: "\(Self.issuer)/keys")
        try await harness.run("old") {
            for _ in 0..<3 { harness.server.script(answer(try idToken(key))) }
            let logins = (0..<2).map { _ in Task { try await harness.session.logIn(with: Self.code) } }
            await harness.settle()
            harness.server.release(with: .status(500))
            for login in logins { await #expect(throws: LoginError.self) { try await login.value } }
            publish([key], on: harness)
            #expect(try await harness.session.logIn(with: Self.code).hasIDToken)
            #expect(harness.server.urls.count { $0.hasSuffix("/keys") } == 2)
        }
    }

    @Test func `that is given up while it fetches the keys leaves that to the next`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        harness.server.publish(.held, at: "\(Self.issuer)/keys")
        try await harness.run("old") {
            harness.server.script(answer(try idToken(key)), answer(try idToken(key)))
            let first = Task { try await harness.session.logIn(with: Self.code) }
            await harness.settle()
            let second = Task { try await harness.session.logIn(with: Self.code) }
            await harness.settle()
            publish([key], on: harness)
            first.cancel()
            harness.server.release(with: .error(.interrupted("cancelled")))
            #expect(try await second.value.hasIDToken)
            await #expect(throws: LoginError.self) { try await first.value }
        }
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
            #expect(await harness.session.status.state == .loginRequired)
            #expect(harness.journal.entries == ["state login_required"])
        }
    }

    @Test func `without a refresh token ends with its access token`() async throws {
        let harness = harness()
        try await harness.run {
            harness.server.script(.status(200, #"{"access_token":"at","expires_in":60,"scope":"read"}"#))
            let login = try await harness.session.logIn(with: Self.code)
            #expect(login == Login(hasRefreshToken: false, hasIDToken: false))
            let status = await harness.session.status
            #expect(status.state == .authorized && status.lastError?.code == "no_refresh_token")
            #expect(status.comingTrouble == nil && status.lastError?.isFailure == false)
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
            #expect(await harness.session.pendingCode()?.redirectURI == Self.code.redirectURI)
        }
    }

    // MARK: Refreshes of a login

    func loggedIn(
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
    func
        `refreshed with an id token that is not believed keeps the new refresh token and the old access token`()
        async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        try await loggedIn(harness, key) {
            for (index, bad) in [
                try idToken(key) { $0["aud"] = "other" },
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
            #expect(keyRequests() == 2)
        }
    }

    @Test func `takes a new key of the server's at once, each time that there is one`() async throws {
        let harness = harness()
        try await loggedIn(harness, try SigningKey.generateP256()) {
            for number in 1...3 {
                let next = try SigningKey.generateP256()
                publish([next], on: harness)
                let token = try idToken(next) { $0["nonce"] = nil }
                harness.server.script(answer(token, accessToken: "new\(number)"))
                try await harness.session.refresh(waitingAtMost: .seconds(1))
                #expect(harness.token == "new\(number)")
            }
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
}
