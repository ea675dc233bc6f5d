// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A connection can become a tunnel of bytes, for the protocols of `upgrade` (RFC 9110 section 7.8).
@Suite(.blocking) struct `An upgrade` {
    @Test func `makes a tunnel, with what came early on either side`() throws {
        let upstream = try RawUpstream { wire in
            let head = try #require(try wire.readHead())
            #expect(head["Connection"] == "Upgrade" && head["Upgrade"] == "WebSocket")
            #expect(head["Authorization"]?.hasPrefix("Bearer ") == true)
            try wire.grantWebSocket([("Sec-WebSocket-Accept", "x")], sending: "first")
            #expect(try wire.read(exactly: 5) == Array("early".utf8))
            try wire.send("second")
            #expect(try wire.endsCleanly())
            try wire.send("last")
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send(
            "GET /ws HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nConnection: keep-alive, Upgrade\r\n"
                + "Upgrade: WebSocket\r\n\r\nearly")
        let head = try #require(try client.wire.readHead())
        #expect(head.status == 101 && head["Upgrade"] == "websocket" && head["Connection"] == "Upgrade")
        #expect(head["Sec-WebSocket-Accept"] == "x")
        #expect(try client.wire.read(exactly: 11) == Array("firstsecond".utf8))
        client.wire.finishWriting()
        #expect(try client.wire.readToEnd() == Array("last".utf8))
        try sidecar.bearerd.logLine("the tunnel's line") {
            $0["status"] == "101" && $0["bytes_in"] == "5" && $0["bytes_out"] == "15"
        }
    }

    @Test(arguments: [
        ("websocket", "websocket"), ("h2c", nil), ("h2c, websocket", "websocket"), ("irc, foo", "foo"),
        ("foo,h2c , WebSocket", "foo, WebSocket"), ("irc", nil), ("irc/6.9", "irc/6.9"),
        ("websocket/13", nil),
    ])
    func `is passed on for the route's protocols alone`(offered: String, passed: String?) throws {
        let sidecar = try Sidecar(.init(route: "upgrade: [websocket, foo, IRC/6.9, h2c]"))
        let answer = try sidecar.get(
            "/",
            [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", offered), ("HTTP2-Settings", "AAMA")])
        #expect(answer.status == 200)
        let seen = try sidecar.upstream.request()
        #expect(seen["Upgrade"] == passed && seen["Connection"] == (passed == nil ? nil : "Upgrade"))
        #expect(seen["HTTP2-Settings"] == nil)
    }

    @Test func `that the upstream does not make leaves the connection as it was`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        for _ in 0..<2 {
            let answer = try client.request(
                "GET", "/", [("Connection", "Upgrade"), ("Upgrade", "websocket")])
            #expect(answer.status == 200 && answer["Connection"] == nil)
        }
    }

    @Test(arguments: ["Upgrade: foo\r\n", "", "Upgrade: websocket, foo\r\n", "Upgrade: h2c\r\n"])
    func `to something that nobody offered is no answer`(fields: String) throws {
        let sidecar = try Sidecar()
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\(fields)\r\nevil")
        }
        let answer = try sidecar.get("/", [("Connection", "Upgrade"), ("Upgrade", "websocket")])
        #expect(answer.status == 502 && answer.problem == "upstream_protocol")
        #expect(answer.text.contains("a 101 that nobody asked for"), "\(answer.text)")
    }
}
