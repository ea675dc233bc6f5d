// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Callers of identities that exchange their tokens (`subject_token: from_request`) who mean no good, or have bad luck.
@Suite(.blocking) struct `A caller that is up to no good` {
    /// A provider that answers as it is told, else exchanges what begins with `good`, and refuses the rest.
    private func sidecar(
        top: String = "", route: String = "",
        _ answer: @escaping @Sendable (TokenRequest, HostileProvider) -> Reply? = { _, _ in nil }
    ) throws -> Sidecar {
        let provider = try HostileProvider()
        provider.always { request, provider in
            if let reply = answer(request, provider) { return reply }
            return request["subject_token"]?.hasPrefix("good") ?? false
                ? provider.tokens(tokenType: #""n_a""#) : .oauthError("invalid_grant")
        }
        return try Sidecar(
            provider: provider,
            .init(top: top, route: route, grant: "token_exchange\n    subject_token: from_request"))
    }

    private func get(_ sidecar: Sidecar, as caller: String) throws -> RawResponse {
        try sidecar.get("/", [("Authorization", "Bearer \(caller)")])
    }

    @Test func `gets nothing of whoever called before on the same connection`() throws {
        let provider = try HostileProvider()
        provider.always { request, provider in
            switch request["subject_token"] {
            case nil: provider.tokens()
            case let token? where token.hasPrefix("good"): provider.tokens(tokenType: #""n_a""#)
            default: .oauthError("invalid_grant")
            }
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                moreRoutes: "- {path: /own, upstream: 'http://127.0.0.1:1', identity: own}",
                moreIdentities: """
                    own:
                      issuer: \(provider.issuer)
                      client_id: other
                      client_secret: fake
                      grant_type: client_credentials
                    """, grant: "token_exchange\n    subject_token: from_request"))
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        let requests: [(target: String, field: String)] = [
            ("/", "Authorization: Bearer good-a\r\n"), ("/", ""), ("/", "Authorization: bearer bad\r\n"),
            ("/own", "Authorization: Bearer good-c\r\n"), ("/", "Authorization: Bearer \r\n"),
            ("/", "AUTHORIZATION: BEARER good-b\r\n"),
        ]
        try client.wire.send(
            requests.map { "GET \($0.target) HTTP/1.1\r\nHost: \(host)\r\n\($0.field)\r\n" }.joined())
        let statuses = try requests.map { _ in try client.wire.readResponse().status }
        #expect(statuses == [200, 403, 403, 502, 403, 200])
        #expect(
            provider.requests.compactMap { $0["subject_token"] } == ["good-a", "bad", "good-b"],
            "a route of another identity exchanges nothing")
        #expect(sidecar.upstream.requests.count == 2 && Set(sidecar.upstream.tokens).count == 2)
    }

    @Test func `may speak HTTP 1.0, and is held to the same`() throws {
        let sidecar = try sidecar()
        let good = try sidecar.client().exchange("GET / HTTP/1.0\r\nAuthorization: Bearer good\r\n\r\n")
        #expect(good.status == 200)
        for field in ["", "Authorization: Bearer bad\r\n", "Authorization: good\r\n"] {
            let answer = try sidecar.client().exchange("GET / HTTP/1.0\r\n\(field)\r\n")
            #expect(answer.status == 403 && answer.problem == "access_denied", "\(field)")
        }
        #expect(sidecar.upstream.tokens == sidecar.provider.accessTokens)
    }

    @Test func `may bring a long token, and none that no header may hold`() throws {
        let sidecar = try sidecar()
        let long = "good-" + String(repeating: "x", count: 8192)
        #expect(try get(sidecar, as: long).status == 200)
        #expect(sidecar.provider.requests.first?["subject_token"] == long)
        #expect(sidecar.upstream.requests.first?.head.description.contains("xxxx") == false)
        for (bad, status) in [("good\u{1}", 400), ("good\0", 400), ("good\u{7F}", 400), ("goodé", 403)] {
            #expect(try get(sidecar, as: bad).status == status, "\(bad.unicodeScalars)")
        }
        #expect(sidecar.provider.requests.count == 1 && sidecar.upstream.requests.count == 1)
    }

