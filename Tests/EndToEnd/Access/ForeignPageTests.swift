// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What pages of other origins, and those who follow their links, get to hear.
@Suite(.blocking) struct `A page of another origin` {
    private static let own = "http://$host"

    /// bearerd on plain HTTP off loopback: to such an origin browsers send no `Sec-Fetch-Site`.
    private static func open(_ access: String = "") throws -> Sidecar {
        try Sidecar(.init(top: "unsafe_listen: true\n\(access)", listen: "0.0.0.0:0"))
    }

    private static func get(_ sidecar: Sidecar, _ fields: [(String, String)]) throws -> RawResponse {
        let port = try sidecar.bearerd.proxy.port
        let host = "127.0.0.1:\(port)"
        let client = try RawClient(to: .tcp(port: port))
        return try client.request(
            "GET", "/",
            [("Host", host)] + fields.map { ($0.0, $0.1.replacing("$host", with: host)) })
    }

    @Test func `is told by its Referer where browsers say nothing else`() throws {
        let sidecar = try Self.open("access:\n  origins: ['http://app.test']")
        let refused = [
            [("Referer", "http://evil.test/page?q#f")], [("Referer", "http://127.0.0.1:1/")],
            [("Referer", "HTTP://Evil.Test")], [("Referer", "http://app.test:81/")],
            [("Referer", "https://app.test/")],
            [("Referer", "http://app.test.evil.test/")], [("Referer", "http://app.test@evil.test/")],
            [("Referer", Self.own), ("Referer", "http://evil.test/")],
            [("Referer", "http://$host.evil.test/")],
        ]
        for fields in refused {
            `bearerd's own answers`.check(try Self.get(sidecar, fields), 403, "access_denied")
        }
        #expect(sidecar.upstream.requests.isEmpty)
        let named = try Self.get(sidecar, refused[0]).json["detail"].string ?? ""
        #expect(named.contains("'http://evil.test'") && named.contains("access.origins"))
        let allowed = [
            [], [("Referer", "")], [("Referer", "/page")], [("Referer", "about:blank")],
            [("Referer", Self.own + "/a?b")], [("Referer", "http://app.test:80/x")],
            [("Referer", "HTTP://APP.test/")],
            // What the browser does say counts.
            [("Referer", "http://evil.test/"), ("Sec-Fetch-Site", "none")],
            [("Referer", "http://evil.test/"), ("Origin", "http://app.test")],
        ]
        for fields in allowed { #expect(try Self.get(sidecar, fields).status == 200, "\(fields)") }
        #expect(sidecar.upstream.requests.count == allowed.count)
        #expect(try sidecar.metrics().sum("bearerd_denied_total", #"reason="origin""#) == 10)
    }

    /// A name that leads to loopback is none that browsers know to.
    @Test func `is told by its Referer under a name of one's own on loopback too`() throws {
        let sidecar = try Sidecar(.init(top: "access:\n  hosts: [api.test, localhost]"))
        let (evil, own) = (("Referer", "http://evil.test/"), ("Referer", "http://api.test:8080/x"))
        `bearerd's own answers`.check(
            try sidecar.get("/", [("Host", "api.test:8080"), evil]), 403, "access_denied")
        #expect(try sidecar.get("/", [("Host", "api.test:8080"), own]).status == 200)
        #expect(try sidecar.get("/", [("Host", "api.test:8080")]).status == 200)
        #expect(try sidecar.get("/", [("Host", "localhost:8080"), evil]).status == 200)
    }

    @Test func `is told by what browsers do say on loopback, whatever its Referer`() throws {
        let sidecar = try Sidecar()
        #expect(try sidecar.get("/", [("Referer", "http://evil.test/")]).status == 200)
        let linked = try sidecar.get(
            "/", [("Referer", "http://evil.test/"), ("Sec-Fetch-Site", "cross-site")])
        `bearerd's own answers`.check(linked, 403, "access_denied")
        #expect(linked.json["detail"].string?.contains("access.origins") == true)
    }

    @Test(arguments: [
        "https://evil.test", "http://localhost:3000", "http://[::1]:1", "chrome-extension://abcdef",
    ])
    func `is named in the refusal, with the key that would let it in`(origin: String) throws {
        let sidecar = try Sidecar()
        let answer = try sidecar.get("/", [("Origin", origin)])
        `bearerd's own answers`.check(answer, 403, "access_denied")
        let detail = answer.json["detail"].string ?? ""
        #expect(detail.contains("'\(origin)'") && detail.contains("access.origins"))
        let allowing = try Sidecar(.init(top: "access:\n  origins: ['\(origin)']"))
        #expect(try allowing.get("/", [("Origin", origin)]).status == 200)
    }

    @Test(arguments: [
        "null", "https://a\"b", "https://<script>", "https://a\\b", "https://a/b", "https://a b",
        "https://\u{E9}",
        "https://\(String(repeating: "a", count: 4000))", "a'b",
        "",
    ])
    func `is not named by what could not stand in that key`(origin: String) throws {
        let answer = try Sidecar().get("/", [("Origin", origin)])
        `bearerd's own answers`.check(answer, 403, "access_denied")
        #expect(answer.text.contains("access.origins") && answer.text.utf8.count < 400)
        #expect(!answer.text.contains("<") && (origin.isEmpty || !answer.text.contains(origin)))
    }

    @Test func `is not named where several are`() throws {
        let sidecar = try Sidecar(.init(top: "access:\n  origins: ['https://app.test']"))
        let answer = try sidecar.get("/", [("Origin", "https://app.test"), ("Origin", "https://evil.test")])
        `bearerd's own answers`.check(answer, 403, "access_denied")
        #expect(!answer.text.contains(".test'"))
    }

    @Test func `does not learn more of a Host that is not ours than it said`() throws {
        let sidecar = try Sidecar()
        for (host, isNamed) in [
            ("evil.test", true), ("evil.test:8080", true), ("[::1]:1", true), ("127.0.0.1", true),
            ("a'b", false),
            ("a&b", false), ("", false), (String(repeating: "a", count: 4000), false), ("$(id)", false),
        ] {
            let answer = try sidecar.get("/", [("Host", host)])
            `bearerd's own answers`.check(answer, 421, "wrong_host")
            let detail = answer.json["detail"].string ?? ""
            #expect(detail.contains("access.hosts") && detail.utf8.count < 400, "\(host)")
            #expect(detail.contains("'\(host)'") == isNamed, "\(host)")
        }
        let admin = try sidecar.admin("GET", "/api/status", [("Host", "evil.test:1")])
        let detail = admin.json["detail"].string ?? ""
        #expect(admin.status == 421 && detail.contains("'evil.test:1'") && detail.contains("access.hosts"))
    }

    @Test func `needs no key to ask whether it may, and takes nothing from the rate`() throws {
        let key = "key-" + randomText()
        let sidecar = try Sidecar(
            .init(
                top: """
                    access: {origins: ['https://app.test'], key: \(key)}
                    limits: {requests_per_second: 1}
                    """))
        let client = try sidecar.client()
        for _ in 0..<5 {
            let preflight = try client.request(
                "OPTIONS", "/",
                [
                    ("Origin", "https://app.test"), ("Access-Control-Request-Method", "PUT"),
                    ("Access-Control-Request-Headers", "x-bearerd-key"),
                ])
            #expect(preflight.status == 204 && preflight["Access-Control-Allow-Origin"] == "https://app.test")
            #expect(preflight["X-Request-Id"]?.isEmpty == false)
        }
        let without = try client.request("PUT", "/", [("Origin", "https://app.test")], body: "x")
        #expect(without.status == 403 && without["Access-Control-Allow-Origin"] == "https://app.test")
        let call = try client.request(
            "PUT", "/", [("Origin", "https://app.test"), ("X-Bearerd-Key", key)], body: "x")
        #expect(call.status == 200 && call["Access-Control-Allow-Origin"] == "https://app.test")
    }
}
