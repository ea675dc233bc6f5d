// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Identities that exchange each caller's own token (`subject_token: from_request`).
@Suite(.blocking) struct `A request on behalf of its caller` {
    private static let grant = "token_exchange\n    subject_token: from_request"

    /// A provider that exchanges what begins with `good`, and refuses other tokens with the code that they are.
    private func sidecar(
        expiresIn: String = "300", route: String = "", moreRoutes: String = "", identity: String = "",
        upstream: RawUpstream? = nil
    ) throws -> Sidecar {
        let provider = try HostileProvider()
        provider.always { request, provider in
            let subject = request["subject_token"] ?? ""
            guard !subject.hasPrefix("good") else {
                return provider.tokens(expiresIn: expiresIn, tokenType: #""n_a""#, members: "")
            }
            return .oauthError(subject, status: subject == "invalid_client" ? 401 : 400)
        }
        return try Sidecar(
            provider: provider, upstream: upstream,
            .init(identity: identity, route: route, moreRoutes: moreRoutes, grant: Self.grant))
    }

    private func get(_ sidecar: Sidecar, as caller: String) throws -> RawResponse {
        try sidecar.get("/", [("Authorization", "Bearer \(caller)")])
    }

    @Test func `carries what the caller's token was exchanged for, once for each caller`() throws {
        let sidecar = try sidecar()
        #expect(try sidecar.admin("GET", "/readyz").status == 200, "ready without callers")
        #expect(try sidecar.state() == "authorized" && sidecar.provider.requests.isEmpty)
        for caller in ["good-a", "good-b", "good-a", "good-b"] {
            #expect(try get(sidecar, as: caller).status == 200)
        }
        let asked = sidecar.provider.requests
        #expect(asked.map { $0["subject_token"] } == ["good-a", "good-b"])
        #expect(asked.allSatisfy { $0.grant == "urn:ietf:params:oauth:grant-type:token-exchange" })
        let given = sidecar.provider.accessTokens
        #expect(sidecar.upstream.tokens == [given[0], given[1], given[0], given[1]])
        let seen = sidecar.upstream.requests.map(\.head.description).joined()
        #expect(!seen.contains("good-"), "the caller's own token goes no further")
        #expect(try sidecar.get("/", [("authorization", "bearer good-a")]).status == 200)
        #expect(sidecar.provider.requests.count == 2)
        #expect(try sidecar.act("refresh").status == 200)
        #expect(try get(sidecar, as: "good-a").status == 200 && sidecar.provider.requests.count == 3)
        #expect(
            LeakScan.leaks(of: ["good-a", "good-b"] + given, in: sidecar.bearerd.log).isEmpty)
    }

