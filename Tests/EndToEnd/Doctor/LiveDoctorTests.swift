// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Whom doctor shows which token, and what it says where there is none to show.
@Suite(.blocking) struct `Doctor with --live` {
    /// The requests that a run sent upstream.
    private func asked(_ fixture: DoctorFixture, by body: () throws -> Void) rethrows -> [RawRequest] {
        let before = fixture.upstream.requests.count
        try body()
        return Array(fixture.upstream.requests.dropFirst(before))
    }

    @Test func `shows an upstream no token that was asked for another one`() throws {
        let other = try RawUpstream()
        var fixture = try DoctorFixture()
        fixture.settings.identity = "audience: plain"
        fixture.settings.route = "audience: special"
        fixture.settings.moreRoutes = "- {path: /plain, upstream: '\(other.url)', identity: default}"
        // The identity's own is fetched alone.
        let first = try fixture.run("--live")
        #expect(first.exit == 0 && fixture.provider.requests.map { $0["audience"] } == ["plain"], "\(first)")
        #expect(fixture.upstream.tokens == [""])
        #expect(other.tokens == ["", fixture.provider.accessTokens[0]])
        #expect(
            first.seen(by: "upstream").hasSuffix(
                "without a token; one is not tried: none for it is stored that has not expired"), "\(first)")

