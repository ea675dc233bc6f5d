// SPDX-License-Identifier: Apache-2.0

import TestSupport
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
            ("X-Rewrite-Url", "/admin"), ("X-Other", "stays"),
        ]
        #expect(try sidecar.get("/orders/5", fields).status == 200)
        let names = try sidecar.upstream.request().head.fields.map { $0.name.lowercased() }
        #expect(names.contains("x-other"))
        #expect(!names.contains { $0.hasPrefix("x-http") || $0.hasPrefix("x_http") })
        #expect(!names.contains("x-original-url") && !names.contains("x-rewrite-url"))
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
