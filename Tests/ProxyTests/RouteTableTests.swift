// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdRouting
import Testing

@testable import BearerdProxy

struct `The route table` {
    private func route(
        _ path: String, _ change: (inout TestRoute) -> Void = { _ in }
    ) throws -> PreparedRoute {
        try TestRoute.prepared(path, change)
    }

    private func find(
        _ target: String, method: HTTPMethod = .get, host: String = "localhost",
        listener: ListenAddress = .unix(path: "/a"),
        in routes: [PreparedRoute]
    ) throws(ProxyError) -> Int {
        var request = HTTPRequest(method: method, target: target)
        request.fields[.host] = host
        let entries = routes.enumerated().map { (route: $1, target: $0) }
        return try RouteTable(entries, at: listener).route(
            for: method, request.targetBytes, host: request.fields[.host])
    }

    @Test(arguments: [
        ("/", 0), ("/other", 0), ("/api", 1), ("/api/", 1), ("/api/x", 1), ("/apix", 0), ("/api/v2", 2),
        ("/api/v2/x?y=/api", 2), ("/api/v22", 1),
    ])
    func `the longest path wins, on whole segments`(target: String, expected: Int) throws {
        let routes = [try route("/"), try route("/api"), try route("/api/v2")]
        #expect(try find(target, in: routes) == expected)
    }

