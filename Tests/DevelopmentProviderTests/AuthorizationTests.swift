// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import Testing

@Suite struct `The authorization endpoint` {
    private let fixture: ProviderFixture

    init() throws {
        fixture = try ProviderFixture()
    }

    @Test func `leads over the login page to a code, and the code to tokens of the user`() async throws {
        let answer = try await fixture.logIn("native")
        #expect(answer.status == 303)
        #expect(answer.head.fields[.location]?.hasPrefix(ProviderFixture.redirectURI + "?code=") == true)
        #expect(try answer.redirect("state") == "st%26te")
        #expect(try answer.redirect("iss") == "http%3A%2F%2F127.0.0.1%3A9080")

        let tokens = await fixture.redeem(try answer.redirect("code")).json
        let idToken = try JWS(compact: tokens["id_token"]?.string ?? "")
        try JSONWebKeySet(parsing: await fixture.get("/jwks").bytes).verify(idToken)
        #expect(idToken.claims?["sub"] == "alice")
        #expect(idToken.claims?["aud"] == "native")
        #expect(idToken.claims?["nonce"] == "n-1")
        #expect(idToken.claims?["auth_time"] == 1_800_000_000)

        let access = tokens["access_token"]?.string ?? ""
        let userinfo = await fixture.get("/userinfo", (.authorization, "bearer \(access)"))
        #expect(
            userinfo.json == [
                "sub": "alice", "name": "Alice Liddell", "preferred_username": "alice",
                "email": "alice@example.com",
                "email_verified": true,
            ])
    }

    @Test func `redeems a code once, and a second try revokes what came of it`() async throws {
        let code = try await fixture.logIn("native").redirect("code")
        let tokens = await fixture.redeem(code).json
        #expect(await fixture.redeem(code).json["error"] == "invalid_grant")
        #expect(await fixture.refresh(tokens["refresh_token"]?.string).json["error"] == "invalid_grant")
    }

    @Test func `redeems a code for nothing but the request it belongs to`() async throws {
        func code() async throws -> String { try await fixture.logIn("native").redirect("code") }
        let wrongVerifier = await fixture.redeem(
            try await code(), verifier: String(repeating: "a", count: 43))
        #expect(wrongVerifier.json["error"] == "invalid_grant")
        let wrongRedirect = await fixture.redeem(
            try await code(), redirectURI: "http://127.0.0.1:4712/callback")
        #expect(wrongRedirect.json["error"] == "invalid_grant")
        let late = try await code()
        fixture.pass(.seconds(60))
        #expect(await fixture.redeem(late).json["error"] == "invalid_grant")
        let other = try await fixture.logIn("demo").redirect("code")
        #expect(await fixture.redeem(other).json["error"] == "invalid_grant")
    }

    @Test(arguments: [
        ("code_challenge", "", "invalid_request"), ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"), ("code_challenge", "short", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("response_mode", "fragment", "unsupported_response_type"),
        ("scope", "a\\b", "invalid_scope"), ("request", "x", "request_not_supported"),
        ("prompt", "none", "login_required"),
    ])
    func `tells the client what is wrong with its request`(
        name: String, value: String, error: String
    ) async throws {
        let reply = await fixture.get(ProviderFixture.authorization("native", [name: value]))
        #expect(reply.status == 303)
        #expect(try reply.redirect("error") == error)
        #expect(try reply.redirect("state") == "st%26te")
    }

    @Test(arguments: [
        ("native", "https://evil.example/callback"), ("native", "http://127.0.0.1:4711/other"),
        ("native", "http://127.0.0.1.evil.example/callback"),
        ("native", "http://127.0.0.1@evil.example/callback"),
        ("native", "https://127.0.0.1/callback"), ("native", "http://127.0.0.1/callback?x=y"), ("native", ""),
        ("native", "javascript:alert(1)"), ("nobody", ProviderFixture.redirectURI),
        ("web", "https://web.example/cb"),
        ("web", "https://web.example/cb?a=c"), ("web", ProviderFixture.redirectURI),
    ])
    func `sends nobody to an address that is not the client's`(client: String, uri: String) async {
        let reply = await fixture.get(ProviderFixture.authorization(client, ["redirect_uri": uri]))
        #expect(reply.status == 400)
        #expect(!reply.head.fields.contains(.location))
    }

    @Test(arguments: [
        ("native", "http://127.0.0.1/callback"), ("native", "http://127.0.0.1:65535/callback"),
        ("web", "https://web.example/cb?a=b"),
    ])
    func `takes any port of a loopback address and the exact text of others`(
        client: String, uri: String
    ) async {
        let reply = await fixture.get(ProviderFixture.authorization(client, ["redirect_uri": uri]))
        #expect(reply.status == 200)
        #expect(reply.text.contains("wonderland"))
    }

    @Test func `keeps the query of a redirect URI`() async throws {
        let page = await fixture.get(
            ProviderFixture.authorization(
                "web", ["redirect_uri": "https://web.example/cb?a=b", "prompt": "login"]))
        let answer = await fixture.post(
            "/login",
            ["transaction": try page.hidden("transaction"), "username": "alice", "password": "wonderland"])
        #expect(answer.head.fields[.location]?.hasPrefix("https://web.example/cb?a=b&code=") == true)
    }

    @Test func `asks again after a wrong password and takes no for an answer`() async throws {
        let page = await fixture.get(ProviderFixture.authorization("native"))
        let transaction = try page.hidden("transaction")
        let wrong = await fixture.post(
            "/login", ["transaction": transaction, "username": "alice", "password": "looking-glass"])
        #expect(wrong.status == 200)
        #expect(wrong.text.contains("Wrong name or password"))
        let cancelled = await fixture.post("/login", ["transaction": transaction, "decision": "cancel"])
        #expect(try cancelled.redirect("error") == "access_denied")
        let late = await fixture.post(
            "/login", ["transaction": transaction, "username": "alice", "password": "wonderland"])
        #expect(late.status == 400)
        #expect(!late.head.fields.contains(.location))
    }

    @Test func `remembers the browser until it logs out`() async throws {
        let answer = try await fixture.logIn("native")
        let cookie = String(answer.head.fields[.setCookie]?.split(separator: ";").first ?? "")
        #expect(answer.head.fields[.setCookie]?.contains("HttpOnly; SameSite=Lax") == true)
        let again = await fixture.get(
            ProviderFixture.authorization("native", ["prompt": "none"]), (.cookie, cookie))
        let tokens = await fixture.redeem(try again.redirect("code")).json
        let fresh = await fixture.get(
            ProviderFixture.authorization("native", ["prompt": "login"]), (.cookie, cookie))
        #expect(fresh.status == 200)

        let hint = tokens["id_token"]?.string ?? ""
        let loggedOut = await fixture.post(
            "/end_session",
            ["id_token_hint": hint, "post_logout_redirect_uri": "http://127.0.0.1:99/", "state": "s"],
            (.cookie, cookie))
        #expect(loggedOut.head.fields[.location] == "http://127.0.0.1:99/?state=s")
        #expect(await fixture.refresh(tokens["refresh_token"]?.string).json["error"] == "invalid_grant")
        let after = await fixture.get(
            ProviderFixture.authorization("native", ["prompt": "none"]), (.cookie, cookie))
        #expect(try after.redirect("error") == "login_required")
    }

    @Test func `asks before a logout that somebody else may have wanted`() async throws {
        let cookie = String(
            try await fixture.logIn("native").head.fields[.setCookie]?.split(separator: ";").first ?? "")
        let asked = await fixture.get("/end_session?client_id=native", (.cookie, cookie))
        #expect(asked.status == 200)
        let still = await fixture.get(
            ProviderFixture.authorization("native", ["prompt": "none"]), (.cookie, cookie))
        #expect(try !still.redirect("code").isEmpty)
        #expect(await fixture.post("/end_session", ["decision": "logout"], (.cookie, cookie)).status == 200)
        let gone = await fixture.get(
            ProviderFixture.authorization("native", ["prompt": "none"]), (.cookie, cookie))
        #expect(try gone.redirect("error") == "login_required")
    }

    @Test func `refuses a logout with a foreign hint or to a foreign address`() async throws {
        #expect(await fixture.get("/end_session?id_token_hint=x").status == 400)
        let access = await fixture.clientToken() ?? ""
        #expect(await fixture.get("/end_session?id_token_hint=\(access)").status == 400)
        let target = encode("https://evil.example/")
        let reply = await fixture.get("/end_session?client_id=native&post_logout_redirect_uri=\(target)")
        #expect(reply.status == 400)
        #expect(!reply.head.fields.contains(.location))
    }

    @Test func `puts nothing into a page that a browser takes for markup`() async {
        let evil = "\"><script>alert('x')</script>&"
        let pages = [
            await fixture.get("/device?user_code=\(encode(evil))"),
            await fixture.post("/device", ["user_code": evil, "username": evil, "password": evil]),
            await fixture.get(
                ProviderFixture.authorization("native", ["state": evil, "nonce": evil, "scope": "a"])),
            await fixture.get("/authorize?client_id=\(encode(evil))"),
            await fixture.get("/authorize?\(encode(evil))=%"),
        ]
        for page in pages {
            #expect(!page.text.contains("<script"))
            #expect(page.head.fields[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        }
        #expect(pages[0].text.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"))
    }

    @Test func `answers to names of this machine only`() async {
        #expect(await fixture.get("/", (.host, "localhost:9080")).status == 200)
        #expect(await fixture.get("/", (.host, "evil.example:9080")).status == 421)
        #expect(await fixture.get("/token", (.host, "")).status == 421)
    }

    @Test func `lets a device log in through another one`() async throws {
        let start = await fixture.post("/device_authorization", ["client_id": "native", "scope": "openid"])
        let code = start.json["device_code"]?.string ?? ""
        func poll() async -> JSONObject {
            await fixture.post(
                "/token",
                [
                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code,
                    "client_id": "native",
                ]
            ).json
        }
        #expect(await poll()["error"] == "authorization_pending")
        #expect(await poll()["error"] == "slow_down")
        fixture.pass(.seconds(10))
        #expect(await poll()["error"] == "authorization_pending")

        let typed = start.json["user_code"]?.string?.lowercased() ?? ""
        let form: KeyValuePairs = ["user_code": typed, "username": "alice", "password": "wonderland"]
        #expect(await fixture.post("/device", form).text.contains("goes on by itself"))
        #expect(await fixture.post("/device", form).text.contains("no such code"))
        let tokens = await poll()
        #expect(try JWS(compact: tokens["id_token"]?.string ?? "").claims?["sub"] == "alice")
        #expect(await poll()["error"] == "expired_token")
    }
}
