// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdDevelopmentProvider
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth
import Testing

@Suite struct `Discovery and the sample API` {
    private let fixture: ProviderFixture

    init() throws {
        fixture = try ProviderFixture()
    }

    @Test(arguments: ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"])
    func `both documents name the issuer and endpoints that answer`(path: String) async {
        let document = await fixture.get(path).json
        #expect(document["issuer"]?.string == ProviderFixture.issuer)
        for (name, value) in document where name.hasSuffix("_endpoint") || name == "jwks_uri" {
            let endpoint = value.string ?? ""
            #expect(endpoint.hasPrefix(ProviderFixture.issuer + "/"))
            #expect(await fixture.get(String(endpoint.dropFirst(ProviderFixture.issuer.count))).status != 404)
        }
    }

    @Test func `whoami shows the claims of the token and not the token`() async throws {
        let token = try #require(await fixture.clientToken(scope: "read"))
        let reply = await fixture.callAPI("/whoami?a=b", token: token)
        #expect(reply.status == 200)
        #expect(reply.json["sub"] == "demo")
        #expect(reply.json["scope"] == "read")
        #expect(reply.json["request"]?["method"] == "GET")
        #expect(reply.json["request"]?["path"] == "/whoami")
        #expect(reply.json["request"]?["query"] == "a=b")
        #expect(!reply.text.contains(token))
    }

    @Test func `echo shows the request, its headers in order, and not the token`() async throws {
        let token = try #require(await fixture.clientToken())
        let reply = await fixture.callAPI("/echo", token: token, method: .post, body: Array("héllo".utf8))
        #expect(reply.json["method"] == "POST")
        #expect(reply.json["body"] == "héllo")
        #expect(
            reply.json["headers"] == [
                ["name": "Host", "value": "127.0.0.1:9080"],
                ["name": "Authorization", "value": "[redacted]"],
            ])
        #expect(!reply.text.contains(token))
        #expect(await fixture.callAPI("/echo", token: token, body: [0xFF]).json["body_base64"] == "/w==")
    }

    @Test func `events are a stream of server-sent events`() async {
        let reply = await fixture.callAPI("/events", token: await fixture.clientToken())
        #expect(reply.status == 200)
        #expect(reply.head.fields[.contentType] == "text/event-stream")
        guard case .stream = reply.body else {
            Issue.record("the events should come one by one")
            return
        }
    }

    @Test(arguments: ["/whoami", "/echo", "/events", "/nothing"])
    func `without a valid token there is a 401 with a challenge`(path: String) async throws {
        let none = await fixture.callAPI(path, token: nil)
        #expect(none.status == 401)
        #expect(
            none.head.fields[.wwwAuthenticate]
                == #"Bearer realm="development", DPoP realm="development", algs="ES256 EdDSA""#)

        let token = try #require(await fixture.clientToken())
        let parts = token.split(separator: ".").map(String.init)
        let foreign = try await ProviderFixture().clientToken() ?? ""
        let forged = try SigningKey.generateP256().sign(Base64URL.decode(parts[1]) ?? [])
        let unsigned = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + ".\(parts[1])."
        for bad in ["x", "a.b.c", String(token.dropLast(5)), foreign, forged, unsigned] {
            let reply = await fixture.callAPI(path, token: bad)
            #expect(reply.status == 401)
            #expect(reply.head.fields[.wwwAuthenticate]?.contains(#"error="invalid_token""#) == true)
        }
        fixture.pass(.seconds(299))
        #expect(await fixture.callAPI(path, token: token).status != 401)
        fixture.pass(.seconds(1))
        #expect(await fixture.callAPI(path, token: token).status == 401)
    }

    @Test func `an id token opens nothing`() async throws {
        let idToken = try await fixture.logInAndRedeem()["id_token"]?.string
        #expect(await fixture.callAPI("/whoami", token: idToken).status == 401)
        let userinfo = await fixture.get("/userinfo", (.authorization, "Bearer \(idToken ?? "")"))
        #expect(userinfo.status == 401)
    }

    @Test func `userinfo is for tokens of users with openid`() async {
        #expect(await fixture.get("/userinfo").status == 401)
        let token = await fixture.clientToken(scope: "openid") ?? ""
        let reply = await fixture.get("/userinfo", (.authorization, "Bearer \(token)"))
        #expect(reply.status == 403)
        #expect(reply.head.fields[.wwwAuthenticate]?.contains("insufficient_scope") == true)
    }

    @Test func `a token of an issuer that is not trusted opens nothing`() async throws {
        let api = SampleAPI(trusting: []) { WallTime(secondsSinceEpoch: 0) }
        var head = HTTPRequest(method: .get, target: "/whoami")
        head.fields[.authorization] = "Bearer \(await fixture.clientToken() ?? "")"
        #expect(await api.respond(to: ServiceRequest(head: head)).status == 401)
    }
}
