// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import OAuth
import Testing

struct `Actions on identities` {
    private let admin: [(HTTPFields.Name, String)] = [(.bearerdAdmin, "1")]

    @Test(arguments: ["refresh", "invalidate"])
    func `an action reaches the identity and answers with its status`(action: String) async {
        let fixture = AdminFixture()
        let identities = fixture.identities()
        let answer = await fixture.send(.post, "/api/identities/two%20words/\(action)", admin, to: identities)
        #expect(answer.status == 200)
        #expect(answer.json?["name"] == "two words")
        #expect(identities.actions == ["\(action) two words"])
    }

    @Test(
        arguments: [
            (TokenError.loginRequired, "login_required", "30"),
            (.misconfigured(retryAfter: .seconds(7)), "misconfigured", "7"),
            (.unavailable(retryAfter: .milliseconds(20)), "idp_unavailable", "1"),
        ])
    func `an action that brings no token says why`(
        failure: TokenError, code: String, retryAfter: String
    ) async {
        let answer = await AdminFixture(failure: failure).send(
            .post, "/api/identities/default/refresh", admin)
        #expect(answer.status == 503)
        #expect(answer.code == code)
        #expect(answer.fields[.retryAfter] == retryAfter)
    }

    @Test(arguments: ["revoke", "logout", "register", "userinfo"])
    func `an action on a session that a source does not have names the source`(action: String) async {
        let fixture = AdminFixture(sources: ["default": .fixed])
        let identities = fixture.identities()
        let answer = await fixture.send(.post, "/api/identities/default/\(action)", admin, to: identities)
        #expect(answer.status == 403 && answer.code == "access_denied")
        #expect(answer.json?["detail"]?.string?.contains("source: static") == true, "\(answer.text)")
        #expect(identities.actions.isEmpty)
        #expect(await fixture.send(.post, "/api/identities/default/refresh", admin).status == 200)
    }

    @Test(arguments: [
        "/api/identities/nobody/refresh", "/api/identities//refresh", "/api/identities/%zz/refresh",
    ])
    func `an unknown identity is not found`(path: String) async {
        let answer = await AdminFixture().send(.post, path, admin)
        #expect(answer.status == 404)
        #expect(!path.contains("nobody") || answer.text.contains("has no identity 'nobody'"))
    }

    @Test func `an action takes nothing but POST`() async {
        let answer = await AdminFixture().get("/api/identities/default/refresh")
        #expect(answer.status == 405)
        #expect(answer.fields[.allow] == "POST")
    }

    @Test func `quit is off unless the configuration allows it`() async {
        let closed = AdminFixture()
        let refused = await closed.send(.post, "/api/quit", admin)
        #expect(refused.status == 404 && refused.text.contains("admin.quit"))
        #expect(closed.process.quitCount == 0)
        let open = AdminFixture(allowsQuit: true)
        #expect(await open.send(.post, "/api/quit", admin).status == 202)
        #expect(open.process.quitCount == 1)
    }

    @Test func `userinfo answers the claims`() async {
        let answer = await AdminFixture().send(.post, "/api/identities/default/userinfo", admin)
        #expect(answer.status == 200 && answer.json == ["sub": "user-1"])
    }

    @Test(arguments: [
        ("revoke", ["refresh_token", "access_token"]), ("revoke/access_token", ["access_token"]),
        ("revoke/refresh_token", ["refresh_token"]),
    ])
    func `revoke answers which tokens there were`(path: String, tokens: [String]) async {
        let identities = AdminFixture().identities()
        let answer = await AdminFixture().send(
            .post, "/api/identities/default/\(path)", admin, to: identities)
        #expect(answer.json?["revoked"]?.array?.compactMap(\.string) == tokens)
        #expect(identities.actions == ["revoke \(tokens) default"])
    }