        let daemon = try BearerdProcess(arguments: ["run", "-c", fixture.file()])
        let special = try fixture.provider.request(2)
        #expect(special["audience"] == "special")
        try eventually("the token in the store") {
            let seen = try fixture.run("--live", "--check", "upstream").checks.map { $0["seen"].string ?? "" }
            return seen.count == 2 && seen.allSatisfy { $0.hasSuffix("200 with one") }
        }
        try daemon.kill()
        let issued = zip(fixture.provider.requests, fixture.provider.accessTokens)
        let ofSpecial = Set(issued.filter { $0.0["audience"] == "special" }.map(\.1))
        let shown = Set(fixture.upstream.tokens.filter { !$0.isEmpty })
        #expect(!shown.isEmpty && shown.isSubset(of: ofSpecial))
        #expect(ofSpecial.isDisjoint(with: other.tokens))
    }

    @Test func `tries what a source gives, and says what to do where the upstream refuses it`() throws {
        let directory = try TemporaryDirectory()
        let token = try directory.write("token", "fake-static-token\n")
        let upstream = try RawUpstream { request in
            request["Authorization"] == "Bearer fake-static-token" ? .ok() : .unauthorized
        }
        let file = try directory.write(
            "config.yaml",
            SourceSite.configuration(
                identity: "source: static\ntoken_file: \(token)", upstream: upstream.url
            ).replacing(
                "store: {type: memory}", with: "store: {type: file, directory: \(directory.path("store"))}"))
        func upstreamRow() throws -> TestJSON {
            let result = try BearerdProcess.command(
                "doctor", "--live", "--json", "--check", "upstream", "-c", file)
            return TestJSON(parsing: result.output)?["checks"][0] ?? .null
        }
        #expect(try upstreamRow()["seen"].string?.hasSuffix("without a token, 200 with one") == true)
        try directory.write("token", "fake-other-token\n")
        let refused = try upstreamRow()
        #expect(refused["result"].string == "fail", "\(refused)")
        #expect(
            refused["fix"].string
                == "identities.default.token_file: put a token there that the upstream takes")
    }

    @Test func `sends a token where and as the route does`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.route = "header: X-Api-Key\nscheme: ''\nhost_header: api.test"
        let result = try fixture.run("--live")
        #expect(result.seen(by: "upstream").hasSuffix("200 with one"), "\(result)")
        let requests = fixture.upstream.requests
        #expect(requests.map { $0["X-Api-Key"] } == [nil, fixture.provider.accessTokens[0]])
        #expect(requests.map { $0["Authorization"] } == [nil, nil])
        #expect(requests.map { $0["Host"] } == ["api.test", "api.test"])
    }

    @Test func `asks for nothing that the route's rules forbid`() throws {
        for (route, targets) in [
            ("allow: [{methods: [GET], path: /orders/**}]", ["/orders", "/orders"]),
            ("allow: [{methods: [POST], path: /**}, {path: /a/b}]", ["/a/b", "/a/b"]),
            ("allow: [{path: /**}]", ["/", "/"]), ("allow: [{methods: [POST], path: /**}]", []),
            ("allow: [{path: /users/*}]", []), ("allow: []", []),
        ] {
            var fixture = try DoctorFixture()
            fixture.settings.route = route
            let result = try fixture.run("--live")
            #expect(fixture.upstream.requests.map(\.head.target) == targets, "\(route)")
            #expect(result.result(of: "upstream") == (targets.isEmpty ? "skip" : "ok"), "\(result)")
            #expect(!targets.isEmpty || result.seen(by: "upstream").contains("allow permits no HEAD"))
        }
        var fixture = try DoctorFixture()
        fixture.settings.moreRoutes = """
            - {path: /api/, upstream: "\(fixture.upstream.url)/v1", identity: default, strip_prefix: true, allow: [{path: /api/x}]}
            """
        _ = try fixture.run("--check", "upstream")
        #expect(fixture.upstream.requests.map(\.head.target) == ["/", "/v1/x"])
    }

    @Test func `sends what the route adds to a request, and not what it removes`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.route =
            "host_header: api.test\nrequest_headers: {set: {X-Tenant: acme}, remove: [User-Agent]}"
        let result = try fixture.run("--live")
        #expect(result.seen(by: "upstream").hasSuffix("200 with one"), "\(result)")
        let requests = fixture.upstream.requests
        #expect(requests.map { $0["X-Tenant"] } == ["acme", "acme"])
        #expect(requests.map { $0["User-Agent"] } == [nil, nil])
    }

    @Test func `asks for nothing in the name of callers who are not there`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.grant = "token_exchange\n    subject_token: from_request"
        for words in [["--live"], ["--live", "--check", "token"]] {
            let result = try fixture.run(words)
            #expect(result.exit == 0 && fixture.provider.requests.isEmpty, "\(result)")
            #expect(result.result(of: "token") == "skip", "\(result)")
            #expect(result.seen(by: "token").contains("subject_token: from_request"), "\(result)")
        }
        let row = try fixture.run("--live")
        #expect(row.result(of: "client-auth") == "skip", "\(row)")
        #expect(row.seen(by: "client-auth").contains("without a caller"), "\(row)")
    }

    @Test func `shows nobody a token that has expired`() throws {
        let fixture = try DoctorFixture()
        fixture.provider.setPolicy { $0.expiresIn = "1" }
        _ = try fixture.run("--live", "--check", "token")
        #expect(fixture.provider.accessTokens.count == 1)
        fixture.provider.always { _, _ in .oauthError("invalid_client") }
        try eventually("the token's end") {
            var seen = ""
            let requests = try asked(fixture) {
                seen = try fixture.run("--live", "--check", "upstream").seen(by: "upstream")
            }
            guard seen.contains("one is not tried") else { return false }
            #expect(requests.map { $0["Authorization"] } == [nil])
            return true
        }
    }

    @Test func `says that it takes the daemon where the store is in memory`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.store = "type: memory"
        let result = try fixture.run("--live")
        #expect(result.exit == 0 && fixture.provider.requests.isEmpty, "\(result)")
        for id in ["token", "client-auth"] {
            #expect(result.result(of: id) == "skip", "\(result)")
            #expect(result.seen(by: id).contains("only the daemon knows"), "\(result)")
        }
        fixture.provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #","token_endpoint_auth_methods_supported":["private_key_jwt"]"#)
        }
        #expect(try fixture.run("--live").result(of: "client-auth") == "fail")
    }
}
