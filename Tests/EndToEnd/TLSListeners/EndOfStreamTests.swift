// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Over TLS close_notify tells an end from a cut (RFC 8446 section 6.1).
@Suite(.blocking) struct `The end of a TLS connection` {
    private static func upstream() throws -> RawUpstream {
        try RawUpstream { request in
            switch request.head.target {
            case "/cut":
                Reply { wire in
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this much")
                    wire.close()
                    return false
                }
            case "/endless": .raw("HTTP/1.1 200 OK\r\n\r\nuntil the end", thenClose: true)
            default: .ok()
            }
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `is in order after a whole answer, and a cut after part of one`(version: String) throws {
        let site = try SecureSite(upstream: Self.upstream())
        for (target, isWhole) in [("/", true), ("/endless", true), ("/cut", false)] {
            let wire = try site.client().wire
            let host = "localhost:\(try site.sidecar.bearerd.proxy.port)"
            try wire.send("GET \(target) HTTP/\(version)\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let head = try #require(try wire.readHead())
            #expect(head.status == 200)
            #expect(try wire.endsInOrder() == isWhole, "\(target)")
        }
    }

    @Test func `is in order when the client was silent for too long, or bearerd drains`() throws {
        let site = try SecureSite(top: "timeouts:\n  idle: 300ms")
        let client = try site.client()
        #expect(try client.request("GET", "/").status == 200)
        #expect(try client.wire.endsInOrder())
        let draining = try SecureSite()
        let idle = try draining.client()
        #expect(try idle.request("GET", "/").status == 200)
        draining.sidecar.bearerd.process.signal(SIGTERM)
        #expect(try idle.wire.endsInOrder())
        #expect(try draining.sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `is a cut where the grace of a drain is over`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\n\r\nfirst")
                try gate.pass()
                return false
            }
        }
        defer { gate.open() }
        let site = try SecureSite(upstream: upstream, top: "shutdown:\n  grace: 300ms")
        let wire = try site.client().wire
        try wire.send("GET / HTTP/1.0\r\n\r\n")
        _ = try wire.readHead()
        #expect(try wire.read(exactly: 5) == Array("first".utf8))
        site.sidecar.bearerd.process.signal(SIGTERM)
        #expect(try !wire.endsInOrder())
    }

    @Test func `of the client's side alone leaves the answer on its way`() throws {
        let gate = Gate()
        let site = try SecureSite(upstream: try RawUpstream { _ in .ok().held(by: gate) })
        let client = try site.client()
        try client.send("GET", "/")
        client.wire.finishWriting()
        try site.sidecar.upstream.request()
        gate.open()
        #expect(try client.wire.readResponse().text == "hello")
        #expect(try client.wire.endsInOrder())
    }

    @Test func `without close_notify is a cut for the upstream too`() throws {
        let ending = Monitor<String?>(nil)
        let begun = Gate()
        let upstream = try RawUpstream(script: { wire in
            let head = try #require(try wire.readHead())
            begun.open()
            let body = Result { try wire.readBody(of: head) }
            let isWhole = (try? body.get()) != nil
            ending.withLock { $0 = isWhole ? "whole" : "cut" }
        })
        let site = try SecureSite(upstream: upstream)
        let client = try site.client()
        let host = "localhost:\(try site.sidecar.bearerd.proxy.port)"
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        // Before, bearerd may find the connection reset as it sends its session tickets, and read no request.
        try begun.pass()
        client.wire.cut()
        let seen = try ending.wait(for: "the upstream's end") { $0 }
        #expect(seen == "cut")
        #expect(try site.get("/").status != 500)
    }

    @Test func `of a tunnel goes through in both directions`() throws {
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nfirst")
            #expect(try wire.read(exactly: 5) == Array("early".utf8))
            #expect(try wire.endsCleanly())
            try wire.send("last")
        }
        let site = try SecureSite(upstream: upstream)
        let wire = try site.client().wire
        let host = "localhost:\(try site.sidecar.bearerd.proxy.port)"
        try wire.send(
            "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly")
        #expect(try #require(try wire.readHead()).status == 101)
        #expect(try wire.read(exactly: 5) == Array("first".utf8))
        wire.finishWriting()
        #expect(try wire.read(exactly: 4) == Array("last".utf8))
        #expect(try wire.endsInOrder())
    }
}