    @Test func `logout answers what became of each step, and why one failed`() async {
        let answer = await AdminFixture().send(.post, "/api/identities/default/logout", admin)
        #expect(answer.status == 200)
        #expect(
            answer.json == [
                "revocation": "requested", "end_session": "failed", "reasons": ["it failed (http_500)"],
            ])
    }

    @Test func `register answers which client there is, and when its secret ends`() async {
        let answer = await AdminFixture().send(.post, "/api/identities/default/register", admin)
        #expect(answer.json == ["client_id": "made", "client_secret_expires_at": 7])
    }

    @Test func `session takes over what a command began, and nothing else`() async {
        let path = "/api/identities/default/session"
        let code = AuthorizationCode(
            code: Secret("c"), redirectURI: "http://127.0.0.1:1/", verifier: Secret("v"), nonce: Secret("n"))
        let outdone = AuthorizationCode(
            code: Secret("outdone"), redirectURI: code.redirectURI, verifier: code.verifier, nonce: code.nonce
        )
        for (transfer, status, word) in [
            (.code(code), 200, nil), (.kept(code), 200, nil), (.code(outdone), 409, "login_outdone"),
            (
                .imported(
                    refreshToken: Secret("r"), idToken: nil, scope: ["a"], clientID: "old", person: nil,
                    binding: "https://sso.example.com web"), 200, nil
            ),
            (.pending, 502, "login_refused"),
            (
                .device(
                    code: Secret("d"), verifier: Secret("v"), interval: .seconds(5), lifetime: .seconds(60),
                    binding: nil),
                504, "login_expired"
            ),
        ] as [(SessionTransfer, Int, String?)] {
            let answer = await AdminFixture().send(.post, path, admin, body: transfer.json.serialized())
            #expect(answer.status == status && answer.code == word, "\(answer.text)")
        }
        for text in [
            "", "{}", "[]", #"{"kind":"other"}"#, #"{"kind":"code","code":"c"}"#, #"{"kind":"imported"}"#,
            #"{"kind":"device","device_code":"d","code_verifier":"v","interval":0,"expires_in":60}"#,
            #"{"kind":"device","device_code":"d","code_verifier":"v","interval":5,"expires_in":9223372036854775807}"#,
        ] {
            let answer = await AdminFixture().send(.post, path, admin, body: Array(text.utf8))
            #expect(answer.status == 400 && answer.code == "bad_request", "\(text)")
        }
        #expect(await AdminFixture().send(.post, path).status == 403)
        #expect(await AdminFixture().get(path).status == 405)
        let nobody = await AdminFixture().send(.post, "/api/identities/nobody/session", admin)
        #expect(nobody.status == 404)
    }

    @Test(arguments: ["userinfo", "revoke", "revoke/access_token", "logout", "register"])
    func `actions of a session need the header, a known identity and POST`(action: String) async {
        let fixture = AdminFixture()
        #expect(await fixture.send(.post, "/api/identities/default/\(action)").status == 403)
        #expect(await fixture.send(.post, "/api/identities/nobody/\(action)", admin).status == 404)
        #expect(await fixture.get("/api/identities/default/\(action)").status == 405)
        let answer = await AdminFixture(failure: .loginRequired).send(
            .post, "/api/identities/default/\(action)", admin)
        #expect(answer.status == 503 && answer.code == "login_required")
    }

    @Test func `a reload is done, and a refused one says where the file is wrong`() async {
        let done = await AdminFixture().send(.post, "/api/reload", admin)
        #expect(done.status == 200 && done.json?["reloaded"] == true)
        let fault = ConfigurationFault(
            file: "c.yaml", line: 3, column: 7, key: "listne", message: "unknown key")
        let refused = await AdminFixture(process: FakeProcess(refusal: .invalid([fault]))).send(
            .post, "/api/reload", admin)
        #expect(refused.status == 422 && refused.code == "config_invalid")
        #expect(refused.fields[.contentType] == "application/problem+json")
        #expect(
            refused.json?["errors"] == [
                ["file": "c.yaml", "line": 3, "column": 7, "key": "listne", "message": "unknown key"]
            ])
        let hindered = await AdminFixture(process: FakeProcess(refusal: .restartNeeded(keys: ["workers"])))
            .send(.post, "/api/reload", admin)
        #expect(hindered.status == 422 && hindered.code == "restart_needed")
        #expect(hindered.json?["keys"] == ["workers"])
        #expect(await AdminFixture().send(.post, "/api/reload").status == 403)
        #expect(await AdminFixture().get("/api/reload").status == 405)
    }
}
