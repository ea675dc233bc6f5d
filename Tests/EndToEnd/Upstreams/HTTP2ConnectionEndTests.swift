// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What becomes of requests where an upstream ends its connection, or lets few onto it.
@Suite(.blocking) struct `An HTTP2 connection to an upstream` {
    @Test func `that ends while nobody uses it costs no request anything, whatever its method`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.answer(stream.id, text: "\(stream.connection)")
            try peer.goAway(lastStream: stream.id)
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        for number in 1...3 {
            let answer = try client.request("POST", "/h2/", body: "x")
            #expect(answer.status == 200 && answer.text == "\(number)")
            try upstream.awaitNoConnections()
        }
        #expect(upstream.streams.map(\.text) == ["x", "x", "x"])
    }

    @Test func `goes on for a POST that comes together with what its upstream says`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.answer(stream.id, text: "ok")
            for _ in 0..<10 { try peer.send(.windowUpdate(1)) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        for _ in 0..<150 { #expect(try client.request("POST", "/h2/", body: "x").text == "ok") }
        #expect(upstream.connectionCount == 1)
    }

    @Test func `that takes no more than its first requests has the others sent once more elsewhere`() throws {
        let first = Monitor<HTTP2Upstream.Peer?>(nil)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            switch (stream.connection, stream.id) {
            case (1, 1): first.withLock { $0 = peer }
            case (1, _): try peer.goAway(lastStream: 1)
            default: try peer.answer(stream.id, text: "again \(stream.text)")
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let (one, two) = (try sidecar.client(), try sidecar.client())
        try one.send("POST", "/h2/one", body: "first")
        try upstream.stream("the first request") { $0.hasEnd && $0.text == "first" }
        let answer = try two.request("POST", "/h2/two", body: "second")
        #expect(answer.status == 200 && answer.text == "again second")
        // The one that was taken goes on where it is.
        let peer = try #require(first.withLock { $0 })
        try peer.answer(1, text: "at last")
        #expect(try one.wire.readResponse().text == "at last")
        #expect(upstream.streams.map(\.text) == ["first", "second", "second"])
        #expect(upstream.streams.map(\.connection) == [1, 1, 2])
    }

    @Test func `carries no more at once than the upstream allows, and others are made`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x3, 2)]) { peer, event, stream in
            if stream.hasEnd, stream[":path"] == "/h2/quick" { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        // The first tells what is allowed.
        #expect(try sidecar.get("/h2/quick").text == "ok")
        let clients = try (0..<5).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/h2/held") }
        try eventually("five requests") {
            upstream.streams.count { $0[":path"] == "/h2/held" } == 5
        }
        let carried = Dictionary(
            grouping: upstream.streams.filter { $0[":path"] == "/h2/held" }, by: \.connection)
        #expect(
            carried.values.allSatisfy { $0.count <= 2 } && upstream.connectionCount == 3, "\(carried.keys)")
        #expect(try sidecar.get("/h2/quick").text == "ok")
    }

    @Test func `is no way around limits.upstream_connections, which counts requests`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd, stream[":path"] == "/h2/quick" { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(
            upstream, route: "timeouts: {connect: 300ms}", top: "limits: {upstream_connections: 3}")
        let clients = try (0..<3).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/h2/held") }
        try eventually("three requests") { upstream.streams.count == 3 }
        #expect(upstream.connectionCount == 1)
        #expect(try sidecar.get("/h2/quick").problem == "upstream_busy")
        // One that waits gets the place of one that leaves.
        clients[0].wire.reset()
        try upstream.stream("the reset") { $0.resetCode != nil }
        #expect(try sidecar.get("/h2/quick").text == "ok")
        #expect(upstream.connectionCount == 1)
    }

    @Test func `lets its upstream send a stream no more than 64 KiB beyond what the client has allowed`()
        throws
    {
        let peers = Monitor<HTTP2Upstream.Peer?>(nil)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            guard stream[":path"] == "/h2/large" else { return try peer.answer(stream.id, 204) }
            peers.withLock { $0 = peer }
            try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            peer.send(20 << 20, on: stream.id)
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let window = 65_535
        let stream = try client.begin("GET", "/h2/large")
        try client.wait { $0.answers[stream]?.content.count == window }
        // Neighbours of the same connections go on, and whatever could come has come then.
        for _ in 0..<50 { #expect(try client.request("GET", "/h2/small").status == 204) }
        let peer = try #require(peers.withLock { $0 })
        // What the client has taken, what is kept for it, and the stream's own window.
        #expect(peer.allowance(of: 1) <= window + (64 << 10) + window, "\(peer.allowance(of: 1))")
        #expect(client.answers[stream]?.content.count == window)
    }

    @Test(arguments: [true, false], [true, false])
    func `goes through a proxy too, wherever the upstream's SETTINGS are in the handshake`(
        speaksFirst: Bool, hasTLS: Bool
    ) throws {
        let authority = try TLSAuthority()
        let tls = try authority.server(for: ["upstream.test"]).choosing("\u{2}h2")
        // In TLS 1.2 the last word of the handshake is the server's: what follows can come with it.
        let upstream = try HTTP2Upstream(
            tls: speaksFirst ? tls.speakingTLS12() : tls, speaksFirst: speaksFirst
        ) { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: stream[":authority"] ?? "") }
        }
        let port = try #require(upstream.url.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try HoldingProxy(to: .tcp(port: port), tls: hasTLS ? authority.server() : nil)
        let ways = [proxy.url, "environment"]
        for (name, way) in ways.flatMap({ [("h2", $0), ("auto", $0)] }) {
            let sidecar = try Self.sidecar(speaking: name, through: way, proxy, authority)
            for _ in 0..<2 {
                let answer = try sidecar.get("/h2/")
                #expect(answer.status == 200 && answer.text == "upstream.test", "\(name): \(answer.text)")
            }
        }
        #expect(proxy.requests == Array(repeating: "CONNECT upstream.test:443 HTTP/1.1", count: 4))
        #expect(upstream.streams.allSatisfy { $0[":scheme"] == "https" })
    }

    /// - Parameter way: the route's `proxy`.
    private static func sidecar(
        speaking name: String, through way: String, _ proxy: HoldingProxy, _ authority: TLSAuthority
    ) throws -> Sidecar {
        try Sidecar(
            environment: ["https_proxy": proxy.url, "SSL_CERT_FILE": authority.certificateFile],
            .init(
                top: "workers: 1",
                moreRoutes: """
                    - {path: /h2, upstream: "https://upstream.test", upstream_protocol: \(name), identity: default, \
                    proxy: "\(way)", ca_file: "\(authority.certificateFile)"}
                    """))
    }

    @Test func `is not spoken through a proxy to an upstream that chooses HTTP/1.1`() throws {
        let authority = try TLSAuthority()
        // Of what it is offered it takes HTTP/1.1 alone.
        let upstream = try RawUpstream(
            tls: authority.server(for: ["upstream.test"]).choosing("\u{8}http/1.1"))
        let port = try #require(upstream.url.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try HoldingProxy(to: .tcp(port: port))
        for (name, status) in [("auto", 200), ("h2", 502)] {
            let sidecar = try Self.sidecar(speaking: name, through: "environment", proxy, authority)
            let answer = try sidecar.get("/h2/")
            #expect(answer.status == status)
            #expect(answer.text.contains("chooses no protocol") == (status == 502), "\(answer.text)")
            let check = try BearerdProcess.command("check", "-c", sidecar.directory.path("config.yaml"))
            #expect(check.exit == 0 && !check.errors.contains("upstream_protocol"))
        }
    }

    @Test func `whose upstream is silent takes no more requests, and a request on it is sent elsewhere`()
        throws
    {
        let end = Gate()
        let upstream = try HTTP2Upstream { peer, _, stream in
            // Blocks the thread that would answer PINGs, without an end of the connection.
            if stream.connection == 1, stream.id > 1 { try end.pass() }
            try peer.answer(stream.id, text: "\(stream.connection)")
        }
        defer { end.open() }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.request("GET", "/h2/").text == "1")
        let waiting = try client.begin("GET", "/h2/waiting")
        try upstream.stream("the request that waits") { $0[":path"] == "/h2/waiting" && $0.connection == 1 }
        // Those that come meanwhile wait beside it, until there is another connection for the next one.
        try eventually("a second connection") {
            try client.begin("GET", "/h2/next")
            return (try? upstream.stream("a second connection", within: .seconds(1)) { $0.connection == 2 })
                != nil
        }
        #expect(try client.request("GET", "/h2/").text == "2")
        #expect(try client.answer(on: waiting).text == "2")
    }
}