    @Test(arguments: ["logout", "refresh"])
    func `takes nothing of an exchange that began before all tokens were forgotten`(action: String) throws {
        let sidecar = try sidecar()
        let (asked, gate) = (Gate(), Gate())
        sidecar.provider.script { _, provider in
            asked.open()
            try gate.pass()
            return provider.tokens(expiresIn: "300", tokenType: #""n_a""#, members: "")
        }
        let early = Background { try self.get(sidecar, as: "good-a").status }
        try asked.pass()
        #expect(try sidecar.act(action).status == 200)
        #expect(try get(sidecar, as: "good-a").status == 200)
        let late = try #require(sidecar.provider.accessTokens.first)
        #expect(sidecar.upstream.tokens == [late], "it has an exchange of its own")
        gate.open()
        #expect(try early.value() == 200)
        #expect(try get(sidecar, as: "good-a").status == 200)
        #expect(sidecar.upstream.tokens.last == late && sidecar.provider.requests.count == 2)
    }

    @Test func `waits for no caller on a route with a scope of its own either`() throws {
        let sidecar = try sidecar(
            moreRoutes: "- {path: /other, upstream: http://127.0.0.1:1, identity: default, scope: other}")
        for query in ["", "?route=/", "?route=/other"] {
            let answer = try sidecar.admin("GET", "/readyz" + query)
            #expect(answer.status == 200, "\(query)")
        }
    }

    @Test(arguments: ["token", "userinfo", "refresh"])
    func `is not made by a command, which says so`(command: String) throws {
        let sidecar = try sidecar()
        let result = try BearerdProcess.command(command, "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 64 && result.output.isEmpty)
        #expect(result.errors.contains("from_request") && result.errors.contains("Authorization"))
        #expect(sidecar.provider.requests.isEmpty)
    }

    @Test func `for the whole server needs the caller's token too, which goes no further`() throws {
        let upstream = try RawUpstream { _ in .unauthorized }
        let sidecar = try sidecar(route: "query: key", upstream: upstream)
        #expect(try sidecar.client().request("OPTIONS", "*").status == 403)
        #expect(upstream.requests.isEmpty)
        for _ in 0..<2 {
            let answer = try sidecar.client().request("OPTIONS", "*", [("Authorization", "Bearer good-a")])
            #expect(answer.status == 401)
        }
        #expect(upstream.requests.map(\.head.target) == ["*", "*"])
        #expect(upstream.requests.allSatisfy { $0.head["Authorization"] == nil })
        #expect(sidecar.provider.requests.count == 1, "such an answer says nothing of the token")
    }

    @Test(arguments: ["", "authorization: preserve", "on_no_token: pass", "header: X-Token"])
    func `without a token of the caller's own is refused, whatever the route says`(route: String) throws {
        let sidecar = try sidecar(route: route)
        let fields: [[(String, String)]] = [
            [], [("Authorization", "Basic eDp5")], [("Authorization", "Bearer ")],
            [("Authorization", "Bearer")],
            [("Authorization", "Bearer good-a"), ("Authorization", "Bearer good-b")],
            [("Authorization", "Bearer good a")], [("Authorization", "Bearer good,a")],
            [("Authorization", "DPoP good")],
        ]
        for fields in fields {
            let answer = try sidecar.get("/", fields)
            #expect(answer.status == 403 && answer.problem == "access_denied", "\(fields)")
        }
        for _ in 0..<2 {
            let answer = try get(sidecar, as: "invalid_grant")
            #expect(answer.status == 403 && answer.problem == "access_denied")
        }
        #expect(sidecar.provider.requests.count == 1, "who repeats it asks the provider once")
        #expect(sidecar.upstream.requests.isEmpty)
        #expect(try get(sidecar, as: "good-a").status == 200)
        #expect(try !sidecar.upstream.request().head.description.contains("good-a"))
    }

    @Test(arguments: ["invalid_grant", "invalid_request", "access_denied"])
    func `that the provider refuses is that caller's affair alone`(code: String) throws {
        let sidecar = try sidecar()
        #expect(try get(sidecar, as: code).problem == "access_denied")
        #expect(try get(sidecar, as: "good-a").status == 200)
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `that a broken gateway refuses is refused to nobody`() throws {
        let sidecar = try sidecar()
        sidecar.provider.script({ _, _ in .oauthError("invalid_grant", status: 502) })
        let answer = try get(sidecar, as: "good-a")
        #expect(answer.problem == "idp_unavailable")
        #expect(
            answer.json["detail"].string?.contains(", \(sidecar.provider.issuer.dropFirst("http://".count)))")
                == true, "\(answer.text)")
        try eventually("the next try") { try get(sidecar, as: "good-a").status == 200 }
    }

    @Test(arguments: ["invalid_client", "invalid_target"])
    func `for which the identity is at fault is not the affair of others before it fails for them too`(
        code: String
    ) throws {
        let sidecar = try sidecar()
        #expect(try get(sidecar, as: code).problem == "misconfigured")
        #expect(try get(sidecar, as: "good-a").status == 200)
        #expect(try get(sidecar, as: code).problem == "misconfigured")
        #expect(sidecar.provider.requests.count == 2, "who failed waits")
        #expect(try sidecar.state() == "authorized")
        sidecar.provider.always { _, _ in .oauthError(code, status: 400) }
        for caller in ["good-b", "good-c"] {
            #expect(try get(sidecar, as: caller).problem == "misconfigured")
        }
        #expect(try sidecar.state() == "misconfigured" && sidecar.lastError() == code)
        #expect(try get(sidecar, as: "good-a").status == 200, "what is known goes on")
        sidecar.provider.always { _, provider in provider.tokens(tokenType: #""n_a""#, members: "") }
        try eventually("the next try") { try get(sidecar, as: "good-b").status == 200 }
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `makes one exchange for a caller, however many requests it sends at once`() throws {
        let sidecar = try sidecar()
        let gate = Gate()
        sidecar.provider.script({ _, provider in
            provider.tokens(tokenType: #""n_a""#).held(by: gate)
        })
        let clients = try (0..<8).map { _ in try sidecar.client() }
        for client in clients {
            try client.send("GET", "/", [("Authorization", "Bearer good-a")])
        }
        try sidecar.provider.request(1)
        gate.open()
        for client in clients { #expect(try client.wire.readResponse(to: "GET").status == 200) }
        #expect(sidecar.provider.requests.count == 1 && Set(sidecar.upstream.tokens).count == 1)
    }

    @Test func `is exchanged anew when either token is over, and not before somebody asks`() throws {
        let sidecar = try sidecar(expiresIn: "2")
        #expect(try get(sidecar, as: "good-a").status == 200)
        try eventually("the token's end") {
            _ = try get(sidecar, as: "good-a")
            return sidecar.provider.requests.count == 2
        }
    }

    @Test func `whose token the upstream refuses is exchanged anew once, however young the token is`() throws
    {
        let upstream = try RawUpstream { _ in .unauthorized }
        let sidecar = try sidecar(upstream: upstream)
        for caller in ["good-a", "good-b"] {
            for _ in 0..<2 { #expect(try get(sidecar, as: caller).status == 401) }
        }
        // Each caller's first 401, whatever others had, is worth an exchange and a second request; its next one neither.
        #expect(
            sidecar.provider.requests.compactMap { $0["subject_token"] }
                == ["good-a", "good-a", "good-b", "good-b"])
        let given = sidecar.provider.accessTokens
        #expect(
            sidecar.upstream.tokens == [given[0], given[1], given[1], given[2], given[3], given[3]])
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `gets the answer to its second token where the upstream refuses the first`() throws {
        let provider = try HostileProvider()
        let upstream = try RawUpstream { request in
            request["Authorization"] == "Bearer \(provider.accessTokens[0])" ? .unauthorized : .ok()
        }
        provider.always { _, provider in provider.tokens(tokenType: #""n_a""#) }
        let sidecar = try Sidecar(provider: provider, upstream: upstream, .init(grant: Self.grant))
        #expect(try get(sidecar, as: "good-a").status == 200)
        #expect(provider.requests.count == 2 && upstream.tokens == provider.accessTokens)
    }

    @Test func `may carry a token that is bound to a key of ours`() throws {
        let site = try BoundSite(grant: Self.grant)
        for caller in ["a", "b"] { #expect(try get(site.sidecar, as: caller).status == 200) }
        #expect(site.faults == [] && site.keys.count == 1)
    }
}
