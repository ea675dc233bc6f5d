// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Tokens that are bound to a key of the session's (RFC 9449, `dpop`).
@Suite(.blocking) struct `A token that is bound to a key` {
    @Test func `is asked for and sent with a proof each time, and the caller's own proof is dropped`() throws
    {
        let site = try BoundSite()
        let client = try site.sidecar.client()
        for target in ["/things?id=1", "/things?id=1", "/other%20path/;v=1"] {
            #expect(try client.request("GET", target, [("DPoP", "mine"), ("dpop", "more")]).status == 200)
        }
        #expect(try client.request("POST", "/", [("D_PoP", "x")], body: "content").text == "content")
        #expect(site.faults == [])
        #expect(site.resource.proofs.count == 4 && site.server.proofs.count == 1 && site.keys.count == 1)
        #expect(site.provider.requests.count == 1)
        #expect(try site.sidecar.identityStatus()["state"].string == "authorized")
        let stored = try site.sidecar.act("refresh")
        #expect(stored.status == 200 && site.keys.count == 1)
        #expect(LeakScan.leaks(of: site.provider.handedOut, in: site.sidecar.bearerd.log).isEmpty)
        #expect(!site.sidecar.bearerd.log.contains(#""d":"#))
    }

    @Test func `keeps its key over a restart, and so does its refresh token`() throws {
        let site = try BoundSite(grant: "refresh_token")
        try site.sidecar.importSession()
        try eventually("a token") { try site.sidecar.get().status == 200 }
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
        let next = try site.sidecar.another(.init(identity: "dpop: true", grant: "refresh_token"))
        #expect(try next.get().status == 200)
        let before = site.provider.requests.count
        #expect(try next.act("refresh").status == 200 && next.get().status == 200)
        #expect(site.provider.requests.count == before + 1)
        #expect(site.keys.count == 1 && site.faults == [])
    }