    @Test(arguments: [
        "/public/../admin/x", "/public/%2e%2e/admin/x", "/public//../admin", "/admin;x/../public",
    ])
    func `a path that means two routes is refused`(target: String) throws {
        let routes = [try route("/public"), try route("/admin")]
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: routes) }
    }

    /// Of each row the last routes are what the path means to servers that read it otherwise.
    @Test(arguments: [
        ("/a:b", "/a%3Ab"), ("/a:b", "/a%3ab/x"), ("/a@b", "/a%40b"), ("/a,b", "/a%2Cb"), ("/a*b", "/a%2ab"),
        ("/x/a:b", "/x/./a%3ab"), ("/x/a:b", "/x/a:b/../a%3ab"), ("/ü", "/%C3%BC%00"),
        ("/admin", "/admin%00x"),
        ("/admin", "/admin%3fx"), ("/admin", "/admin%23/y"), ("/admin", "/admin;x%00"), ("/ü", "/%C3%BC%2fx"),
        ("/a%7Cb", "/%61|b"), ("/é", "/%63/../\u{E9}%2f"),
    ])
    func `a path that some servers read as another route's is refused`(path: String, target: String) throws {
        let routes = [try route("/"), try route(path)]
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: routes) }
        #expect(try find(path, in: routes) == 1)
    }

    @Test(arguments: [
        "/%61dm/../x", "/%61dm/%2e%2e/x", "/%61dm/sec/%2e%2e/%2e%2e/x", "/%61dm/..", "/adm/..",
        "/%61dm/./.%2E",
    ])
    func `dot segments are names to servers that decode and resolve nothing`(target: String) throws {
        let routes = [try route("/"), try route("/adm")]
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: routes) }
        #expect(try find(target, in: [try route("/")]) == 0)
    }

    @Test(arguments: [
        ("/ü", "/%C3%BC"), ("/ü", "/%c3%bc/x"), ("/%c3%bc", "/%C3%BC"), ("/%C3%BC", "/\u{FC}?x"),
        ("/a|b", "/a%7cb"),
        ("/a%7cb", "/a|b"), ("/a%", "/a%25"), ("/a%25", "/a%/"), ("/a{b}", "/a%7Bb%7d"),
        ("/a%20b", "/a%20b/%3A"),
        ("/ü/x/", "/\u{FC}/x"),
    ])
    func `characters that have several spellings are the same in each`(path: String, target: String) throws {
        #expect(try find(target, in: [try route("/"), try route(path)]) == 1)
        #expect(try find("/%C3%BB", in: [try route("/"), try route(path)]) == 0)
    }

    @Test func `an escape that no route is about decides nothing`() throws {
        let routes = [try route("/"), try route("/admin"), try route("/a:b")]
        for target in ["/a%2Cb", "/x%00", "/x/admin%3f", "/admin/x%23y", "/adm%00in", "/a%3Ac"] {
            #expect(try find(target, in: routes) == (target.hasPrefix("/admin") ? 1 : 0), "\(target)")
        }
    }

    @Test func `dots inside one route are no trouble`() throws {
        #expect(try find("/a/../b", in: [try route("/")]) == 0)
        #expect(try find("/../b", in: [try route("/")]) == 0)
    }

    @Test(arguments: [
        "/reports/x\\y/../../admin", "/reports/x%5cy/../../admin", "/reports/../admin//../reports/x",
        "/a//b/..",
        "/reports/..;/x", "/reports/./a;b",
    ])
    func `dots and what only some servers take for the end of a segment are refused on any route`(
        target: String
    ) throws {
        let table = [try route("/"), try route("/other") { $0.terms.stripsPrefix = true }]
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: table) }
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: [try route("/none")]) }
        #expect(try find("/x?" + target, in: table) == 0)
    }

    @Test func `parameters that swallow a slash in one reading select one route in both`() throws {
        let table = [try route("/"), try route("/api/admin")]
        #expect(throws: ProxyError.ambiguousPath) { try find("/api;x%2fy/admin", in: table) }
        #expect(try find("/api;x%2fy/open", in: table) == 0)
    }

    @Test func `what follows an exchanged front does not go above it`() throws {
        let changes: [(inout TestRoute) -> Void] = [
            { $0.terms.stripsPrefix = true }, { $0.upstream += "/base" },
            { ($0.terms.stripsPrefix, $0.upstream) = (true, "http://api.example/api/") },
        ]
        for (change, refused) in zip(changes, ["/api/../api/x", "/../api/x", "/api/../api/x"]) {
            let table = [try route("/api", change)]
            #expect(throws: ProxyError.ambiguousPath) { try find(refused, in: table) }
            #expect(try find("/api/a/../x?/../..", in: table) == 0)
        }
    }

    @Test(arguments: ["//", "//x", "///x", "//x/y?z", "/\\x"])
    func `nothing goes up that names a host`(target: String) throws {
        #expect(throws: ProxyError.ambiguousPath) { try find(target, in: [try route("/")]) }
        let stripping = [try route("/api") { $0.terms.stripsPrefix = true }]
        #expect(throws: ProxyError.ambiguousPath) { try find("/api" + target, in: stripping) }
        #expect(try find("/api" + target, in: [try route("/api")]) == 0, "as it stands it names none")
        let prefixed = [
            try route("/api") { ($0.terms.stripsPrefix, $0.upstream) = (true, "http://api.example/v1") }
        ]
        #expect(try find("/api" + target, in: prefixed) == 0)
    }

    @Test func `no route is no route`() throws {
        #expect(throws: ProxyError.noRoute) { try find("/x", in: [try route("/api")]) }
    }

    @Test(arguments: ["TRACE", "CONNECT", "TRACK", "trace", "Connect", "tRACK"])
    func `methods that would echo the token, or leave HTTP, are refused`(method: String) throws {
        let method = HTTPMethod(rawValue: method)
        #expect(throws: ProxyError.methodRefused) { try find("/", method: method, in: [try route("/")]) }
    }

    @Test(arguments: ["TRACES", "CONNEC", "T", "COPY", "get"])
    func `methods that begin like them are like any other`(method: String) throws {
        #expect(try find("/", method: HTTPMethod(rawValue: method), in: [try route("/")]) == 0)
    }

    @Test func `routes with one path differ in their methods`() throws {
        let routes = [
            try route("/") { $0.key.methods = [.get] }, try route("/") { $0.key.methods = [.post] },
        ]
        #expect(try find("/", method: .post, in: routes) == 1)
        #expect(throws: ProxyError.methodNotAllowed) { try find("/", method: .delete, in: routes) }
    }

    @Test func `routes with one path need not stand together`() throws {
        let routes = [
            try route("/a") { $0.key.methods = [.get] }, try route("/b"),
            try route("/a") { $0.key.methods = [.post] },
        ]
        #expect(try find("/a/x", method: .post, in: routes) == 2)
        #expect(throws: ProxyError.methodNotAllowed) { try find("/a", method: .delete, in: routes) }
    }

    @Test func `a route for a host with a port goes before one for the host on any`() throws {
        let hosts = ["api.local", "api.local:81"]
        for order in [hosts, hosts.reversed()] {
            let routes = try order.map { host in try route("/h") { $0.key.host = HostPattern(host) } }
            #expect(try find("/h", host: "api.local:81", in: routes) == order.firstIndex(of: "api.local:81"))
            #expect(try find("/h", host: "api.local:82", in: routes) == order.firstIndex(of: "api.local"))
            #expect(try find("/h", host: "api.local", in: routes) == order.firstIndex(of: "api.local"))
        }
        let longer = try [route("/h") { $0.key.host = HostPattern("api.local:81") }, route("/h/i")]
        #expect(try find("/h/i", host: "api.local:81", in: longer) == 1, "a longer path counts more")
    }

    @Test func `a route for one host goes before one for all`() throws {
        let routes = [try route("/"), try route("/") { $0.key.host = HostPattern("api.local") }]
        #expect(try find("/", host: "API.local:8080", in: routes) == 1)
        #expect(try find("/", host: "api.local.:8080", in: routes) == 1)
        #expect(try find("/", host: "localhost", in: routes) == 0)
    }

    @Test func `a route for one listener is not reached from another`() throws {
        let routes = [try route("/") { $0.key.listen = .unix(path: "/b") }]
        #expect(try find("/", listener: .unix(path: "/b"), in: routes) == 0)
        #expect(throws: ProxyError.noRoute) { try find("/", listener: .unix(path: "/a"), in: routes) }
    }
}
