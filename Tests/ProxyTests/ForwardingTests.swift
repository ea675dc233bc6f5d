// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdRouting
import Testing

@testable import BearerdProxy

struct `The head that is forwarded` {
    private func plan(
        upstream: String = "http://api.example:8443/base", path: String = "/",
        _ change: (inout TestRoute) -> Void = { _ in }
    ) throws -> PreparedRoute {
        try TestRoute.prepared(path, to: upstream, change)
    }

    private func rewritten(
        _ fields: [(HTTPFields.Name, String)], target: String = "/x", on plan: PreparedRoute
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method: .get, target: target)
        for (name, value) in fields { request.fields.append(name, value) }
        try request.rewrite(
            for: plan, host: Array("local:8080".utf8), peer: .ip("127.0.0.9"), scheme: .http)
        return request
    }

    @Test func `what is about one connection is not forwarded`() throws {
        let secret = try #require(HTTPFields.Name("X-Named"))
        let request = try rewritten(
            [
                (.connection, "close, X-Named"), (secret, "1"), (.keepAlive, "5"), (.bearerdKey, "fake"),
                (.upgrade, "h2c"),
            ],
            on: plan())
        for name in [HTTPFields.Name.connection, .keepAlive, .bearerdKey, .upgrade, secret] {
            #expect(!request.fields.contains(name))
        }
    }

    @Test func `the upstream's host and prefix take the place of ours`() throws {
        let request = try rewritten([(.host, "local:8080")], target: "/x?y=1", on: plan())
        #expect(request.fields[.host] == "api.example:8443")
        #expect(request.target == "/base/x?y=1")
    }

    @Test func `the fifth time round is a loop`() throws {
        let via = Array(repeating: (HTTPFields.Name.via, "1.1 bearerd"), count: 4)
        #expect(try rewritten(via, on: plan()).fields.count(of: .via) == 5)
        #expect(throws: ProxyError.loopDetected) { try rewritten(via + [(.via, "1.1 bearerd")], on: plan()) }
    }

    @Test(arguments: [(HTTPVersion.http10, "1.0"), (.http11, "1.1"), (.http2, "2")])
    func `Via says in which version the request came`(version: HTTPVersion, number: String) throws {
        var request = HTTPRequest(method: .get, target: "/")
        request.version = version
        try request.rewrite(for: plan(), host: [], peer: .unknown, scheme: .http)
        #expect(request.fields[.via] == "\(number) bearerd")
    }

    @Test func `forwarded fields are told as the route says`() throws {
        let claims: [(HTTPFields.Name, String)] = [(.xForwardedFor, "6.6.6.6"), (.xForwardedProto, "https")]
        let untouched = try rewritten(claims, on: plan())
        #expect(untouched.fields[.xForwardedFor] == "6.6.6.6")
        let replaced = try rewritten(claims, on: plan { $0.terms.forwarded = .replace })
        #expect(replaced.fields[.xForwardedFor] == "127.0.0.9")
        #expect(replaced.fields[.xForwardedProto] == "http")
        #expect(replaced.fields[.xForwardedHost] == "local:8080")
        let appended = try rewritten(claims, on: plan { $0.terms.forwarded = .append })
        #expect(appended.fields[.xForwardedFor] == "6.6.6.6, 127.0.0.9")
        #expect(appended.fields[.xForwardedProto] == "https")
    }

    @Test(arguments: [
        ("http://api.example:8443/base/y?z#f", "http://local:8080/y?z#f"),
        ("/base/y", "http://local:8080/y"),
        ("http://api.example:8443/elsewhere", "http://api.example:8443/elsewhere"),
        ("http://api.example:84430/base/y", "http://api.example:84430/base/y"),
        ("https://login.example/base/", "https://login.example/base/"),
    ])
    func `a Location at the upstream's own origin becomes one at ours`(
        location: String, expected: String
    ) throws {
        var response = HTTPResponse(status: 302)
        response.fields[.location] = location
        response.rewrite(
            for: try plan(), origins: .init(ofClient: "http://local:8080"))
        #expect(response.fields[.location] == expected)
    }

    @Test(arguments: [
        ("https://api.example/", "https://api.example:443/y", "http://local:8080/y"),
        ("http://api.example/", "http://api.example:80", "http://local:8080/"),
        ("http://api.example/", "http://api.example:8080/y", "http://api.example:8080/y"),
        ("http://api.example/", "http://api.example:80.evil.example/", "http://api.example:80.evil.example/"),
    ])
    func `the port of the upstream's scheme may be spelled out`(
        upstream: String, location: String, expected: String
    ) throws {
        var response = HTTPResponse(status: 302)
        response.fields[.location] = location
        response.rewrite(
            for: try plan(upstream: upstream), origins: .init(ofClient: "http://local:8080"))
        #expect(response.fields[.location] == expected)
    }
}