    @Test func `keeps its key and its nonces over a reload, in a store in memory too`() throws {
        for store in [nil, "type: memory"] {
            let site = try BoundSite(
                server: ProofJudge(nonce: "as-1"), resource: ProofJudge(nonce: "rs-1"), store: store)
            #expect(try site.sidecar.get().status == 200)
            try Sidecar.file(
                provider: site.provider, upstream: site.upstream.url,
                clientSecret: site.sidecar.clientSecret, directory: site.directory,
                .init(
                    identity: "dpop: true",
                    moreRoutes: "- {path: /b, upstream: '\(site.upstream.url)', identity: default}",
                    store: store))
            let answer = try site.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try site.sidecar.get("/b").status == 200)
            #expect(site.provider.requests.count == 2, "a nonce, and a token")
            #expect(try site.sidecar.act("refresh").status == 200 && site.sidecar.get().status == 200)
            #expect(site.keys.count == 1 && site.faults == [])
            #expect(site.resource.challenges == 1 && site.server.challenges == 1)
        }
    }

    @Test func `stays one until its session ends, where dpop is taken from the configuration`() throws {
        let site = try BoundSite(
            server: ProofJudge(nonce: "as-1"), resource: ProofJudge(nonce: "rs-1"), grant: "refresh_token")
        try site.sidecar.importSession()
        try eventually("a token") { try site.sidecar.get().status == 200 }
        try site.reloadWithoutProofs(grant: "refresh_token")
        #expect(try site.sidecar.get("/", [("DPoP", "mine")]).status == 200)
        #expect(try site.sidecar.act("refresh").status == 200 && site.sidecar.get().status == 200)
        #expect(site.keys.count == 1 && site.faults == [])
    }

    @Test func `is followed by a bearer token where a grant without a person loses its dpop`() throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        site.provider.always { _, provider in provider.tokens() }
        try site.reloadWithoutProofs()
        #expect(try site.provider.request(2).message["DPoP"] == nil)
        #expect(try site.sidecar.get("/", [("DPoP", "mine")]).status == 401)
        #expect(site.upstream.requests.last?["DPoP"] == "mine")
    }

    @Test func `is proved with the upstream's own name and path, whatever the client called them`() throws {
        let site = try BoundSite(route: "strip_prefix: true\nhost_header: preserve")
        #expect(try site.sidecar.get("/a?b=c").status == 200)
        #expect(site.faults == [])
        let claims = try #require(site.resource.proofs.last).claims
        #expect(claims["htu"].string == "http://\(try site.sidecar.bearerd.proxy)/a")
    }

    @Test func `may be bound to an Ed25519 key`() throws {
        let site = try BoundSite(identity: "signing_alg: EdDSA")
        #expect(try site.sidecar.get().status == 200 && site.faults == [])
        #expect(site.resource.proofs.last?.header["alg"].string == "EdDSA")
    }

    @Test func `is asked for with auto where the provider offers it, and nowhere else`() throws {
        let site = try BoundSite(dpop: "auto")
        #expect(try site.sidecar.get().status == 200 && site.faults == [] && site.keys.count == 1)
        let sidecar = try Sidecar(.init(identity: "dpop: auto"))
        #expect(try sidecar.get().status == 200)
        #expect(sidecar.upstream.tokens == sidecar.provider.accessTokens)
        #expect(try sidecar.upstream.request()["DPoP"] == nil)
    }

    @Test(arguments: ["dpop", "DPOP", "DPoP"])
    func `is one however its type is spelled`(type: String) throws {
        let site = try BoundSite()
        site.provider.always { request, provider in
            guard case .good(let key) = site.server.judge(request.message, at: provider.tokenEndpoint) else {
                return .oauthError("invalid_dpop_proof")
            }
            return provider.boundTokens(to: key, type: type, site.server)
        }
        try site.sidecar.act("refresh")
        #expect(try site.sidecar.get().status == 200 && site.faults == [])
    }

    @Test func `is used as Bearer, with a warning, where the provider makes no other`() throws {
        let sidecar = try Sidecar(.init(identity: "dpop: true"))
        #expect(try sidecar.get("/", [("DPoP", "mine")]).status == 200)
        #expect(sidecar.upstream.tokens == sidecar.provider.accessTokens)
        #expect(try sidecar.upstream.request()["DPoP"] == nil)
        try sidecar.bearerd.logLine("the warning") { $0["level"] == "warning" && $0.message.contains("DPoP") }
    }

    @Test func `that somebody revoked is renewed, whatever challenges stand before that of DPoP`() throws {
        for challenges in ["", #"Bearer realm="api", error="invalid_token", "#, "Basic realm=x, Bearer, "] {
            let site = try BoundSite(challenges: challenges)
            #expect(try site.sidecar.get().status == 200)
            site.provider.bindings.withLock { $0.removeAll() }
            #expect(try site.sidecar.get("/again").status == 200, "\(challenges)")
            #expect(site.faults == [] && site.provider.requests.count == 2)
        }
    }

    @Test func `asks who logged in with a proof too`() throws {
        let site = try BoundSite(
            resource: ProofJudge(nonce: "first"), identity: "scope: api", grant: "refresh_token")
        try site.sidecar.importSession()
        try eventually("a token") { try site.sidecar.get().status == 200 }
        let userinfo = ProofJudge(nonce: "own")
        let answer = site.provider.resource(userinfo)
        site.provider.serve("GET", "/userinfo") { request in
            let isFirst = userinfo.proofs.isEmpty
            let judged = answer(request)
            return isFirst ? judged : .json(#"{"sub":"u"}"#)
        }
        let result = try BearerdProcess.command("userinfo", "-c", site.directory.path("config.yaml"))
        #expect(result.exit == 0 && result.output.contains(#""sub""#), "\(result.errors)")
        #expect(userinfo.faults == [] && userinfo.challenges == 1)
        #expect(site.server.challenges == 0)
    }

    @Test func `spends no refresh token on a userinfo endpoint whose nonce always changes`() throws {
        let site = try BoundSite(identity: "scope: api", grant: "refresh_token")
        try site.sidecar.importSession()
        try eventually("a token") { try site.sidecar.get().status == 200 }
        let before = site.provider.requests.count
        let asked = Monitor(0)
        site.provider.serve("GET", "/userinfo") { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return .response(
                401, [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "n-\(number)")])
        }
        let result = try BearerdProcess.command("userinfo", "-c", site.directory.path("config.yaml"))
        #expect(result.exit == 69 && asked.withLock { $0 } == 2)
        #expect(site.provider.requests.count == before)
    }

    @Test func `is printed with the proof of one request, and not without`() throws {
        let site = try BoundSite()
        try site.sidecar.awaitToken()
        let file = site.directory.path("config.yaml")
        let bare = try BearerdProcess.command("token", "--header", "-c", file)
        #expect(bare.exit == 64 && bare.output.isEmpty && bare.errors.contains("--dpop METHOD URL"))
        let url = "\(site.upstream.url)/things"
        let both = try BearerdProcess.command("token", "--header", "--dpop", "PUT", url + "?q=1", "-c", file)
        #expect(both.exit == 0, "\(both.errors)")
        let fields = both.output.split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), String(parts[1].dropFirst()))
        }
        #expect(fields.map(\.0) == ["Authorization", "DPoP"])
        let answer = try RawClient(to: site.upstream.address).request(
            "PUT", "/things?q=1", fields + [("Content-Length", "0")])
        #expect(answer.status == 200 && site.faults == [])
        for words in [
            ["--dpop", "GET", url], ["--header", "--dpop", "GET"], ["--header", "--dpop", "GET", "x"],
            ["--id-token", "--header", "--dpop", "GET", url],
        ] {
            let wrong = try Subprocess.run([BearerdProcess.binary, "token"] + words + ["-c", file])
            #expect(wrong.ending == .exited(64), "\(words): \(wrong.errors)")
        }
    }

    @Test func `are of the key that a login began with, though a reload takes dpop away meanwhile`() throws {
        // Without an id token, which this provider does not give.
        let scope = "scope: api"
        let site = try BoundSite(identity: scope, grant: "authorization_code")
        let begun = try site.sidecar.admin("GET", "/login/default", [])
        let cookie = try #require(begun["Set-Cookie"]?.split(separator: ";").first)
        let callback = try site.provider.approve(try #require(begun["Location"]), isPushed: false)
        try site.reloadWithoutProofs(identity: scope, grant: "authorization_code")
        let page = try browse(callback, "GET", [("Cookie", String(cookie))])
        #expect(page.status == 200, "\(page.text)")
        #expect(try site.sidecar.get().status == 200)
        #expect(site.faults == [] && site.keys.count == 1)
    }
}
