// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Servers, clients and files that would have a proof of possession say less than it should, or nothing (RFC 9449).
@Suite(.blocking) struct `A proof that somebody is after` {
    private static let onBehalf = "token_exchange\n    subject_token: from_request"

    private func bearer(_ caller: String) -> [(String, String)] { [("Authorization", "Bearer \(caller)")] }

    @Test func `is of the token that goes along, whoever else waits for the same connection`() throws {
        let site = try BoundSite(
            grant: Self.onBehalf, top: "workers: 1\nlimits: {upstream_connections: 1}")
        let gate = Gate()
        let answer = site.provider.resource(site.resource)
        site.upstream.answer { request in
            request.head.target == "/held" ? answer(request).held(by: gate) : answer(request)
        }
        let callers = ["a", "b", "c"]
        let clients = try callers.map { caller in
            let client = try site.sidecar.client()
            #expect(try client.request("GET", "/", bearer(caller)).status == 200)
            return client
        }
        let holder = try site.sidecar.client()
        try holder.send("GET", "/held", bearer("a"))
        try site.upstream.request(callers.count + 1)
        for (client, caller) in zip(clients, callers) { try client.send("GET", "/\(caller)", bearer(caller)) }
        // Answered by the same worker, so that those before have come to wait.
        for _ in 0..<3 { #expect(try site.sidecar.get("/", [("Host", "elsewhere")]).status == 421) }
        gate.open()
        #expect(try holder.wire.readResponse().status == 200)
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        #expect(site.faults == [] && site.keys.count == 1 && site.provider.requests.count == 3)
    }

    @Test func `is made with one key, however many callers come first at once`() throws {
        let site = try BoundSite(dpop: "auto", grant: Self.onBehalf)
        let clients = try (0..<6).map { _ in try site.sidecar.client() }
        for (number, client) in clients.enumerated() {
            try client.send("GET", "/", bearer("caller-\(number)"))
        }
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        #expect(site.faults == [] && site.keys.count == 1 && site.provider.requests.count == 6)
    }

    @Test(arguments: [String(repeating: "n", count: 8192), #"a"b"#, #"a\b"#, "a b", "\u{E9}", ""])
    func `has no nonce that none can be, and the refusal passes`(nonce: String) throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        site.upstream.answer { _ in
            .response(401, [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", nonce)])
        }
        for _ in 0..<3 { #expect(try site.sidecar.get().status == 401) }
        let proofs = site.upstream.requests.map { TestToken($0["DPoP"] ?? "") }
        #expect(proofs.count == 4 && proofs.allSatisfy { $0 != nil && $0?.claims["nonce"].string == nil })
        #expect(try site.sidecar.state() == "authorized" && site.provider.requests.count == 1)

        site.provider.always { _, _ in
            .response(
                400, [("Content-Type", "application/json"), ("DPoP-Nonce", nonce)],
                #"{"error":"use_dpop_nonce"}"#)
        }
        try site.sidecar.act("refresh")
        #expect(try site.sidecar.lastError() == "use_dpop_nonce")
        site.provider.demandProofs(site.server)
        try eventually("the next try") { try site.sidecar.lastError() == nil }
        #expect(site.faults == [])
    }

    @Test(arguments: [400, 403, 302])
    func `carries the nonce of any answer, which passes as it is`(status: Int) throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        let answer = site.provider.resource(site.resource)
        site.upstream.answer { request in
            guard request.head.target == "/odd" else { return answer(request) }
            return .response(
                status,
                [
                    ("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "odd-1"),
                    ("Location", "https://elsewhere.example/"),
                ])
        }
        let odd = try site.sidecar.get("/odd")
        #expect(odd.status == status && odd["DPoP-Nonce"] == "odd-1")
        #expect(odd["Location"] == "https://elsewhere.example/")
        site.resource.want("odd-1")
        #expect(try site.sidecar.get().status == 200)
        #expect(site.upstream.requests.count == 3, "no redirect is followed, and nothing is sent again")
        #expect(site.faults == [] && site.resource.challenges == 0 && site.provider.requests.count == 1)
    }

    @Test func `carries the nonce of its own server, of as many as share a session`() throws {
        let other = ProofJudge(nonce: "other-1", rotates: true)
        let second = try RawUpstream()
        let site = try BoundSite(
            resource: ProofJudge(nonce: "rs-1", rotates: true),
            moreRoutes: "- {path: /other, upstream: '\(second.url)', identity: default}")
        second.answer(site.provider.resource(other))
        for _ in 0..<3 {
            for target in ["/", "/other"] { #expect(try site.sidecar.get(target).status == 200) }
        }
        #expect(site.faults == [] && other.faults == [])
        #expect(site.resource.challenges == 1 && other.challenges == 1)
    }

    @Test func `that a provider with another clock refuses is told as such, and made until it is taken`()
        throws
    {
        let site = try BoundSite(grant: "refresh_token")
        site.provider.always { _, _ in
            .response(
                400, [("Content-Type", "application/json"), ("Date", "Mon, 01 Jan 2024 00:00:00 GMT")],
                #"{"error":"invalid_dpop_proof","error_description":"iat is not in the allowed window"}"#)
        }
        try site.sidecar.importSession()
        try eventually("the refusal") { try site.sidecar.lastError() == "invalid_dpop_proof" }
        #expect(try site.sidecar.state() == "misconfigured", "nobody has to log in")
        #expect(try site.sidecar.get().problem == "misconfigured")
        try site.sidecar.bearerd.logLine("what to look at") { line in
            line["reason"]?.contains("this machine's clock") ?? false
        }
        site.provider.demandProofs(site.server)
        try eventually("the next try") { try site.sidecar.get().status == 200 }
        #expect(site.faults == [] && site.keys.count == 1)
    }

    @Test func `that an upstream with another clock refuses costs one refresh, not one a request`() throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        site.upstream.answer { _ in
            .response(401, [("WWW-Authenticate", #"DPoP error="invalid_dpop_proof", algs="ES256""#)])
        }
        for _ in 0..<5 {
            let answer = try site.sidecar.get()
            #expect(
                answer.status == 401 && answer["WWW-Authenticate"]?.contains("invalid_dpop_proof") == true)
        }
        #expect(site.provider.requests.count == 2)
        #expect(try site.sidecar.state() == "authorization_error")
        site.upstream.answer(site.provider.resource(site.resource))
        #expect(try site.sidecar.get().status == 200 && site.sidecar.state() == "authorized")
        #expect(site.faults == [] && site.keys.count == 1)
    }

    @Test func `is of the new session's key when somebody begins another one under a running daemon`() throws
    {
        let site = try BoundSite(grant: "refresh_token")
        try site.sidecar.importSession()
        try eventually("a token") { try site.sidecar.get().status == 200 }
        let first = site.provider.requests.count
        try site.sidecar.importSession()
        try site.provider.request(first + 1)
        try eventually("the new token") {
            try site.sidecar.get().status == 200
                && site.upstream.requests.last?["Authorization"]
                    == "DPoP \(site.provider.accessTokens.last ?? "")"
        }
        #expect(site.faults == [] && site.keys.count == 2)
    }

    @Test func `is the identity's own, whatever headers a file adds`() throws {
        let directory = try TemporaryDirectory()
        func check(identity: String, route: String) throws -> (exit: Int32, errors: String) {
            let file = try directory.write(
                "config.yaml",
                """
                identities:
                  default:
                    issuer: https://sso.example.com
                    client_id: app
                    client_secret: fake
                    grant_type: client_credentials
                    \(identity)
                routes:
                  - path: /
                    upstream: https://api.example.com
                    identity: default
                    \(route)
                """)
            let result = try BearerdProcess.command("check", "-c", file)
            return (result.exit, result.errors)
        }
        let wrong = [
            ("token_headers: {DPoP: x}", "", "token_headers.DPoP: clashes with a header"),
            ("userinfo_headers: {dpop: x}", "", "userinfo_headers.dpop: clashes with a header"),
            ("", "request_headers: {set: {DPoP: x}}", "set.DPoP: carries the proof"),
            ("", "request_headers: {add: {dpop: x}}", "add.dpop: carries the proof"),
            ("", "header: DPoP", "header: cannot carry a token"),
        ]
        for (identity, route, words) in wrong {
            let result = try check(identity: identity, route: route)
            #expect(result.exit == 78 && result.errors.contains(words), "\(result.errors)")
        }
        let removed = try check(identity: "dpop: true", route: "request_headers: {remove: [DPoP]}")
        #expect(removed.exit == 0, "\(removed.errors)")
    }

    @Test func `of a client's own passes where bearerd makes none, and nowhere else`() throws {
        let fields = [("DPoP", "mine")]
        for (identity, route) in [("", ""), ("dpop: false", "authorization: preserve")] {
            let sidecar = try Sidecar(.init(identity: identity, route: route))
            #expect(try sidecar.get("/", fields).status == 200)
            #expect(try sidecar.upstream.request()["DPoP"] == "mine")
            #expect(sidecar.upstream.tokens == sidecar.provider.accessTokens)
        }
        let site = try BoundSite(route: "authorization: preserve")
        #expect(try site.sidecar.get("/", fields).status == 200 && site.faults == [])
        let own = try site.sidecar.get("/", fields + [("Authorization", "DPoP own")])
        #expect(own.status == 401, "as the upstream has it")
        let last = try #require(site.upstream.requests.last)
        #expect(last["DPoP"] == "mine" && last["Authorization"] == "DPoP own")
        #expect(last.head.values("DPoP").count == 1)
    }

    @Test func `carries the nonce that the command is given`() throws {
        let site = try BoundSite(resource: ProofJudge(nonce: "rs-1"))
        try site.sidecar.awaitToken()
        let words = [
            "token", "--header", "--dpop", "GET", site.upstream.url + "/", "-c",
            site.directory.path("config.yaml"),
        ]
        func status(_ words: [String]) throws -> Int {
            let lines = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(lines.ending == .exited(0), "\(lines.errors)")
            let fields = lines.output.split(separator: "\n").map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (String(parts[0]), String(parts[1].dropFirst()))
            }
            return try RawClient(to: site.upstream.address).request("GET", "/", fields).status
        }
        #expect(try status(words) == 401)
        #expect(try status(words + ["--nonce", "rs-1"]) == 200)
        #expect(site.faults == [])
        for more in [
            ["--nonce", "a b"], ["--nonce", ""], ["--nonce", String(repeating: "n", count: 2000)],
        ] {
            let wrong = try Subprocess.run([BearerdProcess.binary] + words + more)
            #expect(wrong.ending == .exited(64) && wrong.output.isEmpty, "\(more)")
        }
        let alone = try Subprocess.run(
            [BearerdProcess.binary, "token", "--header", "--nonce", "x"] + words.suffix(2))
        #expect(alone.ending == .exited(64) && alone.errors.contains("--dpop"), "\(alone.errors)")
    }
}