    @Test func `makes the provider refuse each token once, however it mixes good and bad ones`() throws {
        let sidecar = try sidecar()
        let client = try sidecar.client()
        for _ in 0..<30 {
            for (caller, status) in [("good", 200), ("bad", 403), ("bad-2", 403)] {
                let answer = try client.request("GET", "/", [("Authorization", "Bearer \(caller)")])
                #expect(answer.status == status)
            }
        }
        #expect(sidecar.provider.requests.filter { $0["subject_token"] == "good" }.count == 1)
        // A slow machine may take longer than a refusal is remembered.
        #expect(sidecar.provider.requests.count <= 12)
    }

    @Test(arguments: [413, 431])
    func `whose token is too long for the provider has itself to blame`(status: Int) throws {
        let sidecar = try sidecar { request, _ in
            (request["subject_token"]?.utf8.count ?? 0) > 4096
                ? .response(status, [("Content-Type", "text/html")], "<h1>too long</h1>") : nil
        }
        let long = "good-" + String(repeating: "x", count: 8192)
        for _ in 0..<3 { #expect(try get(sidecar, as: long).problem == "access_denied") }
        #expect(try get(sidecar, as: "good").status == 200)
        #expect(try sidecar.state() == "authorized" && sidecar.lastError() == nil)
        #expect(sidecar.provider.requests.count == 2)
    }

    @Test func `for whom the provider never answers waits alone`() throws {
        let gate = Gate()
        let sidecar = try sidecar(top: "timeouts: {token: 20s, token_wait: 1s}") { request, provider in
            request["subject_token"] == "good-mute" ? provider.tokens().held(by: gate) : nil
        }
        let mute = try sidecar.client()
        try mute.send("GET", "/", [("Authorization", "Bearer good-mute")])
        try sidecar.provider.request(1)
        for caller in ["good-a", "good-b", "good-a"] {
            #expect(try get(sidecar, as: caller).status == 200)
        }
        let answer = try mute.wire.readResponse()
        #expect(answer.status == 503 && answer.problem == "idp_unavailable" && answer["Retry-After"] != nil)
        let again = try get(sidecar, as: "good-mute")
        #expect(again.problem == "idp_unavailable")
        #expect(sidecar.provider.requests.count == 3, "the one exchange is still under way")
        gate.open()
        try eventually("the exchange's end") { try get(sidecar, as: "good-mute").status == 200 }
        #expect(sidecar.provider.requests.count == 3)
    }

    @Test func `makes the provider work on a hundred made-up tokens at once, and others wait their turn`()
        throws
    {
        let gate = Gate()
        let sidecar = try sidecar(top: "timeouts: {token: 25s, token_wait: 25s}") { request, provider in
            request["subject_token"]?.hasPrefix("made-up") ?? false
                ? Reply.oauthError("invalid_grant").held(by: gate) : nil
        }
        #expect(try get(sidecar, as: "good-known").status == 200)
        let clients = try (0..<100).map { number in
            let client = try sidecar.client()
            try client.send("GET", "/", [("Authorization", "Bearer made-up-\(number)")])
            return client
        }
        try sidecar.provider.request(101)
        let late = try sidecar.client()
        try late.send("GET", "/", [("Authorization", "Bearer good-new")])
        #expect(try get(sidecar, as: "good-known").status == 200)
        #expect(sidecar.provider.requests.count == 101)
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 403) }
        #expect(try late.wire.readResponse().status == 200 && sidecar.provider.requests.count == 102)
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `is one of many who come first together, and all of them are served`() throws {
        let sidecar = try sidecar(top: "timeouts: {token: 60s, token_wait: 60s}")
        let clients = try (0..<300).map { number in
            let client = try sidecar.client()
            try client.send("GET", "/", [("Authorization", "Bearer good-\(number)")])
            return client
        }
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        #expect(Set(sidecar.provider.requests.compactMap { $0["subject_token"] }).count == 300)
        #expect(sidecar.provider.requests.count == 300)
    }

