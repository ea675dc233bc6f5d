// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// bearerd's own answers are problem documents with Proxy-Status (RFC 9457, RFC 9209).
@Suite(.blocking) struct `bearerd's own answers` {
    /// Checks the form that all of them share.
    static func check(
        _ answer: RawResponse, _ status: Int, _ code: String, proxyError: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let problem = answer.json
        #expect(answer.status == status, "\(answer.head)\(answer.text)", sourceLocation: sourceLocation)
        #expect(problem["code"].string == code, "\(answer.text)", sourceLocation: sourceLocation)
        #expect(problem["status"].number == Double(status), sourceLocation: sourceLocation)
        #expect(problem["type"].string == "about:blank", sourceLocation: sourceLocation)
        #expect(problem["title"].string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(problem["detail"].string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(
            answer["Content-Type"]?.hasPrefix("application/problem+json") == true,
            sourceLocation: sourceLocation)
        let proxyStatus = answer["Proxy-Status"] ?? ""
        #expect(proxyStatus.hasPrefix("bearerd; error="), "\(proxyStatus)", sourceLocation: sourceLocation)
        if let proxyError {
            #expect(
                proxyStatus.contains("error=\(proxyError)"), "\(proxyStatus)", sourceLocation: sourceLocation)
        }
        #expect(answer["WWW-Authenticate"] == nil, sourceLocation: sourceLocation)
        #expect(answer["Date"]?.hasSuffix(" GMT") == true, sourceLocation: sourceLocation)
        #expect(answer.head.values("X-Request-Id").map(\.isEmpty) == [false], sourceLocation: sourceLocation)
    }

    @Test func `names the rule, the route and its key, the identity and the upstream`() throws {
        let nobody = try Socket.refusing()
        let sidecar = try Sidecar(
            .init(
                moreRoutes: """
                    - {path: /gone, upstream: "http://\(nobody.address)", identity: default}
                    - {path: /read, upstream: "http://\(nobody.address)", identity: default, methods: [GET]}
                    - {path: /ruled, upstream: "http://\(nobody.address)", identity: default, allow: []}
                    """))
        try sidecar.awaitToken()
        let malformed = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            method: "POST")
        #expect(
            malformed.json["detail"].string
                == "The request is not well-formed HTTP: Content-Length and Transfer-Encoding together.")
        let gone = try sidecar.get("/gone")
        #expect(
            gone.json["detail"].string
                == "The upstream refused the connection (route /gone, identity default, \(nobody.address)); see 'bearerd status'",
            "\(gone.text)")
        let method = try sidecar.client().request("POST", "/read", body: "")
        #expect(
            method.json["detail"].string == "The route does not take this method (route /read, methods).",
            "\(method.text)")
        let ruled = try sidecar.get("/ruled")
        #expect(
            ruled.json["detail"].string
                == "The route's rules do not allow this method and path (route /ruled, allow).",
            "\(ruled.text)")
        for answer in [malformed, gone, method, ruled] { #expect(answer.text.hasSuffix("}\n")) }
    }

    @Test func `names the provider that fails, or does not answer in time`() throws {
        let nobody = try Socket.refusing()
        let (refusing, silent, gate) = (try HostileProvider(), try HostileProvider(), Gate())
        refusing.always { _, _ in .oauthError("invalid_client", status: 401) }
        silent.always { _, provider in provider.tokens().held(by: gate) }
        defer { gate.open() }
        let issuers = [
            ("away", "http://\(nobody.address)"), ("refused", refusing.issuer), ("silent", silent.issuer),
        ]
        let sidecar = try Sidecar(
            .init(
                top: "timeouts: {token_wait: 300ms}",
                moreRoutes: issuers.map {
                    "- {path: /\($0.0), upstream: \"http://127.0.0.1:1\", identity: \($0.0)}"
                }.joined(separator: "\n"),
                moreIdentities: issuers.map {
                    "\($0.0): {issuer: \"\($0.1)\", client_id: a, client_secret: s, grant_type: client_credentials}"
                }.joined(separator: "\n")))
        try refusing.request(2)  // its refusal is known
        for ((name, issuer), words) in zip(
            issuers,
            [
                "The identity provider gave no token", "No token can be had with this configuration",
                "The identity provider gave no token",
            ])
        {
            let place = issuer.dropFirst("http://".count)
            let answer = try sidecar.get("/\(name)")
            #expect(answer.status == 503)
            #expect(
                answer.json["detail"].string
                    == "\(words) (route /\(name), identity \(name), \(place)); see 'bearerd status'",
                "\(answer.text)")
        }
    }

    @Test func `nobody listens at the upstream`() throws {
        let nobody = try Socket.refusing()
        let sidecar = try Sidecar(
            .init(moreRoutes: "- path: /gone\n  upstream: http://\(nobody.address)\n  identity: default"))
        Self.check(try sidecar.get("/gone"), 502, "upstream_connect", proxyError: "connection_refused")
        #expect(try sidecar.get("/").status == 200)
    }

    @Test func `the upstream's name does not resolve`() throws {
        let sidecar = try Sidecar(
            .init(
                moreRoutes: """
                    - path: /gone
                      upstream: http://nowhere.invalid
                      allow_insecure_upstream: true
                      identity: default
                    """))
        Self.check(try sidecar.get("/gone"), 502, "upstream_connect", proxyError: "dns_error")
    }

    @Test func `the upstream speaks no HTTP, or closes without an answer`() throws {
        let answers: [(String, Reply)] = [
            ("rubbish", .raw("SSH-2.0-OpenSSH_9\r\n\r\n", thenClose: true)),
            ("close", .close), ("reset", .reset),
            ("half a head", .raw("HTTP/1.1 200 OK\r\nContent-", thenClose: true)),
            ("two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")),
            ("bad length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab", thenClose: true)),
            ("unknown coding", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: zip\r\n\r\nab", thenClose: true)),
            ("bare CR", .raw("HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 0\r\n\r\n", thenClose: true)),
            ("HTTP/2", .raw("HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", thenClose: true)),
            (
                "a huge head",
                .raw(
                    "HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 200_000))\r\n\r\n", thenClose: true
                )
            ),
        ]
        let upstream = try RawUpstream { request in answers[Int(request.head.target.dropFirst()) ?? 0].1 }
        let sidecar = try Sidecar(upstream: upstream)
        for (index, (name, _)) in answers.enumerated() {
            let answer = try sidecar.get("/\(index)")
            #expect(answer.problem == "upstream_protocol", "\(name)")
            Self.check(answer, 502, "upstream_protocol")
        }
    }

    @Test func `a POST without an answer is 502 too`() throws {
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .close })
        Self.check(try sidecar.client().request("POST", "/", body: "x"), 502, "upstream_protocol")
        #expect(sidecar.upstream.requests.count == 1)
    }

    @Test func `limits have their statuses`() throws {
        let sidecar = try Sidecar(
            .init(top: "limits:\n  header_bytes: 4KiB\n  uri_bytes: 1KiB\n  body_bytes: 1KiB"))
        let host = try sidecar.bearerd.proxy
        let long = try sidecar.get("/", [("X-Long", String(repeating: "x", count: 5000))])
        Self.check(long, 431, "headers_too_large")
        let many = try Sidecar().get("/", (0...1_024).map { ("X-\($0)", "y") })
        Self.check(many, 431, "headers_too_large")
        #expect(many.text.contains("1024 fields") && long.text.contains("limits.header_bytes"))
        Self.check(try sidecar.get("/" + String(repeating: "x", count: 2000)), 414, "uri_too_long")
        let large = String(repeating: "x", count: 2000)
        Self.check(try sidecar.client().request("POST", "/", body: large), 413, "body_too_large")
        let chunked = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n\(large)\r\n0\r\n\r\n"
        )
        Self.check(chunked, 413, "body_too_large")
        #expect(try sidecar.client().request("POST", "/", body: "small").status == 200)
    }

    /// Nothing of the chunk that is too much is on its way yet.
    @Test func `a chunk that is too large is refused at its size`() throws {
        let sidecar = try Sidecar(.init(top: "limits: {body_bytes: 1KiB}"))
        let head =
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let most = "300\r\n" + String(repeating: "x", count: 768) + "\r\n"
        for start in ["401\r\n", "401;a=b\r\nx", "7fffffffffffffff\r\n", most + "101\r\n"] {
            let client = try sidecar.client()
            Self.check(try client.exchange(head + start), 413, "body_too_large")
            client.wire.finishWriting()
            #expect(try client.wire.endsCleanly())
        }
        #expect(sidecar.upstream.requests.isEmpty)
        let rest = "100\r\n" + String(repeating: "y", count: 256) + "\r\n0\r\n\r\n"
        #expect(try sidecar.client().exchange(head + most + rest).status == 200)
        #expect(try sidecar.upstream.request().body.count == 1024)
    }

    @Test func `an unknown transfer coding is 501, another version 505`() throws {
        let sidecar = try Sidecar()
        let host = try sidecar.bearerd.proxy
        let method = try sidecar.client().exchange(
            "\(String(repeating: "M", count: 33)) / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        Self.check(method, 501, "not_implemented")
        #expect(method.json["detail"].string?.contains("method") == true)
        let coding = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
        Self.check(coding, 501, "not_implemented")
        #expect(coding.json["detail"].string?.contains("transfer coding") == true)
        for version in ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9"] {
            let answer = try sidecar.client().exchange("GET / \(version)\r\nHost: \(host)\r\n\r\n")
            Self.check(answer, 505, "version_not_supported")
        }
    }

    @Test func `without a token the answer says why`() throws {
        let cases: [(Reply, code: String)] = [
            (.oauthError("invalid_client", status: 401), "misconfigured"),
            (.oauthError("unauthorized_client"), "misconfigured"),
            (.response(503, [], "busy"), "idp_unavailable"),
        ]
        for (reply, code) in cases {
            let provider = try HostileProvider()
            provider.always { _, _ in reply }
            let sidecar = try Sidecar(provider: provider, .init(top: "timeouts:\n  token_wait: 500ms"))
            try provider.request(2)  // the first answer is known
            let answer = try sidecar.get()
            Self.check(answer, 503, code)
            #expect((answer["Retry-After"].flatMap(Int.init) ?? 0) > 0)
            #expect(sidecar.upstream.requests.isEmpty)
        }
    }

    @Test func `HEAD gets the same head without a body`() throws {
        let nobody = try Socket.refusing()
        let sidecar = try Sidecar(
            .init(moreRoutes: "- path: /gone\n  upstream: http://\(nobody.address)\n  identity: default"))
        let client = try sidecar.client()
        let answer = try client.request("HEAD", "/gone")
        #expect(answer.status == 502 && answer["Proxy-Status"]?.hasPrefix("bearerd; error=") == true)
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `an answer of bearerd's own has the request's identifier, as the log has`() throws {
        let sidecar = try Sidecar()
        func refused(_ fields: [(String, String)]) throws -> String? {
            let answer = try sidecar.get("/", [("Origin", "https://evil.test")] + fields)
            Self.check(answer, 403, "access_denied")
            return answer["X-Request-Id"]
        }
        let made = try #require(try refused([]))
        #expect(made.count == 32)
        try sidecar.bearerd.logLine("its line") { $0["request_id"] == made }
        #expect(try refused([("X-Request-Id", "mine-1")]) == "mine-1")
        #expect(try refused([("X-Request-Id", "")])?.count == 32)
        let long = String(repeating: "x", count: 5000)
        #expect(try refused([("X-Request-Id", long)])?.count == 128)
        // Of a head that was never whole too.
        let malformed = try sidecar.client().exchange("GET / HTTP/1.1\r\nHost : a\r\n\r\n")
        Self.check(malformed, 400, "bad_request")
        let identifier = malformed["X-Request-Id"]
        try sidecar.bearerd.logLine("its line") { $0["request_id"] == identifier && $0["status"] == "400" }
    }

    @Test func `more requests than allowed a second are 429 with Retry-After`() throws {
        let sidecar = try Sidecar(.init(top: "limits:\n  requests_per_second: 5"))
        let client = try sidecar.client()
        var limited: RawResponse?
        for _ in 0..<50 where limited == nil {
            let answer = try client.request("GET", "/")
            if answer.status != 200 { limited = answer }
        }
        let answer = try #require(limited)
        Self.check(answer, 429, "rate_limited")
        #expect((answer["Retry-After"].flatMap(Int.init) ?? 0) > 0)
    }

    @Test func `a request that finds every upstream connection taken waits, then gets 503`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in .ok().held(by: gate) }
        let sidecar = try Sidecar(
            upstream: upstream, .init(top: "limits:\n  upstream_connections: 1\ntimeouts:\n  connect: 500ms"))
        let first = try sidecar.client()
        try first.send("GET", "/")
        try upstream.request()
        Self.check(try sidecar.get(), 503, "upstream_busy")
        gate.open()
        #expect(try first.wire.readResponse().status == 200)
        #expect(try sidecar.get().status == 200)
    }
}
