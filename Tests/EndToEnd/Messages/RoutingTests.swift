// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Which route a request takes, and what its target becomes.
@Suite(.blocking) struct `Requests find their route` {
    private func sidecar(_ routes: [(path: String, more: String)]) throws -> Sidecar {
        let upstream = try RawUpstream()
        let more = routes.map { route in
            """
            - path: \(route.path)
              identity: default
            \(indented(route.more.isEmpty ? "upstream: \(upstream.url)" : route.more, by: 2))

            """
        }
        return try Sidecar(
            upstream: upstream,
            .init(
                route: "request_headers: {set: {X-Route: root}}",
                moreRoutes: more.joined().replacing("UPSTREAM", with: upstream.url)))
    }

    @Test func `the longest prefix on whole segments wins`() throws {
        let sidecar = try sidecar([
            ("/api", "upstream: UPSTREAM\nrequest_headers: {set: {X-Route: api}}"),
            ("/api/v2", "upstream: UPSTREAM\nrequest_headers: {set: {X-Route: v2}}"),
        ])
        let expected = [
            ("/", "root"), ("/api", "api"), ("/api/", "api"), ("/api/v1", "api"), ("/apiary", "root"),
            ("/api/v2", "v2"), ("/api/v2?x=/api", "v2"), ("/api/v22", "api"), ("/API", "root"),
            ("/api?x", "api"),
        ]
        for (index, (target, route)) in expected.enumerated() {
            #expect(try sidecar.get(target).status == 200)
            let seen = try sidecar.upstream.request(index + 1)
            #expect(seen["X-Route"] == route && seen.head.target == target, "\(target)")
        }
    }

    @Test func `strip_prefix drops the route's path, and an upstream's prefix comes before`() throws {
        let sidecar = try sidecar([
            ("/strip", "upstream: UPSTREAM\nstrip_prefix: true"),
            ("/both", "upstream: UPSTREAM/base\nstrip_prefix: true"),
            ("/base", "upstream: UPSTREAM/base"),
        ])
        let expected = [
            ("/strip/a/b?c=d", "/a/b?c=d"), ("/strip", "/"), ("/strip?x", "/?x"), ("/both/a", "/base/a"),
            ("/base/a", "/base/base/a"),
        ]
        for (index, (target, forwarded)) in expected.enumerated() {
            _ = try sidecar.get(target)
            #expect(try sidecar.upstream.request(index + 1).head.target == forwarded, "\(target)")
        }
    }

