// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Requests of HTTP/2 with content on their way to an upstream.
@Suite(.blocking) struct `Uploads over HTTP2` {
    @Test func `that are declared to be empty end with their heads, which need no window`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x4, 0)], opensWindows: false) { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "\(event)") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        // With its answer the upstream's SETTINGS are known.
        #expect(try sidecar.get("/h2/").text == "head")
        #expect(try sidecar.client().request("POST", "/h2/", [("Content-Length", "0")]).text == "head")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.request("POST", "/h2/", [("content-length", "0")]).text == "head")
        #expect(upstream.streams.map { $0["content-length"] } == [nil, "0", "0"])
    }

    /// As servers may (RFC 9113 §8.1); a client of HTTP/1.1 was told by then that its connection goes on (RFC 9112 §9.6).
    @Test(arguments: [true, false])
    func `that are answered and reset before their end leave their client its connection`(waits: Bool) throws
    {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            try peer.answer(stream.id, text: "early")
            if !stream.hasEnd { try peer.send(.reset(stream.id, code: 0)) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        let content = String(repeating: "x", count: 300_000)
        for _ in 0..<2 {
            try client.send("POST", "/h2/", [("Content-Length", "\(content.utf8.count)")])
            if !waits { try client.wire.send(content) }
            let answer = try client.wire.readResponse()
            #expect(answer.text == "early" && answer["Connection"] == nil)
            if waits { try client.wire.send(content) }
        }
        #expect(try client.request("GET", "/h2/").text == "early")
    }

    @Test func `wait for their turn on the connection where their own windows are open`() throws {
        let peers = Monitor<HTTP2Upstream.Peer?>(nil)
        let upstream = try HTTP2Upstream(settings: [(0x4, 1 << 20)], opensWindows: false) {
            peer, event, stream in
            peers.withLock { $0 = peer }
            if event == .end { try peer.answer(stream.id, text: "\(stream.content.count)") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 3s, header: 1s}")
        let clients = try (0..<6).map { _ in try sidecar.client() }
        // All begin before the window is shut, so that no other connection is made for them.
        for client in clients {
            try client.send("POST", "/h2/", [("Content-Length", "100000")])
            try client.wire.send("x")
        }
        try eventually("six uploads") { upstream.streams.filter { !$0.content.isEmpty }.count == 6 }
        for client in clients { try client.wire.send(String(repeating: "x", count: 99_999)) }
        try eventually("a window that is used up") {
            upstream.streams.reduce(0) { $0 + $1.content.count } == 65_535
        }
        let peer = try #require(peers.withLock { $0 })
        for _ in 0..<4 {
            try HTTP2Route.awaitHeadTimeout(of: sidecar)
            try peer.send(.windowUpdate(1))
        }
        try peer.send(.windowUpdate(1 << 20))
        for client in clients { #expect(try client.wire.readResponse().text == "100000") }
        #expect(upstream.streams.allSatisfy { $0.resetCode == nil } && upstream.connectionCount == 1)
    }

    /// RFC 9113 §6.9.1: what one client does costs the others nothing.
    @Test func `end whatever a neighbour has left of the connection's window`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x4, 1 << 20)], opensWindows: false) {
            peer, event, stream in
            if event == .end { try peer.answer(stream.id, text: stream.text) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin("POST", "/h2/call", endsStream: false)
        try client.send(.data("part", stream: call))
        try upstream.stream("a call") { $0.text == "part" }
        let hog = try sidecar.client()
        try hog.send("POST", "/h2/hog", [("Content-Length", "100000")])
        try hog.wire.send(String(repeating: "x", count: 100_000))
        try upstream.stream("a window that is used up") { $0.content.count == 65_535 - 4 }
        try client.send(.data("", stream: call, endsStream: true))
        #expect(try client.answer(on: call).text == "part")
        #expect(upstream.streams.first?.resetCode == nil && upstream.connectionCount == 1)
    }

    @Test func `that end in trailers beyond the limit are 431, and never whole`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "whole") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "limits: {header_bytes: 4KiB}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let trailers = [("x-first", "1"), ("x-large", String(repeating: "y", count: 8000)), ("x-last", "2")]
        for isAtOnce in [true, false] {
            let stream = try client.begin("POST", "/h2/", endsStream: false)
            if isAtOnce {
                try client.send(.data("abc", stream: stream), .head(trailers, stream: stream))
            } else {
                try client.send(.data("abc", stream: stream))
                try upstream.stream("the content") { $0.text == "abc" && $0.resetCode == nil }
                try client.send(.head(trailers, stream: stream))
            }
            #expect(try client.answer(on: stream).status == 431, "\(isAtOnce)")
        }
        #expect(try client.request("POST", "/h2/", body: "x").text == "whole")
        #expect(upstream.streams.filter(\.hasEnd).map(\.text) == ["x"])
    }

    /// HTTP/1.1 has no word behind a declared length by which the message could still be taken back.
    @Test func `that declare a length reach no upstream of HTTP1 whole before such trailers`() throws {
        let (hasBegun, received) = (Gate(), Monitor<Int?>(nil))
        let upstream = try RawUpstream { wire in
            guard try wire.readHead() != nil else { return }
            _ = try wire.read(exactly: 1)
            hasBegun.open()
            let rest = try wire.drain()
            received.withLock { $0 = 1 + rest }
        }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "limits: {header_bytes: 4KiB}"))
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let half = String(repeating: "x", count: 10_000)
        let stream = try client.begin("POST", "/", [("content-length", "20000")], endsStream: false)
        try client.send(.data(half, stream: stream))
        try hasBegun.pass()
        try client.send(
            .data(half, stream: stream),
            .head([("x-large", String(repeating: "y", count: 8000))], stream: stream))
        #expect(try client.answer(on: stream).status == 431)
        let count = try received.wait(for: "the end of the upload") { $0 }
        #expect(10_000..<20_000 ~= count)
    }
}