    @Test func `is one failure with the others whose exchanges fail at that moment`() throws {
        let gate = Gate()
        let sidecar = try sidecar { request, _ in
            request["subject_token"]?.hasPrefix("good-early") ?? false
                ? Reply.response(502, [], "").held(by: gate) : nil
        }
        let clients = try (0..<40).map { number in
            let client = try sidecar.client()
            try client.send("GET", "/", [("Authorization", "Bearer good-early-\(number)")])
            return client
        }
        try sidecar.provider.request(40)
        gate.open()
        for client in clients {
            let answer = try client.wire.readResponse()
            #expect(answer.problem == "idp_unavailable" && answer["Retry-After"] == "1")
        }
        let later = try get(sidecar, as: "good-later")
        #expect(later.status == 200 || later["Retry-After"] == "1", "the back-off is that of one failure")
    }

    @Test func `that makes the provider fail again and again waits longer each time, and nobody else does`()
        throws
    {
        let sidecar = try sidecar { request, _ in
            request["subject_token"] == "poison" ? .response(500, [], "") : nil
        }
        for count in 1...5 {
            try eventually("the next try") {
                let answer = try get(sidecar, as: "poison")
                #expect(answer.problem == "idp_unavailable")
                return sidecar.provider.requests.count == count
            }
        }
        #expect(try get(sidecar, as: "good").status == 200)
        #expect(try sidecar.state() == "authorized" && sidecar.lastError() == nil)
        let poison = try get(sidecar, as: "poison")
        #expect(poison.problem == "idp_unavailable" && poison["Retry-After"].flatMap { Int($0) } ?? 0 > 1)
        #expect(sidecar.provider.requests.count == 6)
    }

