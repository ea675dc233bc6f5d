// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Every wait has an end.
@Suite(.blocking) struct `Time-outs` {
    @Test func `a head that does not come to its end is 408`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  header: 300ms"))
        let client = try sidecar.client()
        try client.wire.send("GET / HTTP/1.1\r\nHost:")
        let answer = try client.wire.readResponse()
        `bearerd's own answers`.check(answer, 408, "request_timeout")
        #expect(answer.text.contains("timeouts.header"), "\(answer.text)")
        #expect(try client.wire.endsCleanly())
    }

    @Test func `a head that drips for ever is 408 too`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  header: 500ms"))
        let client = try sidecar.client()
        let dripping = Background {
            try Reply.dripping("GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 90))
                .send(to: client.wire)
        }
        _ = try dripping.value()
        #expect(try client.wire.readResponse().status == 408)
    }

    @Test func `an idle connection is closed without a word`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  idle: 300ms"))
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        #expect(try client.wire.endsCleanly())
        let silent = try sidecar.client()
        #expect(try silent.wire.endsCleanly())
    }

    @Test func `an upstream that does not answer is 504`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream { _ in .ok().held(by: gate) },
            .init(top: "timeouts:\n  first_byte: 300ms"))
        defer { gate.open() }
        let answer = try sidecar.get()
        `bearerd's own answers`.check(answer, 504, "upstream_timeout", proxyError: "http_response_timeout")
    }

    @Test func `an upstream that takes no more of an upload is 504, and the time-out that ran is named`()
        throws
    {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream(script: { wire in
                _ = try wire.readHead()
                try gate.pass()
            }),
            .init(top: "timeouts:\n  stream_idle: 500ms\n  first_byte: 300ms"))
        defer { gate.open() }
        let host = try sidecar.bearerd.proxy
        let client = try sidecar.client()
        let writer = Background {
            let body = String(repeating: "x", count: 32 << 20)
            try? client.wire.send(
                "POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let answer = try client.wire.readResponse()
        `bearerd's own answers`.check(answer, 504, "upstream_timeout", proxyError: "http_response_timeout")
        #expect(answer.text.contains("timeouts.stream_idle"), "\(answer.text)")
        client.wire.reset()
        _ = try writer.value()
    }

    @Test func `a route's own time-outs win`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream { _ in .ok().held(by: gate) },
            .init(route: "timeouts:\n  first_byte: 300ms"))
        defer { gate.open() }
        #expect(try sidecar.get().status == 504)
    }

    @Test func `the clock for the first byte starts with the last byte of the request`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  first_byte: 600ms"))
        let client = try sidecar.client()
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 10\r\n\r\n")
        for byte in "0123456789".utf8 {
            #expect(try !client.wire.hasSomething(within: .milliseconds(100)))
            try client.wire.send([byte])
        }
        #expect(try client.wire.readResponse().status == 200)
    }

    @Test func `who reads slowly is not silent`() throws {
        let sidecar = try Sidecar(
            upstream: try RawUpstream { _ in .ok(String(repeating: "x", count: 16 << 20)) },
            .init(top: "timeouts:\n  stream_idle: 3s"))
        let (client, pace) = (try sidecar.client(receiveBuffer: 4096), try sidecar.client())
        try client.send("GET", "/")
        #expect(try client.wire.readHead()?.status == 200)
        // The kernel says long after the time-out that its buffer has room again. Between two reads there is time
        // for a busy machine to stall.
        for _ in 0..<8 {
            #expect(try !client.wire.readSome().isEmpty)
            #expect(try !pace.wire.hasSomething(within: .milliseconds(500)))
        }
        #expect(try sidecar.metrics().sum("bearerd_open_connections") == 2)
        try eventually("the silent one's end") {
            try sidecar.metrics().sum("bearerd_open_connections") == 1
        }
    }

    @Test func `silence inside an answer cuts it`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                try gate.pass()
                return false
            }
        }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "timeouts:\n  stream_idle: 300ms"))
        defer { gate.open() }
        let answer = try sidecar.get()
        #expect(answer.status == 200 && !answer.isComplete)
    }

    @Test func `silence inside a request body ends it`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  stream_idle: 300ms"))
        let client = try sidecar.client()
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 10\r\n\r\nhalf")
        let rest = String(decoding: try client.wire.readToEnd(), as: UTF8.self)
        #expect(rest.isEmpty || rest.contains("408"))
        #expect(try sidecar.get().status == 200)
    }

    @Test func `a body that goes on slowly is not silence`() throws {
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
                return try Reply.dripping("drip....").send(to: wire)
            }
        }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "timeouts:\n  stream_idle: 500ms"))
        #expect(try sidecar.get().text == "drip....")
    }

    @Test func `a TLS handshake that does not come to its end is 504`() throws {
        let gate = Gate()
        let silent = try RawServer { wire in
            try gate.pass()
            wire.close()
        }
        let sidecar = try Sidecar(
            .init(
                top: "timeouts:\n  connect: 300ms",
                moreRoutes: "- path: /tls\n  upstream: https://\(silent.address)\n  identity: default"))
        defer { gate.open() }
        `bearerd's own answers`.check(try sidecar.get("/tls"), 504, "upstream_timeout")
    }

    @Test func `an idle upstream connection is closed in time`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  upstream_idle: 300ms"))
        #expect(try sidecar.get().status == 200)
        try sidecar.upstream.awaitNoConnections()
        #expect(try sidecar.get().status == 200)
        #expect(sidecar.upstream.connectionCount == 2)
    }

    @Test func `a slow token endpoint is given up, and the request gets its 503 in time`() throws {
        let provider = try HostileProvider()
        let gate = Gate()
        provider.always { _, provider in provider.tokens().held(by: gate) }
        let sidecar = try Sidecar(
            provider: provider, .init(top: "timeouts:\n  token: 300ms\n  token_wait: 700ms"))
        defer { gate.open() }
        `bearerd's own answers`.check(try sidecar.get(), 503, "idp_unavailable")
        try provider.request(2)
    }
}