    @Test func `no route is 404, a method outside the list 405, TRACE and CONNECT always 405`() throws {
        let provider = try HostileProvider()
        let upstream = try RawUpstream()
        let directory = try TemporaryDirectory()
        let bearerd = try BearerdProcess(
            configuration: """
                listen: 127.0.0.1:0
                identities:
                  default:
                    token_endpoint: \(provider.tokenEndpoint)
                    client_id: a
                    client_secret: b
                    grant_type: client_credentials
                routes:
                  - path: /api
                    upstream: \(upstream.url)
                    identity: default
                    methods: [GET, POST]
                store:
                  type: memory
                """, in: directory)
        func ask(_ method: String, _ target: String) throws -> (Int, String?) {
            let answer = try RawClient(to: bearerd.proxy).request(method, target)
            return (answer.status, answer.problem)
        }
        #expect(try ask("GET", "/elsewhere") == (404, "no_route"))
        #expect(try ask("DELETE", "/api") == (405, "method_not_allowed"))
        #expect(try ask("TRACE", "/api") == (405, "method_not_allowed"))
        #expect(try ask("CONNECT", "127.0.0.1:80") == (405, "method_not_allowed"))
        for method in ["TRACK", "track", "trace", "Trace", "connect", "coNNect"] {
            #expect(try ask(method, "/api") == (405, "method_not_allowed"), "\(method)")
        }
        #expect(try ask("connect", "127.0.0.1:80") == (405, "method_not_allowed"))
        #expect(try ask("trace", "*") == (405, "method_not_allowed"))
        #expect(try ask("GET", "/api").0 == 200)
        #expect(upstream.requests.count == 1)
        for (method, target, allowed) in [
            ("DELETE", "/api", "GET, POST"), ("TRACE", "/api", "GET, POST"),
            ("TRACE", "/elsewhere", "GET, HEAD"),
        ] {
            let allow = try RawClient(to: bearerd.proxy).request(method, target)["Allow"] ?? ""
            let members = Set(allow.split(separator: ",").map { $0.drop { $0 == " " } })
            #expect(
                members.isSuperset(of: allowed.split(separator: ",").map { $0.drop { $0 == " " } }),
                "\(allow)")
        }
    }

    @Test func `a path that means two routes is refused, and dots cannot escape`() throws {
        let sidecar = try sidecar([("/api", ""), ("/open", "upstream: UPSTREAM")])
        let refused = [
            "/open/../api", "/open/%2e%2e/api/x", "/open/..%2fapi", "/open/%2E./api", "/open/..\\api",
            "/open/..;x/api",
            "/open/../../etc", "/api/..", "//api",
        ]
        for target in refused {
            let answer = try sidecar.get(target)
            #expect(answer.status == 400 && answer.problem == "bad_request", "\(target) \(answer.status)")
        }
        #expect(sidecar.upstream.requests.isEmpty)
        let passed = [
            "/api/../api/x", "/api/a%2fb", "/api/./x", "/api//x", "/api/x;p=1", "/api/\u{e9}",
            "/api/a|b[c]{d}",
        ]
        for (index, target) in passed.enumerated() {
            #expect(try sidecar.get(target).status == 200, "\(target)")
            #expect(try sidecar.upstream.request(index + 1).head.target == target)
        }
    }

    @Test func `a route is not walked round by another spelling of its path`() throws {
        let rules = "upstream: UPSTREAM\nallow: []"
        let sidecar = try sidecar([("/ü", rules), ("/a:b", rules), ("/a|b", rules), ("/admin", rules)])
        for target in [
            "/\u{FC}", "/%C3%BC", "/%c3%bc/x", "/a:b", "/a|b/x", "/a%7Cb", "/a%7cb", "/admin",
        ] {
            #expect(try sidecar.get(target).problem == "policy_denied", "\(target)")
        }
        for target in [
            "/a%3Ab", "/a%3ab/x", "/admin%00", "/admin%3fx", "/admin%23/x", "/%61|b", "/x/../a%3Ab",
            "/%C3%BC%00", "/%61dmin", "/%61dmin/../x", "/%61dmin/%2e%2e",
        ] {
            let answer = try sidecar.get(target)
            #expect(answer.status == 400 && answer.problem == "bad_request", "\(target) \(answer.status)")
        }
        #expect(sidecar.upstream.requests.isEmpty)
        #expect(try sidecar.get("/b%3Ab%00/admin").status == 200)
        let file = sidecar.directory.path("config.yaml")
        for (target, words) in [("/%c3%bc", "403 policy_denied"), ("/a%3Ab", "400 bad_request")] {
            let explained = try BearerdProcess.command("check", "-c", file, "--explain", "GET", target)
            #expect(explained.exit == 1 && explained.output.contains(words), "\(explained.output)")
        }
    }

    @Test func `strip_prefix drops a path however it is spelled`() throws {
        let sidecar = try sidecar([("/ü/x", "upstream: UPSTREAM\nstrip_prefix: true")])
        sidecar.upstream.answer { _ in .response(302, [("Location", "/there")]) }
        let targets = [
            ("/\u{FC}/x/a%2Fb", "/a%2Fb"), ("/%C3%BC/x?y", "/?y"), ("/%c3%bc/x/../x/a", "/../x/a"),
        ]
        for (index, (target, forwarded)) in targets.enumerated() {
            let answer = try sidecar.get(target)
            guard index < 2 else {
                #expect(answer.status == 400, "dots lead above what follows it")
                continue
            }
            #expect(answer["Location"]?.hasSuffix("/%C3%BC/x/there") == true)
            #expect(try sidecar.upstream.request(index + 1).head.target == forwarded, "\(target)")
        }
    }

    /// Servers differ in what ends a segment, and so in where dots lead.
    @Test(arguments: ["", "strip_prefix: true\n"])
    func `dots beside a doubtful end of a segment are refused on every route`(more: String) throws {
        let sidecar = try sidecar([("/api", more + "upstream: UPSTREAM/base")])
        let refused = [
            "/x\\y/../../admin", "/x%5cy/../../admin", "/x%5Cy/%2e%2E/../admin", "/../admin//../api/x",
            "//../x",
            "/..;x/admin", "/x;y/../../admin", "/..%3bx/admin", "/a%2F../../admin", "/x\\..\\..\\admin",
            "/./a//b",
            "/a/..\\", "/;/../x", "/a%2f.",
        ]
        for front in ["/api", "", "/elsewhere"] {
            for target in refused {
                let answer = try sidecar.get(front + target)
                #expect(
                    answer.status == 400 && answer.problem == "bad_request",
                    "\(front + target) \(answer.status)")
            }
        }
        #expect(sidecar.upstream.requests.isEmpty)
        for target in ["/api/a/../b?c=/../x//y;z\\", "/api/a//b", "/api/a;b=%2F/c", "/api/a\\b%5cc%2fd"] {
            #expect(try sidecar.get(target).status == 200, "\(target)")
        }
    }

    @Test func `dots do not lead above what an exchanged front leaves`() throws {
        let sidecar = try sidecar([
            ("/strip", "upstream: UPSTREAM\nstrip_prefix: true"), ("/base", "upstream: UPSTREAM/base"),
        ])
        for target in ["/strip/../strip/x", "/strip/a/../../strip", "/strip/%2e%2e/strip/x"] {
            let answer = try sidecar.get(target)
            #expect(answer.status == 400 && answer.problem == "bad_request", "\(target) \(answer.status)")
        }
        #expect(sidecar.upstream.requests.isEmpty)
        for target in ["/strip/a/../x", "/base/../base/x", "/base/a/.."] {
            #expect(try sidecar.get(target).status == 200, "\(target)")
        }
        #expect(
            sidecar.upstream.requests.map(\.head.target) == [
                "/a/../x", "/base/base/../base/x", "/base/base/a/..",
            ])
    }

    @Test func `the absolute form replaces Host and must agree with it`() throws {
        let sidecar = try Sidecar()
        let host = "\(try sidecar.bearerd.proxy)"
        let good = try sidecar.client().exchange("GET http://\(host)/a?b HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(good.status == 200)
        #expect(try sidecar.upstream.request().head.target == "/a?b")
        let bad = try sidecar.client().exchange("GET http://evil.test/a HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(bad.status == 400 || bad.status == 421)
        #expect(sidecar.upstream.requests.count == 1)
    }

    @Test func `the asterisk is for OPTIONS alone`() throws {
        let sidecar = try Sidecar()
        #expect(try sidecar.client().request("GET", "*").status == 400)
        #expect(try sidecar.client().request("OPTIONS", "*").status != 400)
    }

    @Test func `routes may be chosen by host`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                top: "access:\n  hosts: [127.0.0.1, a.test, b.test]",
                moreRoutes: """
                    - path: /
                      host: a.test
                      upstream: \(upstream.url)
                      identity: default
                      request_headers: {set: {X-Route: a}}
                    """))
        _ = try sidecar.get("/", [("Host", "a.test")])
        _ = try sidecar.get("/", [("Host", "A.TEST:99")])
        _ = try sidecar.get("/", [("Host", "b.test")])
        #expect(upstream.requests.map { $0["X-Route"] } == ["a", "a", nil])
    }
}
