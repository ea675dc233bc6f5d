// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import Testing

@Suite struct `The token endpoint` {
    private let fixture: ProviderFixture

    init() throws {
        fixture = try ProviderFixture()
    }

    @Test func `gives a client a signed access token and forbids keeping the answer`() async throws {
        let reply = await fixture.post(
            "/token", ["grant_type": "client_credentials", "scope": "read write read"],
            (.authorization, ProviderFixture.basic))
        #expect(reply.status == 200)
        #expect(reply.head.fields[.cacheControl] == "no-store")
        #expect(reply.json.names == ["access_token", "token_type", "expires_in", "scope"])
        #expect(reply.json["token_type"] == "Bearer")
        #expect(reply.json["expires_in"] == 300)
        #expect(reply.json["scope"] == "read write")

        let token = try JWS(compact: reply.json["access_token"]?.string ?? "")
        try JSONWebKeySet(parsing: await fixture.get("/jwks").bytes).verify(token)
        #expect(token.type == "at+jwt")
        let claims = try #require(token.claims)
        #expect(claims["iss"]?.string == ProviderFixture.issuer)
        #expect(claims["sub"] == "demo")
        #expect(claims["client_id"] == "demo")
        #expect(claims["exp"] == 1_800_000_300)
    }

    @Test func `signs with RSA unless told otherwise`() async throws {
        let fixture = try ProviderFixture(key: .generateRSA())
        let token = try JWS(compact: await fixture.clientToken() ?? "")
        #expect(token.algorithm == .rs256)
        try JSONWebKeySet(parsing: await fixture.get("/jwks").bytes).verify(token)
        #expect(await fixture.get("/jwks").json["keys"]?.array?.first?["d"] == nil)
    }

    @Test func `takes the secret in the body as well, but not both ways at once`() async {
        let form: KeyValuePairs = [
            "grant_type": "client_credentials", "client_id": "demo", "client_secret": "s&cr+t %",
        ]
        #expect(await fixture.post("/token", form).status == 200)
        let both = await fixture.post("/token", form, (.authorization, ProviderFixture.basic))
        #expect(both.status == 400)
        #expect(both.json["error"] == "invalid_request")
    }

    @Test(arguments: [
        "Basic " + Base64.encode(Array("demo:wrong".utf8)), "Basic " + Base64.encode(Array("nobody:x".utf8)),
        "Basic " + Base64.encode(Array("demo:s&cr+t %".utf8)),
        "Basic " + Base64.encode(Array("native:x".utf8)),
        "Basic demo", "Basic", "Bearer x", "Basic " + Base64.encode([0xFF, 0x3A]), "",
    ])
    func `refuses credentials that are not a client's, form-encoded`(field: String) async {
        let reply = await fixture.post(
            "/token", ["grant_type": "client_credentials"], (.authorization, field))
        #expect(reply.status == 401)
        #expect(reply.json["error"] == "invalid_client")
        #expect(reply.head.fields[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
    }

    @Test func `gives a public client nothing for its name alone`() async {
        let reply = await fixture.post("/token", ["grant_type": "client_credentials", "client_id": "native"])
        #expect(reply.status == 400)
        #expect(reply.json["error"] == "unauthorized_client")
    }

    @Test func `refuses what is not a request`() async {
        let basic = (HTTPFields.Name.authorization, ProviderFixture.basic)
        #expect(await fixture.post("/token", [:], basic).json["error"] == "invalid_request")
        #expect(await fixture.post("/token", ["grant_type": ""], basic).json["error"] == "invalid_request")
        #expect(
            await fixture.post("/token", ["grant_type": "magic"], basic).json["error"]
                == "unsupported_grant_type")
        let twice = await fixture.post(
            "/token", ["grant_type": "client_credentials", "grant_type": "client_credentials"], basic)
        #expect(twice.json["error"] == "invalid_request")
        let scope = await fixture.post(
            "/token", ["grant_type": "client_credentials", "scope": "a\"b"], basic)
        #expect(scope.json["error"] == "invalid_scope")
        let json = await fixture.post("/token", ["grant_type": "x"], (.contentType, "application/json"))
        #expect(json.json["error"] == "invalid_request")
        let wrongMethod = await fixture.get("/token")
        #expect(wrongMethod.status == 405)
        #expect(wrongMethod.head.fields[.allow] == "POST")
        #expect(await fixture.get("/nothing").status == 404)
    }

    @Test func `rotates refresh tokens and revokes the login when an old one comes back`() async throws {
        let first = try await fixture.logInAndRedeem()["refresh_token"]?.string
        let second = await fixture.refresh(first)
        #expect(second.status == 200)
        let third = await fixture.refresh(second.json["refresh_token"]?.string)
        #expect(third.status == 200)
        #expect(third.json["refresh_token"]?.string != first)
        let access = third.json["access_token"]?.string
        #expect(await fixture.callAPI("/whoami", token: access).status == 200)

        let reused = await fixture.refresh(first)
        #expect(reused.status == 400)
        #expect(reused.json["error"] == "invalid_grant")
        #expect(await fixture.refresh(third.json["refresh_token"]?.string).json["error"] == "invalid_grant")
        #expect(await fixture.callAPI("/whoami", token: access).status == 401)
    }

    @Test func `gives a refresh token to nobody but its client, and no wider scope`() async throws {
        let token = try await fixture.logInAndRedeem()["refresh_token"]?.string ?? ""
        let stolen = await fixture.post(
            "/token", ["grant_type": "refresh_token", "refresh_token": token],
            (.authorization, ProviderFixture.basic))
        #expect(stolen.json["error"] == "invalid_grant")
        let form: KeyValuePairs = [
            "grant_type": "refresh_token", "refresh_token": token, "client_id": "native",
            "scope": "openid admin",
        ]
        #expect(await fixture.post("/token", form).json["error"] == "invalid_scope")
        #expect(await fixture.refresh(token).status == 200)
        #expect(await fixture.refresh("unknown").json["error"] == "invalid_grant")
    }

    @Test func `forgets refresh tokens after thirty days`() async throws {
        let token = try await fixture.logInAndRedeem()["refresh_token"]?.string
        fixture.pass(.seconds(30 * 86_400))
        #expect(await fixture.refresh(token).json["error"] == "invalid_grant")
    }

    @Test func `revokes on request, and says yes to what it does not know`() async throws {
        let tokens = try await fixture.logInAndRedeem()
        let refresh = tokens["refresh_token"]?.string ?? ""
        let access = tokens["access_token"]?.string ?? ""
        let byAnother = await fixture.post(
            "/revoke", ["token": refresh], (.authorization, ProviderFixture.basic))
        #expect(byAnother.status == 200)
        #expect(await fixture.callAPI("/whoami", token: access).status == 200)
        #expect(await fixture.post("/revoke", ["token": refresh, "client_id": "native"]).status == 200)
        #expect(await fixture.refresh(refresh).json["error"] == "invalid_grant")
        #expect(await fixture.callAPI("/whoami", token: access).status == 401)

        let single = await fixture.clientToken()
        #expect(await fixture.callAPI("/whoami", token: single).status == 200)
        let revoked = await fixture.post(
            "/revoke", ["token": single ?? ""], (.authorization, ProviderFixture.basic))
        #expect(revoked.status == 200)
        #expect(await fixture.callAPI("/whoami", token: single).status == 401)
        #expect(await fixture.post("/revoke", ["token": "x", "client_id": "native"]).status == 200)
        #expect(await fixture.post("/revoke", ["token": "x"]).status == 401)
    }
}