    @Test(arguments: [Reply.response(500, [], ""), .response(429, [("Retry-After", "60")], "")])
    func `makes no new caller wait, however many tokens it makes up that the provider fails for`(
        reply: Reply
    )
        throws
    {
        let sidecar = try sidecar { request, _ in
            request["subject_token"]?.hasPrefix("odd") ?? false ? reply : nil
        }
        let flood = try (0..<4).map { _ in try sidecar.client() }
        var sent = 0
        func floodOnce() throws {
            for client in flood {
                try client.send("GET", "/", [("Authorization", "Bearer odd-\(sent)")])
                sent += 1
            }
        }
        func readFlood() throws {
            for client in flood { #expect(try client.wire.readResponse().status == 503) }
        }
        for _ in 0..<3 {
            try floodOnce()
            try readFlood()
        }
        for number in 0..<50 {
            try floodOnce()
            #expect(try get(sidecar, as: "good-\(number)").status == 200, "\(number)")
            try readFlood()
        }
        let good = sidecar.provider.requests.count { $0["subject_token"]?.hasPrefix("good") ?? false }
        #expect(good == 50)
        let told = sidecar.bearerd.logLines.filter { $0.message == "token request failed" }
        #expect(1...60 ~= told.count, "\(told.count)")
    }

    @Test func `fills neither the log nor anybody's alarms with tokens that it made up`() throws {
        let sidecar = try sidecar()
        let client = try sidecar.client()
        for number in 0..<60 {
            let fields = [("Authorization", "Bearer made-up-\(number)")]
            #expect(try client.request("GET", "/", fields).status == 403)
        }
        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_token_requests_total", "outcome=\"refused\"") == 60)
        #expect(metrics.sum("bearerd_token_requests_total") == 60)
        let lines = sidecar.bearerd.logLines
        #expect(!lines.contains { $0["level"] == "warning" })
        let told = lines.filter { $0.message == "the provider does not exchange a caller's own token" }
        #expect(1...20 ~= told.count && told.first?["code"] == "invalid_grant", "\(told.count)")
        #expect(LeakScan.leaks(of: ["made-up-"], in: sidecar.bearerd.log).isEmpty)
    }

    @Test(arguments: ["refresh", "invalidate", "revoke", "logout"])
    func `has nothing left of it after an action on the identity`(action: String) throws {
        let gate = Gate()
        let sidecar = try sidecar { request, provider in
            request["subject_token"] == "good-slow"
                ? provider.tokens(tokenType: #""n_a""#).held(by: gate) : nil
        }
        #expect(try get(sidecar, as: "good").status == 200)
        let slow = try sidecar.client()
        try slow.send("GET", "/", [("Authorization", "Bearer good-slow")])
        try sidecar.provider.request(2)
        #expect(try sidecar.act(action).status == 200)
        gate.open()
        #expect(try slow.wire.readResponse().status == 200, "it had asked before")
        for caller in ["good", "good-slow"] { #expect(try get(sidecar, as: caller).status == 200) }
        #expect(sidecar.provider.requests.count == 4)
        #expect(Set(sidecar.upstream.tokens).count == 4)
        guard action != "invalidate" else { return }
        let result = try BearerdProcess.command(action, "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 64 && result.errors.contains("from_request"), "\(result.errors)")
    }

    @Test func `that leaves takes nothing from others with the same token`() throws {
        let gate = Gate()
        let sidecar = try sidecar { _, provider in provider.tokens(tokenType: #""n_a""#).held(by: gate) }
        let fields = [("Authorization", "Bearer good")]
        let first = try sidecar.client()
        try first.send("GET", "/", fields)
        try sidecar.provider.request(1)
        let second = try sidecar.client()
        try second.send("GET", "/", fields)
        first.wire.reset()
        try sidecar.bearerd.logLine("the first has gone") { $0["status"] == "499" }
        gate.open()
        #expect(try second.wire.readResponse().status == 200)
        #expect(sidecar.provider.requests.count == 1 && sidecar.upstream.requests.count == 1)
    }

    @Test func `with a token that calls itself expired has it exchanged once, if the provider takes it`()
        throws
    {
        let sidecar = try sidecar { _, provider in provider.tokens(tokenType: #""n_a""#) }
        // {"alg":"none"} . {"exp":1700000000}
        let old = "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9."
        let client = try sidecar.client()
        for _ in 0..<30 {
            #expect(try client.request("GET", "/", [("Authorization", "Bearer \(old)")]).status == 200)
        }
        // A slow machine may take longer than that is remembered.
        #expect(sidecar.provider.requests.count <= 4)
    }

    @Test func `takes no token along in a trailer, nor by a name that a gateway may take for it`() throws {
        let sidecar = try sidecar(route: "header: X-Token")
        let host = try sidecar.bearerd.proxy
        let answer = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer good-a\r\nX_Token: mine\r\n"
                + "DPoP: mine\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n"
                + "0\r\nAuthorization: Bearer good-b\r\nX-Token: mine\r\nDPoP: mine\r\n\r\n", method: "POST")
        #expect(answer.status == 200)
        let sent = try sidecar.upstream.request()
        #expect(sent["X-Token"] == "Bearer \(sidecar.provider.accessTokens[0])")
        for text in ["good-", "mine"] {
            #expect(
                !sent.head.description.contains(text) && !sent.trailers.contains { $0.value.contains(text) })
        }
    }

    @Test func `gets no token of the service's by a grant that would never look at it`() throws {
        let directory = try TemporaryDirectory()
        let token = try directory.write("token", "a.b.c")
        let grants = [
            "grant_type: client_credentials", "grant_type: refresh_token", "grant_type: authorization_code",
            "preset: keycloak-k8s\n    assertion_file: \(token)",
            "preset: gcp-wif\n    assertion_file: \(token)",
        ]
        for grant in grants {
            let file = try directory.write(
                "config.yaml",
                """
                identities:
                  default:
                    issuer: https://sso.example.com/realms/x
                    client_id: app
                    subject_token: from_request
                    \(grant)
                routes: [{path: /, upstream: "https://api.example.com", identity: default}]
                """)
            for command in ["check", "run"] {
                let result = try BearerdProcess.command(command, "-c", file)
                #expect(result.exit == 78, "\(command) \(grant)")
                #expect(result.errors.contains("identities.default.subject_token: "), "\(result.errors)")
                #expect(result.errors.contains("grant_type: token_exchange"), "\(result.errors)")
            }
        }
    }
}
