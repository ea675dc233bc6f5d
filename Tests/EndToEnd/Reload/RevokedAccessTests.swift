// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A reload takes access away from those who are there already, too.
@Suite(.blocking) struct `A reload that takes access away` {
    /// A configuration before or after a reload: lines at the top level, and those of the route `/b`.
    struct Rules: Sendable {
        let top: String
        let route: String

        init(_ top: String = "", _ route: String = "identity: default") {
            (self.top, self.route) = (top, route)
        }
    }

    private static let origin = ("Origin", "http://a.example")
    private static let credentials = ("Authorization", "Bearer fake-of-the-client")
    private static let key = ("X-Bearerd-Key", "fake-key-one")

    /// Makes tunnels that echo.
    private static func echo() throws -> RawUpstream { try RawUpstream { _ in .echo } }

    /// The route `/b` as the rules have it; the reload always takes `/c` away, whose end tells that the delay is over.
    private static func settings(
        _ rules: Rules, to upstream: RawUpstream, listen: String = "127.0.0.1:0", hasMarker: Bool
    ) -> Sidecar.Settings {
        let marker = "- {path: /c, upstream: '\(upstream.url)', identity: none}"
        return Sidecar.Settings(
            top: "shutdown: {stream_close_delay: 50ms}\n" + rules.top,
            moreRoutes: "- {path: /b, upstream: '\(upstream.url)', \(rules.route)}\n"
                + (hasMarker ? marker : ""),
            listen: listen)
    }

    private func tunnel(
        _ path: String, _ fields: [(String, String)] = [], to address: Address
    ) throws -> RawClient {
        let client = try RawClient(to: address)
        try client.send("GET", path, [("Connection", "Upgrade"), ("Upgrade", "websocket")] + fields)
        #expect(try client.wire.readHead()?.status == 101)
        return client
    }

    private func echoes(_ client: RawClient) throws -> Bool {
        try client.wire.send("ping")
        return try client.wire.read(exactly: 4) == Array("ping".utf8)
    }

