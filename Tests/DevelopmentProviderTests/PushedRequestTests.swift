// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth
import Testing

/// Authorization requests that are pushed (RFC 9126).
@Suite struct `Requests pushed to the development provider` {
    private let fixture: ProviderFixture

    init() throws {
        fixture = try ProviderFixture()
    }

    private func push(
        _ more: KeyValuePairs<String, String> = [:], _ fields: (HTTPFields.Name, String)...
    ) async -> ServiceReply {
        let names = Set(more.map(\.key))
        let form =
            [
                ("client_id", "native"), ("response_type", "code"),
                ("redirect_uri", ProviderFixture.redirectURI),
                ("state", "pushed"), ("scope", "openid"), ("code_challenge", ProviderFixture.challenge),
                ("code_challenge_method", "S256"),
            ].filter { !names.contains($0.0) } + more.map { ($0.key, $0.value) }
        return await fixture.post("/par", form, fields)
    }

    private func authorize(_ reply: ServiceReply, client: String = "native") async -> ServiceReply {
        let reference = reply.json["request_uri"]?.string ?? ""
        return await fixture.get("/authorize?client_id=\(client)&request_uri=\(encode(reference))")
    }

    private func logIn(_ page: ServiceReply) async throws -> ServiceReply {
        await fixture.post(
            "/login",
            ["transaction": try page.hidden("transaction"), "username": "alice", "password": "wonderland"])
    }

    @Test func `are referred to once, by their client alone`() async throws {
        let pushed = await push()
        #expect(pushed.status == 201 && pushed.json["expires_in"] == 60)
        #expect(await authorize(pushed, client: "demo").status == 400)
        let answer = try await logIn(await authorize(pushed))
        #expect(try answer.redirect("state") == "pushed")
        #expect(await fixture.redeem(try answer.redirect("code")).status == 200)
        #expect(await authorize(pushed).status == 400, "a reference is good for one use")
        let late = await push()
        fixture.pass(.seconds(60))
        #expect(await authorize(late).status == 400)
        #expect(await authorize(ServiceReply(head: HTTPResponse(status: 201))).status == 400)
    }

    @Test(arguments: [
        ("redirect_uri", "https://evil.example/", "invalid_request"), ("redirect_uri", "", "invalid_request"),
        ("request_uri", "urn:x", "invalid_request"), ("code_challenge", "short", "invalid_request"),
        ("scope", "a\\b", "invalid_scope"), ("client_id", "nobody", "invalid_client"),
        ("client_id", "demo", "invalid_client"), ("response_type", "token", "unsupported_response_type"),
    ])
    func `are refused where they are pushed`(name: String, value: String, error: String) async {
        let reply = await push([name: value])
        #expect(
            reply.json["error"]?.string == error && reply.status == (error == "invalid_client" ? 401 : 400))
    }

    @Test func `with a proof bind their code to its key`() async throws {
        let keys = try (0..<2).map { _ in try ProofKey.generate(for: .es256) }
        func proof(_ path: String, by key: ProofKey) throws -> (HTTPFields.Name, String) {
            let claims: JSONObject = [
                "jti": .string(SecureRandom.word()), "htm": "POST", "iat": 1_800_000_000,
                "htu": .string(ProviderFixture.issuer + path),
            ]
            return (.dpop, try key.sign(claims.serialized(), under: key.header(type: "dpop+jwt")))
        }
        let other = await push(["dpop_jkt": keys[1].thumbprint], try proof("/par", by: keys[0]))
        #expect(other.json["error"] == "invalid_request")
        for redeemer in [0, 1] {
            let pushed = await push([:], try proof("/par", by: keys[0]))
            let code = try await logIn(await authorize(pushed)).redirect("code")
            let form: KeyValuePairs = [
                "grant_type": "authorization_code", "code": code, "client_id": "native",
                "redirect_uri": ProviderFixture.redirectURI, "code_verifier": ProviderFixture.verifier,
            ]
            let reply = await fixture.post("/token", form, try proof("/token", by: keys[redeemer]))
            #expect(reply.status == (redeemer == 0 ? 200 : 400))
        }
    }
}
