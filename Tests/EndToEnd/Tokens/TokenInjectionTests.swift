// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The main job: a plain request goes in, a request with a fresh bearer token comes out.
@Suite(.blocking) struct `A token is put in` {
    @Test func `a plain request reaches the upstream with a fresh token`() throws {
        let sidecar = try Sidecar()
        let answer = try sidecar.get("/things?id=1")
        let seen = try sidecar.upstream.request()
        #expect(answer.status == 200 && answer.text == "hello")
        #expect(seen.head.startLine == "GET /things?id=1 HTTP/1.1")
        #expect(seen.head.values("Authorization") == sidecar.provider.accessTokens.map { "Bearer \($0)" })
        #expect(sidecar.provider.requests.map(\.grant) == ["client_credentials"])
    }

    @Test func `the token is asked for with the client's credentials and scope`() throws {
        let sidecar = try Sidecar(.init(identity: "scope: [openid, profile]\naudience: things"))
        _ = try sidecar.get()
        let request = try sidecar.provider.request(1)
        #expect(request.basicCredentials?.name == "legacy-app")
        #expect(request.basicCredentials?.password == sidecar.clientSecret)
        #expect(request["scope"] == "openid profile" && request["audience"] == "things")
        #expect(request["client_secret"] == nil)
        #expect(request.message["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
    }

    @Test
    func `a secret that form-encoding changes works with servers that decode and with those that do not`()
        throws
    {
        let secret = "a+b/c=d e" + randomText()
        for decodes in [true, false] {
            let provider = try HostileProvider()
            provider.always { request, provider in
                let password = request.basicCredentials?.password ?? ""
                return (decodes ? formDecoded(password) : password) == secret
                    ? provider.tokens() : .json(#"{"error":"invalid_client"}"#, status: 401)
            }
            let sidecar = try Sidecar(provider: provider, clientSecret: "'\(secret)'")
            #expect(try sidecar.get().status == 200, "the server decodes: \(decodes)")
            #expect(provider.requests.count == (decodes ? 1 : 2))
            try sidecar.act("refresh")
            #expect(provider.requests.count == (decodes ? 2 : 3), "what worked is remembered")
        }
    }

    @Test func `a token is fetched once and used for many requests`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        for _ in 0..<20 { #expect(try client.request("GET", "/").status == 200) }
        #expect(sidecar.provider.requests.count == 1 && Set(sidecar.upstream.tokens).count == 1)
    }

    @Test func `the client's own Authorization is overwritten by default`() throws {
        let sidecar = try Sidecar()
        _ = try sidecar.get("/", [("authorization", "Basic eDp5"), ("Authorization", "Bearer mine")])
        #expect(try sidecar.upstream.request().head.values("authorization").count == 1)
        #expect(sidecar.upstream.tokens == sidecar.provider.accessTokens)
    }

    @Test func `preserve keeps the client's own Authorization and puts one in where there is none`() throws {
        let sidecar = try Sidecar(.init(route: "authorization: preserve"))
        _ = try sidecar.get("/", [("Authorization", "Basic eDp5")])
        _ = try sidecar.get("/")
        #expect(try sidecar.upstream.request(1).head.values("Authorization") == ["Basic eDp5"])
        #expect(try sidecar.upstream.request(2)["Authorization"]?.hasPrefix("Bearer access-1.") == true)
    }

    @Test func `reject answers 403 to a request with an Authorization of its own`() throws {
        let sidecar = try Sidecar(.init(route: "authorization: reject"))
        let refused = try sidecar.get("/", [("Authorization", "Basic eDp5")])
        #expect(refused.status == 403 && refused.problem == "access_denied")
        #expect(try sidecar.get("/").status == 200)
        #expect(sidecar.upstream.requests.count == 1)
    }

    @Test func `identity none forwards without a token and leaves the client's header alone`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(moreRoutes: "- path: /open\n  upstream: \(upstream.url)\n  identity: none"))
        _ = try sidecar.get("/open")
        _ = try sidecar.get("/open", [("Authorization", "Basic eDp5")])
        #expect(upstream.requests.map { $0["Authorization"] } == [nil, "Basic eDp5"])
    }

    @Test func `the token goes where header and scheme say`() throws {
        let sidecar = try Sidecar(.init(route: "header: X-Api-Token\nscheme: Token"))
        _ = try sidecar.get("/", [("x-api-token", "mine")])
        let token = try #require(sidecar.provider.accessTokens.first)
        #expect(try sidecar.upstream.request().head.values("X-Api-Token") == ["Token \(token)"])
    }

    @Test func `with on_no_token pass a request goes on without a token`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .oauthError("invalid_client", status: 401) }
        let sidecar = try Sidecar(provider: provider, .init(route: "on_no_token: pass"))
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.upstream.request()["Authorization"] == nil)
    }

    @Test func `two identities get a token each`() throws {
        let upstream = try RawUpstream()
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream,
            .init(
                moreRoutes: "- path: /other\n  upstream: \(upstream.url)\n  identity: other",
                moreIdentities: """
                    other:
                      token_endpoint: \(provider.tokenEndpoint)
                      client_id: other-app
                      client_secret: other-\(randomText())
                      grant_type: client_credentials
                    """))
        _ = try sidecar.get("/")
        _ = try sidecar.get("/other")
        #expect(Set(upstream.tokens).count == 2 && Set(upstream.tokens) == Set(provider.accessTokens))
        #expect(
            Set(provider.requests.compactMap { $0.basicCredentials?.name }) == ["legacy-app", "other-app"])
    }
}
