// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth
import Testing

/// Tokens that are bound to a key (RFC 9449).
@Suite struct `Bound tokens of the development provider` {
    private static let tokenEndpoint = ProviderFixture.issuer + "/token"
    private let fixture: ProviderFixture
    private let key: ProofKey

    init() throws {
        fixture = try ProviderFixture()
        key = try .generate(for: .es256)
    }

    /// A proof, good unless `change` changes its claims.
    private func proof(
        _ method: String, _ uri: String, token: String? = nil, by key: ProofKey? = nil,
        type: String = "dpop+jwt",
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var claims: JSONObject = [
            "jti": .string(SecureRandom.word()), "htm": .string(method), "htu": .string(uri),
            "iat": 1_800_000_000,
        ]
        if let token { claims["ath"] = .string(Base64URL.encode(SHA256.digest(Array(token.utf8)))) }
        change(&claims)
        let key = key ?? self.key
        return try key.sign(claims.serialized(), under: key.header(type: type))
    }

    /// A token request of the confidential client.
    private func token(_ proof: String) async -> ServiceReply {
        await fixture.post(
            "/token", ["grant_type": "client_credentials"], (.authorization, ProviderFixture.basic),
            (.dpop, proof))
    }

    private func callAPI(_ token: String, _ proof: String?, scheme: String = "DPoP") async -> ServiceReply {
        var fields = [(HTTPFields.Name.authorization, "\(scheme) \(token)")]
        if let proof { fields.append((.dpop, proof)) }
        return await fixture.callAPI("/whoami?a=b", fields)
    }

    @Test(arguments: [JWSAlgorithm.es256, .edDSA])
    func `name the key that the request proved, and need a proof of it`(algorithm: JWSAlgorithm) async throws
    {
        let key = try ProofKey.generate(for: algorithm)
        let reply = await token(try proof("POST", Self.tokenEndpoint, by: key))
        #expect(reply.json["token_type"] == "DPoP")
        let text = try #require(reply.json["access_token"]?.string)
        #expect(try JWS(compact: text).claims?["cnf"] == ["jkt": .string(key.thumbprint)])
        let url = ProviderFixture.issuer + "/whoami"
        let shown = try proof("GET", url, token: text, by: key)
        #expect(await callAPI(text, shown).json["sub"] == "demo")
        #expect(await callAPI(text, shown).json["error_description"] == "jti was used before")
        #expect(await callAPI(text, nil).json["error"] == "invalid_dpop_proof")
        #expect(await callAPI(text, try proof("GET", url, token: text)).json["error"] == "invalid_token")
        let bearer = await callAPI(text, nil, scheme: "Bearer")
        #expect(bearer.status == 401 && bearer.head.fields[.wwwAuthenticate]?.hasPrefix("DPoP ") == true)
        let unbound = try #require(await fixture.clientToken())
        #expect(
            await callAPI(unbound, try proof("GET", url, token: unbound)).json["error"] == "invalid_token")
    }

    @Test func `come for no proof but a good one`() async throws {
        let endpoint = Self.tokenEndpoint
        let bad = [
            "", "x", "a.b.c", try proof("GET", endpoint), try proof("POST", ProviderFixture.issuer + "/par"),
            try proof("POST", endpoint + "?a=b"), try proof("POST", endpoint, token: "x"),
            try proof("POST", endpoint, type: "jwt"), try proof("POST", endpoint) { $0["jti"] = nil },
            try proof("POST", endpoint) { $0["iat"] = 1_799_999_939 },
            try proof("POST", endpoint) { $0["iat"] = 1_800_000_061 },
            try proof("POST", endpoint) { $0["iat"] = nil },
            try String(proof("POST", endpoint).dropLast(4)) + "AAAA",
            try SigningKey.generateP256().sign(Array("{}".utf8), type: "dpop+jwt"),
        ]
        for proof in bad {
            let reply = await token(proof)
            #expect(reply.status == 400 && reply.json["error"] == "invalid_dpop_proof", "\(proof)")
        }
        let good = try proof("POST", endpoint)
        #expect(await token(good).status == 200)
        #expect(await token(good).json["error"] == "invalid_dpop_proof", "each proof is good for one request")
    }

    @Test func `of a public client are refreshed by who has the key alone`() async throws {
        let code = try await fixture.logIn("native").redirect("code")
        let form: KeyValuePairs = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": ProviderFixture.redirectURI,
            "code_verifier": ProviderFixture.verifier, "client_id": "native",
        ]
        let tokens = await fixture.post("/token", form, (.dpop, try proof("POST", Self.tokenEndpoint))).json
        let access = tokens["access_token"]?.string ?? ""
        let userinfo = ProviderFixture.issuer + "/userinfo"
        let answer = await fixture.get(
            "/userinfo", (.authorization, "DPoP \(access)"),
            (.dpop, try proof("GET", userinfo, token: access)))
        #expect(answer.json["sub"] == "alice")
        let refresh: KeyValuePairs = [
            "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]?.string ?? "",
            "client_id": "native",
        ]
        #expect(await fixture.post("/token", refresh).json["error"] == "invalid_grant")
        let other = try ProofKey.generate(for: .es256)
        let stolen = try proof("POST", Self.tokenEndpoint, by: other)
        #expect(await fixture.post("/token", refresh, (.dpop, stolen)).json["error"] == "invalid_grant")
        let own = try proof("POST", Self.tokenEndpoint)
        #expect(await fixture.post("/token", refresh, (.dpop, own)).json["token_type"] == "DPoP")
    }
}
