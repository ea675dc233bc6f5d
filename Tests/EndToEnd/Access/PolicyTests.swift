// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What `routes[].allow` lets through, seen from a client and from the upstream.
@Suite(.blocking) struct `A route with rules` {
    private static let rules = """
        allow:
          - {methods: [GET], path: /orders/**}
          - {methods: [POST], path: "/orders/*/comments"}
        """

    @Test func `passes what a rule is about, and denies the rest before it takes a token`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(route: Self.rules))
        for (method, target) in [
            ("GET", "/orders"), ("GET", "/orders/5?x=/admin"), ("HEAD", "/orders/5"),
            ("POST", "/orders/5/comments"),
        ] {
            let answer = try sidecar.client().request(method, target)
            #expect(answer.status == 200, "\(method) \(target)")
        }
        let passed = sidecar.upstream.requests.count
        for (method, target) in [
            ("GET", "/"), ("GET", "/admin"), ("DELETE", "/orders/5"), ("POST", "/orders/5"),
            ("GET", "/ordersx"),
            ("GET", "/orders/../admin"), ("GET", "/orders/%2e%2e/admin"), ("POST", "/orders/5%2fx/comments"),
            ("GET", "/ORDERS/5"), ("OPTIONS", "*"),
        ] {
            let answer = try sidecar.client().request(method, target)
            #expect(answer.status == 403, "\(method) \(target)")
            #expect(answer.json["code"].string == "policy_denied")
        }
        #expect(sidecar.upstream.requests.count == passed)
        #expect(try sidecar.metrics().sum("bearerd_denied_total", "reason=\"policy\"") == 10)
    }

    @Test(arguments: [
        ("//orders/admin/x", 400), ("///orders/1", 400), ("http://$host//orders/1", 400),
        ("/\\orders/1", 400),
        ("/orders//admin/x", 403), ("/orders/x/../1", 403), ("/admin/../orders/1", 403),
        ("/admin/%2e%2e/orders/1", 403), ("/admin/%2E./orders/1", 403), ("/./orders/1", 403),
        ("/orders/.", 403),
        ("/orders/%2f1", 403), ("/orders/\\1", 403), ("/orders/..;x/1", 400), ("/%6frders/1", 403),
        ("/orders/1/", 200), ("/orders/1%2e5", 200),
    ])
    func `judges paths as each server may read them, and check says the same`(
        target: String, status: Int
    ) throws {
        let sidecar = try Sidecar(Sidecar.Settings(route: Self.rules))
        let host = "\(try sidecar.bearerd.proxy)"
        let answer = try sidecar.client().request("GET", target.replacing("$host", with: host))
        #expect(answer.status == status)
        #expect(sidecar.upstream.requests.count == (status == 200 ? 1 : 0))
        if status == 403 { #expect(answer.json["code"].string == "policy_denied") }
        let explained = try BearerdProcess.command(
            "check", "-c", sidecar.directory.path("config.yaml"), "--explain", "GET",
            target.replacing("$host", with: "127.0.0.1"))
        #expect(explained.exit == (status == 200 ? 0 : 1))
        #expect(explained.output.contains(status == 200 ? "allowed" : "\(status) "), "\(explained.output)")
    }

    @Test func `lets nothing up that names a host once its prefix is off`() throws {
        let upstream = try RawUpstream()
        let more = """
            - {path: /api, upstream: '\(upstream.url)', identity: default, strip_prefix: true, allow: [{path: /api/orders/**}]}
            - {path: /free, upstream: '\(upstream.url)', identity: default, strip_prefix: true}
            - {path: /deep, upstream: '\(upstream.url)/v1', identity: default, strip_prefix: true}
            """
        let sidecar = try Sidecar(Sidecar.Settings(moreRoutes: more))
        for target in ["/api//orders/admin/users/7", "/free//orders/admin/users/7", "/free/\\x"] {
            #expect(try sidecar.client().request("DELETE", target).status == 400, "\(target)")
        }
        #expect(upstream.requests.isEmpty)
        #expect(try sidecar.get("/deep//x").status == 200)
        #expect(try upstream.request().head.target == "/v1//x")
    }

    @Test func `is refused with an upstream whose prefix names a host`() throws {
        let route = "- {path: /b, upstream: 'http://127.0.0.1:1//v1', identity: none}"
        let result = try Sidecar.check(Sidecar.Settings(moreRoutes: route))
        #expect(result.exit == 78 && result.errors.contains("two slashes"), "\(result.errors)")
    }

    @Test func `that has none allows nothing, whoever could give a token`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .response(503) }
        let sidecar = try Sidecar(provider: provider, Sidecar.Settings(route: "allow: []"))
        #expect(try sidecar.get("/").json["code"].string == "policy_denied")
    }

    @Test func `passes nothing that would make another request of one`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(route: Self.rules))
        let fields = [
            ("X-HTTP-Method-Override", "DELETE"), ("x_http_method_override", "DELETE"),
            ("X-Original-URL", "/admin"),
            ("X-Rewrite-Url", "/admin"), ("X-Original-Path", "/admin"), ("x_original_path", "/admin"),
            ("X-MS-Original-URL", "/admin"), ("X-Original-Request-Uri", "/admin"), ("Path-Info", "/admin"),
            ("X-Http-Destinationurl", "/admin"), ("PATH_INFO", "/admin"), ("Script_Name", "/admin"),
            ("X-Method", "DELETE"), ("Request-Uri", "/admin"), ("Base-Url", "/admin"), ("X-Url", "/admin"),
            ("X-Envoy-Original-Path", "/admin"), ("X-Forwarded-Uri", "/admin"),
            ("X_Forwarded-Prefix", "/admin"),
            ("X-Forwarded-Method", "DELETE"), ("X-Original-Method", "DELETE"),
            ("x-method.override", "DELETE"),
        ]
        let others = [("X-Other", "stays"), ("X-Original-Host", "stays"), ("X-Forwarded-Port", "stays")]
        #expect(try sidecar.get("/orders/5", fields + others).status == 200)
        let seen = try sidecar.upstream.request().head.fields
        #expect(seen.filter { $0.value == "stays" }.count == others.count)
        #expect(!seen.contains { ["DELETE", "/admin"].contains($0.value) }, "\(seen)")
    }

    @Test func `passes such fields where it has none, and its own where it has`() throws {
        let upstream = try RawUpstream()
        let set = "request_headers: {set: {X-Forwarded-Prefix: /ours}}"
        let more = "- {path: /b, upstream: '\(upstream.url)', identity: none, allow: [{path: /b}], \(set)}"
        let sidecar = try Sidecar(Sidecar.Settings(moreRoutes: more))
        #expect(try sidecar.get("/", [("X-Original-URL", "/x")]).status == 200)
        #expect(try sidecar.upstream.request()["X-Original-URL"] == "/x")
        #expect(try sidecar.get("/b", [("X-Forwarded-Prefix", "/theirs")]).status == 200)
        #expect(try upstream.request().head.values("X-Forwarded-Prefix") == ["/ours"])
    }

    @Test func `leads no kind of server elsewhere than a rule says`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(route: Self.rules))
        let pieces = [
            "/", "/", "//", "\\", "%2f", "%5C", "..", ".", "%2e", ".%2E", "..;x", ";x", "%3b", "%00", "%3f",
            "orders",
            "admin", "1", "%61dmin",
        ]
        var random = RepeatableGenerator(seed: 0xA110_0000_0000_0002)
        let pattern = try PathPattern("/orders/**")
        for _ in 0..<1_000 {
            var target = ["/orders/", "/", "//"].randomElement(using: &random) ?? "/"
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                target += pieces.randomElement(using: &random) ?? ""
            }
            let answer = try sidecar.client().request("GET", target)
            #expect([200, 400, 403].contains(answer.status), "\(target)")
        }
        let seen = sidecar.upstream.requests.map(\.head.target)
        #expect(seen.count > 20)
        for target in seen {
            let path = Array(target.utf8)
            for reader in UpstreamReader.allCases {
                #expect(pattern.matches(reader.place(of: path)), "\(target) for \(reader)")
            }
        }
    }

    @Test func `keeps a body that it does not take from being the next request`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(route: Self.rules))
        let client = try sidecar.client()
        #expect(try client.request("POST", "/admin", body: "GET /orders HTTP/1.1\r\n\r\n").status == 403)
        #expect(try client.request("GET", "/orders").status == 200)
        #expect(sidecar.upstream.requests.count == 1)
    }

    @Test(arguments: [
        ("GET", "/orders/5?x=/admin", 0, "routes[0].allow[0] GET /orders/**"),
        ("HEAD", "http://127.0.0.1:8080/orders", 0, "routes[0].allow[0]"),
        ("POST", "/orders/5/comments", 0, "routes[0].allow[1] POST"),
        ("DELETE", "/orders/5", 1, "403 policy_denied"),
        ("GET", "/orders/../admin", 1, "none of routes[0].allow"),
        ("GET", "/orders/%2e%2e/free", 1, "400 bad_request"), ("GET", "/free/x", 0, "the route has no allow"),
        ("GET", "http://other.example/there", 0, "routes[2] /there"), ("GET", "/there", 1, "routes[0] /"),
        ("TRACE", "/orders", 1, "405 method_not_allowed"), ("GET", "/a b", 1, "400 bad_request"),
        ("GET", "/a#b", 1, "400 bad_request"), ("G\tT", "/a", 1, "400 bad_request"),
        ("GET", "/free/..%2forders", 1, "400 bad_request"),
        ("GET", "/orders\n\nallowed", 1, "GET /orders\\n\\nallowed\n"),
    ])
    func `is explained by check`(method: String, url: String, exit: Int32, words: String) throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let more = """
            - {path: /free, upstream: http://127.0.0.1:1, identity: none}
            - {path: /there, host: other.example, upstream: http://127.0.0.1:1, identity: none}
            """
        let file = try Sidecar.file(
            provider: provider, directory: directory, Sidecar.Settings(route: Self.rules, moreRoutes: more))
        let result = try BearerdProcess.command("check", "-c", file, "--explain", method, url)
        #expect(result.exit == exit)
        #expect(result.output.contains(words), "\(result.output) \(result.errors)")
    }

    @Test func `is explained by check for hosts that the daemon answers to`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let file = try Sidecar.file(
            provider: provider, directory: directory, Sidecar.Settings(top: "access: {hosts: [api.example]}"))
        for (url, exit, words) in [
            ("http://api.example/a", Int32(0), "allowed"), ("/a", 0, "allowed"),
            ("http://evil.example/a", 1, "421 wrong_host"),
        ] {
            let result = try BearerdProcess.command("check", "-c", file, "--explain", "GET", url)
            #expect(result.exit == exit && result.output.contains(words), "\(url): \(result)")
        }
    }

    @Test func `is explained by check for the names of the listener where no hosts are set`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let file = try Sidecar.file(
            provider: provider, directory: directory,
            Sidecar.Settings(
                moreRoutes: "- {path: /, host: other.example, upstream: http://127.0.0.1:1, identity: none}",
                listen: "127.0.0.1:18080"))
        for (url, exit, words) in [
            ("http://127.0.0.1:18080/a", Int32(0), "allowed"), ("http://localhost:18080/a", 0, "allowed"),
            ("http://other.example/a", 0, "allowed"), ("/a", 0, "allowed"),
            ("http://evil.example:18080/a", 1, "421 wrong_host"), ("http://127.0.0.1/a", 1, "421 wrong_host"),
        ] {
            let result = try BearerdProcess.command("check", "-c", file, "--explain", "GET", url)
            #expect(result.exit == exit && result.output.contains(words), "\(url): \(result)")
        }
    }

    @Test(arguments: [
        ["--explain", "GET"], ["--explain", "GET", "orders"], ["--explain", "GET", "/", "--json"],
        ["/orders"],
    ])
    func `is explained of a method and a URL alone`(arguments: [String]) throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let file = try Sidecar.file(provider: provider, directory: directory)
        let result = try Subprocess.run([BearerdProcess.binary, "check", "-c", file] + arguments)
        #expect(result.ending == .exited(64))
    }

    @Test(arguments: [
        ("allow: [{path: orders}]", "must begin with '/'"), ("allow: [{path: /a**}]", "segment of its own"),
        ("allow: [{path: /a//b}]", "matches nothing"), ("allow: [{methods: [GET]}]", "path"),
        ("allow: [{path: /, method: [GET]}]", "did you mean 'methods'?"), ("allow: /orders", "allow"),
    ])
    func `that makes no sense is refused with its place`(rules: String, words: String) throws {
        let result = try Sidecar.check(Sidecar.Settings(route: rules))
        #expect(result.exit == 78)
        #expect(result.errors.contains(words) && result.errors.contains("config.yaml:"), "\(result.errors)")
    }
}
