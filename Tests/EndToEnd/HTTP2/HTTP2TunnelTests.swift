// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import Testing

/// WebSockets over HTTP/2 (RFC 8441), which go up as upgrades here.
@Suite(.blocking) struct `Tunnels of HTTP2 streams` {
    @Test func `an extended CONNECT carries a WebSocket`() throws {
        let upstream = try RawUpstream { wire in
            let head = try #require(try wire.readHead())
            #expect(head.method == "GET" && head["Connection"] == "Upgrade" && head["Upgrade"] == "websocket")
            #expect(head["Sec-WebSocket-Key"]?.count == 24 && head["Sec-WebSocket-Version"] == "13")
            #expect(head["Authorization"]?.hasPrefix("Bearer ") == true)
            let proof = WebSocketProof.accept(try #require(head["Sec-WebSocket-Key"]))
            try wire.grantWebSocket(
                [("Sec-WebSocket-Accept", proof), ("Sec-WebSocket-Protocol", "chat")], sending: "first")
            #expect(try wire.read(exactly: 5) == Array("early".utf8))
            try wire.send("second")
            #expect(try wire.endsCleanly())
            try wire.send("last")
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let fields = client.fields("CONNECT", "/ws", [("sec-websocket-version", "13")])
        var pseudo = Array(fields.prefix(4))
        pseudo.append((":protocol", "websocket"))
        let tunnel = try client.begin(pseudo + fields.dropFirst(4), endsStream: false)
        let head = try client.head(on: tunnel)
        #expect(head[":status"] == "200" && head["sec-websocket-protocol"] == "chat")
        #expect(head["upgrade"] == nil && head["sec-websocket-accept"] == nil && head["connection"] == nil)
        try client.send(.data("early", stream: tunnel))
        try client.wait(opening: true) { $0.answers[tunnel]?.text == "firstsecond" }
        try client.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: tunnel))
        #expect(try client.answer(on: tunnel).text == "firstsecondlast")
    }

    private func beginTunnel(of name: String, by client: HTTP2Client, at path: String) throws -> UInt32 {
        let fields = client.fields("CONNECT", path, [("sec-websocket-version", "13")])
        return try client.begin(
            Array(fields.prefix(4)) + [(":protocol", name)] + fields.dropFirst(4), endsStream: false)
    }

    @Test func `an extended CONNECT for what no tunnel is made of is 501, and the upstream sees nothing`()
        throws
    {
        let sidecar = try Sidecar()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let tunnel = try beginTunnel(of: "connect-udp", by: client, at: "/ws")
        let answer = try client.answer(on: tunnel)
        #expect(answer.status == 501 && answer.text.contains("not_implemented"))
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test(arguments: ["websocket, h2c", "websocket,", "web socket"])
    func `an extended CONNECT for no one protocol is malformed, and the upstream sees nothing`(
        name: String
    ) throws {
        let sidecar = try Sidecar()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.answer(on: beginTunnel(of: name, by: client, at: "/ws")).status == 400)
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test(arguments: ["Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", ""])
    func `an upstream whose 101 does not prove that it has the key of an extended CONNECT is 502`(
        proof: String
    ) throws {
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                    + proof + "\r\n")
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let answer = try client.answer(on: try beginTunnel(of: "websocket", by: client, at: "/ws"))
        #expect(answer.status == 502 && answer.text.contains("upstream_protocol"))
    }

    @Test(arguments: [200, 204])
    func `an upstream that answers an extended CONNECT with 2xx and no tunnel is 501, no failure`(
        status: Int
    ) throws {
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send(
                "HTTP/1.1 \(status) Fine\r\n\(status == 200 ? "Content-Length: 2\r\n\r\nok" : "\r\n")")
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for _ in 0..<3 {
            let answer = try client.answer(on: try beginTunnel(of: "websocket", by: client, at: "/ws"))
            #expect(answer.status == 501 && answer.text.contains("not_implemented"))
        }
        let line = try sidecar.bearerd.logLine("the request's") {
            $0["path"] == "/ws" && $0["status"] != nil
        }
        #expect(line["status"] == "501")
        #expect(try sidecar.metrics().series["bearerd_route_failing{route=\"/\"}"] == 0)
    }

    /// An upstream of tunnels that says `first`, then what the script does.
    private func tunnels(_ script: @escaping @Sendable (Wire) throws -> Void) throws -> RawUpstream {
        try RawUpstream { wire in
            let key = try #require(try wire.readHead()?["Sec-WebSocket-Key"])
            try wire.grantWebSocket(
                [("Sec-WebSocket-Accept", WebSocketProof.accept(key))], sending: "first")
            try script(wire)
        }
    }

    @Test func `a tunnel whose upstream resets its connection ends with CANCEL`() throws {
        let gate = Gate()
        let upstream = try tunnels { wire in
            try gate.pass()
            wire.reset()
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let tunnel = try beginTunnel(of: "websocket", by: client, at: "/ws")
        try client.wait { $0.answers[tunnel]?.text == "first" }
        gate.open()
        #expect(try client.resetCode(of: tunnel) == 0x8)
    }

    @Test(arguments: [false, true])
    func `a client that ends its connection, and not its tunnel, has it ended behind its last bytes`(
        isAnnounced: Bool
    ) throws {
        let arrived = Monitor<[UInt8]>([])
        let upstream = try tunnels { wire in
            let bytes = try wire.read(exactly: 4)
            _ = try? wire.readToEnd()
            arrived.withLock { $0 = bytes }
        }
        let sidecar = try Sidecar(upstream: upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let tunnel = try beginTunnel(of: "websocket", by: client, at: "/ws")
        try client.wait { $0.answers[tunnel]?.text == "first" }
        try client.send(.data("last", stream: tunnel))
        if isAnnounced { try client.send(HTTP2Frame(.goaway, Array(repeating: 0, count: 8))) }
        client.wire.finishWriting()
        try arrived.wait(for: "the end") { $0 == Array("last".utf8) ? () : nil }
        try sidecar.bearerd.logLine("the tunnel's end") { $0["path"] == "/ws" && $0["status"] != nil }
    }
}