    @Test(arguments: [
        (Rules(), Rules("", "identity: none"), "access_gone"),
        (Rules(), Rules("", "identity: default, methods: [POST]"), "access_gone"),
        (Rules(), Rules("", "identity: default, allow: [{path: /b/other}]"), "access_gone"),
        (Rules(), Rules("", "identity: default, allow: []"), "access_gone"),
        (Rules(), Rules("", "identity: default, scope: other"), "access_gone"),
        (Rules(), Rules("", "identity: default, upgrade: []"), "access_gone"),
        (
            Rules("", "identity: default, authorization: preserve"),
            Rules("", "identity: default, authorization: reject"), "access_gone"
        ),
        (
            Rules("", "identity: default, authorization: overwrite"),
            Rules("", "identity: default, authorization: reject"), "access_gone"
        ),
        (
            Rules("", "identity: default, query: key"),
            Rules("", "identity: default, authorization: reject"), "access_gone"
        ),
        (Rules(), Rules("", "identity: default, host: other.example"), "route_gone"),
        (Rules(), Rules("access: {hosts: [other.example]}"), "access_gone"),
        (Rules(), Rules("access: {key: fake-key-two}"), "access_gone"),
        (Rules("access: {key: fake-key-one}"), Rules("access: {key: fake-key-two}"), "access_gone"),
        (Rules("access: {key: fake-key-one}"), Rules("access: {keys: [{key: fake-key-two}]}"), "access_gone"),
        (
            Rules(
                "access: {origins: ['http://a.example']}",
                "identity: default, request_headers: {remove: [Origin]}"),
            Rules(
                "access: {origins: ['http://b.example']}",
                "identity: default, request_headers: {remove: [Origin]}"),
            "access_gone"
        ),
    ])
    func `ends the streams that it has a hold of`(before: Rules, after: Rules, code: String) throws {
        let upstream = try Self.echo()
        let sidecar = try Sidecar(Self.settings(before, to: upstream, hasMarker: false))
        try sidecar.awaitToken()
        let fields =
            (before.top.contains("origins") ? [Self.origin] : [])
            + (before.top.contains("key") ? [Self.key] : [])
            + (after.route.contains("authorization") ? [Self.credentials] : [])
        let stream = try tunnel("/b/x", fields, to: sidecar.bearerd.proxy)
        #expect(try echoes(stream))
        try sidecar.reload(to: Self.settings(after, to: upstream, hasMarker: false))
        _ = try? stream.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["path"] == "/b/x" && $0["code"] == code }
    }

    @Test(arguments: [
        (Rules(), Rules()), (Rules(), Rules("", "identity: default, methods: [GET, POST]")),
        (Rules(), Rules("", "identity: default, allow: [{methods: [GET], path: /b/**}]")),
        (Rules(), Rules("limits: {body_bytes: 7}")),
        (Rules(), Rules("", "identity: default, upgrade: [other, WebSocket]")),
        (Rules(), Rules("", "identity: default, authorization: reject")),
        (Rules(), Rules("access: {hosts: [127.0.0.1, other.example]}")),
        (
            Rules("access: {key: fake-key-one}"),
            Rules("access: {key: fake-key-one, origins: ['http://b.example']}")
        ),
        (Rules("access: {key: fake-key-one}"), Rules()), (Rules(), Rules("access: {key: fake-key-one}")),
        (
            Rules("access: {key: fake-key-one}"),
            Rules("access: {keys: [{key: fake-key-two}, {key: fake-key-one}]}")
        ),
        (
            Rules("access: {origins: ['http://a.example']}"),
            Rules("access: {origins: ['http://b.example', 'http://a.example']}")
        ),
    ])
    func `lets those go on that may`(before: Rules, after: Rules) throws {
        let upstream = try Self.echo()
        let sidecar = try Sidecar(Self.settings(before, to: upstream, hasMarker: true))
        try sidecar.awaitToken()
        let fields =
            (before.top.contains("origins") ? [Self.origin] : [])
            + ((before.top + after.top).contains("key") ? [Self.key] : [])
            + (before.route.contains("preserve") ? [Self.credentials] : [])
        let stream = try tunnel("/b/x", fields, to: sidecar.bearerd.proxy)
        let marker = try tunnel("/c/x", fields, to: sidecar.bearerd.proxy)
        try sidecar.reload(to: Self.settings(after, to: upstream, hasMarker: false))
        _ = try? marker.wire.readToEnd()
        try sidecar.bearerd.logLine("the marker's end") { $0["path"] == "/c/x" && $0["code"] == "route_gone" }
        #expect(try echoes(stream))
    }

    @Test func `ends the streams of a listener that is gone`() throws {
        let upstream = try Self.echo()
        let sidecar = try Sidecar(
            Self.settings(Rules(), to: upstream, listen: "[127.0.0.1:0, 127.0.0.1:0]", hasMarker: false))
        try sidecar.awaitToken()
        let stays = try tunnel("/b/stays", to: sidecar.bearerd.proxy)
        let ends = try tunnel("/b/ends", to: sidecar.bearerd.address(of: .proxy, 1))
        try sidecar.reload(to: Self.settings(Rules(), to: upstream, hasMarker: false))
        _ = try? ends.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") {
            $0["path"] == "/b/ends" && $0["code"] == "route_gone"
        }
        #expect(try echoes(stays))
    }

    @Test func `ends a connection of a listener that is gone with the answer to its upload`() throws {
        let begun = Gate()
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                begun.open()
                _ = try wire.read(exactly: head.method == "POST" ? 4 : 0)
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        })
        let sidecar = try Sidecar(upstream: upstream, .init(listen: "[127.0.0.1:0, 127.0.0.1:0]"))
        try sidecar.awaitToken()
        let address = try sidecar.bearerd.address(of: .proxy, 1)
        let client = try RawClient(to: address)
        try client.wire.send("POST / HTTP/1.1\r\nHost: \(address)\r\nContent-Length: 4\r\n\r\nab")
        try begun.pass()
        try sidecar.reload(to: .init())
        try client.wire.send("cd")
        let answer = try client.wire.readResponse()
        #expect(answer.status == 200 && answer["Connection"] == "close")
        #expect(try client.wire.endsCleanly())
    }

    @Test func `ends what only becomes a stream after that`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try gate.pass()
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let sidecar = try Sidecar(Self.settings(Rules(), to: upstream, hasMarker: false))
        try sidecar.awaitToken()
        let client = try sidecar.client()
        try client.send("GET", "/b/x")
        try upstream.request()
        try sidecar.reload(to: Self.settings(Rules("", "identity: none"), to: upstream, hasMarker: false))
        gate.open()
        #expect(try client.wire.readHead()?.status == 200)
        _ = try? client.wire.readToEnd()
        let line = try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
        #expect(line["status"] == "200", "no doing of the client's")
    }

    @Test func `lets an answer of grpc-web be finished, which is no call of gRPC`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { request in
            Reply { wire in
                let type = request.head.target == "/c/x" ? "text/event-stream" : "application/grpc-web+proto"
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: 4\r\n\r\nab")
                if request.head.target == "/c/x" { return try wire.endsCleanly() }
                try gate.pass()
                try wire.send("cd")
                return true
            }
        }
        let sidecar = try Sidecar(Self.settings(Rules(), to: upstream, hasMarker: true))
        try sidecar.awaitToken()
        let (client, marker) = (try sidecar.client(), try sidecar.client())
        for (client, path) in [(client, "/b/x"), (marker, "/c/x")] {
            try client.send("GET", path)
            #expect(try client.wire.readHead()?.status == 200)
            #expect(try client.wire.read(exactly: 2) == Array("ab".utf8))
        }
        try sidecar.reload(to: Self.settings(Rules("", "identity: none"), to: upstream, hasMarker: false))
        _ = try? marker.wire.readToEnd()
        gate.open()
        #expect(try client.wire.read(exactly: 2) == Array("cd".utf8))
    }

    @Test func `is given back by the next one, and streams go on`() throws {
        let upstream = try Self.echo()
        let sidecar = try Sidecar(Self.settings(Rules(), to: upstream, hasMarker: true))
        try sidecar.awaitToken()
        let (stream, marker) = (
            try tunnel("/b/x", to: sidecar.bearerd.proxy), try tunnel("/c/x", to: sidecar.bearerd.proxy)
        )
        var taken = Self.settings(Rules("", "identity: none"), to: upstream, hasMarker: true)
        taken.top = "shutdown: {stream_close_delay: 30s}"
        try sidecar.reload(to: taken)
        try sidecar.reload(to: Self.settings(Rules(), to: upstream, hasMarker: false))
        _ = try? marker.wire.readToEnd()
        #expect(try echoes(stream))
    }

    @Test func `refuses the next request of a user that is gone, kept and long silent connections too`()
        throws
    {
        let directory = try TemporaryDirectory()
        let (upstream, socket) = (try Self.echo(), directory.path("data.sock"))
        let plain = try RawUpstream()
        func settings(_ user: UInt32) -> Sidecar.Settings {
            Self.settings(
                Rules("workers: 1\naccess: {peer_uids: [\(user)]}"), to: upstream, listen: "unix:\(socket)",
                hasMarker: false)
        }
        let sidecar = try Sidecar(upstream: plain, directory: directory, settings(geteuid()))
        try sidecar.awaitToken()
        let (kept, silent) = (try sidecar.client(), try sidecar.client())
        let stream = try tunnel("/b/x", to: sidecar.bearerd.proxy)
        #expect(try silent.request("GET", "/").status == 200)
        // For long enough to wait without a task.
        #expect(try !silent.wire.hasSomething(within: .milliseconds(1_500)))
        #expect(try kept.request("GET", "/").status == 200)
        try sidecar.reload(to: settings(geteuid() + 1))
        for client in [kept, silent] {
            let answer = try client.request("GET", "/")
            #expect(answer.status == 403 && answer.json["code"].string == "access_denied")
            #expect(answer["Connection"] == "close")
            #expect(try client.wire.endsCleanly())
        }
        #expect(plain.requests.count == 2)
        _ = try? stream.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
    }

    @Test func `counts for a key whose file changes, too`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("access.key", "fake-key-one")
        let upstream = try Self.echo()
        let sidecar = try Sidecar(
            directory: directory,
            Self.settings(Rules("access: {key_file: \(file)}"), to: upstream, hasMarker: false))
        try sidecar.awaitToken()
        let stream = try tunnel("/b/x", [Self.key], to: sidecar.bearerd.proxy)
        try directory.write("access.key", "fake-key-two")
        _ = try? stream.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
    }

    @Test func `waits for no store that is silent`() throws {
        let redis = try RedisProcess()
        let fleet = try Fleet(redis)
        let upstream = try Self.echo()
        func settings(_ key: String, identities: Range<Int>) -> Sidecar.Settings {
            var settings = Self.settings(Rules("access: {key: \(key)}"), to: upstream, hasMarker: false)
            settings.store = fleet.store()
            settings.moreIdentities = identities.map {
                "more-\($0): {issuer: '\(fleet.provider.issuer)', client_id: more, client_secret: fake, grant_type: client_credentials}"
            }.joined(separator: "\n")
            return settings
        }
        let sidecar = try Sidecar(provider: fleet.provider, settings("fake-key-one", identities: 0..<0))
        try sidecar.awaitToken()
        redis.signal(SIGSTOP)
        defer { redis.signal(SIGCONT) }
        // So many that each alone may wait for the store, but not one after the other.
        let after = settings("fake-key-two", identities: 0..<200)
        let reloading = Background { try sidecar.reload(to: after) }
        try eventually("the key before to be refused") {
            try sidecar.get("/", [("X-Bearerd-Key", "fake-key-one")]).status == 403
        }
        try reloading.value()
    }
}
