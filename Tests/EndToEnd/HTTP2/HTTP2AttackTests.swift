// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Who means no good loses its connection, and neighbours notice nothing.
@Suite(.blocking) struct `Attacks in HTTP2 frames` {
    private static let calm: UInt32 = 0xB
    private let sidecar: Sidecar

    init() throws {
        sidecar = try Sidecar(.init(top: "workers: 1"))
        try sidecar.awaitToken()
    }

    private func frames(_ attack: String, _ number: UInt32, _ client: HTTP2Client) -> [HTTP2Frame] {
        let stream = number * 2 + 1
        let head = client.fields("GET", "/")
        switch attack {
        case "ping": return [HTTP2Frame(.ping, Array(repeating: 0, count: 8))]
        case "settings": return [.settings()]
        case "window": return [.windowUpdate(1)]
        case "priority": return [HTTP2Frame(.priority, stream: stream, [0, 0, 0, 0, 15])]
        case "reset": return [.head(head, stream: stream), .reset(stream)]
        case "made reset": return [.head(head + [("connection", "x")], stream: stream)]
        case "empty data":
            let begin = HTTP2Frame.head(client.fields("POST", "/"), stream: 1, endsStream: false)
            return number == 0 ? [begin] : [HTTP2Frame(.data, stream: 1)]
        case "continuation":
            return number == 0
                ? [HTTP2Frame(.headers, stream: 1, HPACK.encode(head))]
                : [HTTP2Frame(.continuation, stream: 1, HPACK.encode([("x", "y")]))]
        case "continuation of each head":
            return [HTTP2Frame(.headers, flags: HTTP2Frame.endStream, stream: stream, HPACK.encode(head))]
                + (0..<10).map {
                    HTTP2Frame(.continuation, flags: $0 == 9 ? HTTP2Frame.endHeaders : 0, stream: stream)
                }
        default: return [HTTP2Frame(type: 0x55, Array(repeating: 0, count: 32))]
        }
    }

    @Test(arguments: [
        ("ping", "PING"), ("settings", "SETTINGS"), ("window", "WINDOW_UPDATE"), ("priority", "PRIORITY"),
        ("reset", "RST_STREAM"), ("made reset", "malformed requests"), ("empty data", "empty DATA"),
        ("continuation", ""), ("continuation of each head", "CONTINUATION"), ("unknown", "unknown frames"),
    ])
    func `a flood ends the connection while a neighbour is served`(attack: String, kind: String) throws {
        let neighbour = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try neighbour.request("GET", "/").status == 200)
        let before = sidecar.bearerd.anonymousBytes
        let attacker = try HTTP2Client(to: sidecar.bearerd.proxy)
        attacker.answersPings = false
        for batch in 0..<UInt32(100) {
            let flood = (0..<UInt32(100)).flatMap { frames(attack, batch * 100 + $0, attacker) }
            do { try attacker.send(flood) } catch { break }
            if batch % 10 == 0 { #expect(try neighbour.request("GET", "/").status == 200) }
        }
        if let code = try attacker.goawayCode() { #expect(code == Self.calm) }
        try attacker.awaitEnd()
        #expect(try neighbour.request("GET", "/").status == 200)
        let line = try sidecar.bearerd.logLine("the warning") {
            $0.message == "a client's HTTP/2 connection was ended for a flood"
        }
        #expect(line["peer"] == "127.0.0.1" && (kind.isEmpty || line["reason"] == kind), "\(line)")
        #expect(try sidecar.metrics().sum("bearerd_denied_total", #"reason="flood""#) == 1)
        #expect(sidecar.bearerd.anonymousBytes - before < 32 << 20)
    }

    @Test func `a head that decodes to megabytes ends the connection`() throws {
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let entry = HPACK.indexed("x", String(repeating: "y", count: 4000))
        try client.send(
            HTTP2Frame(
                .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: 1,
                HPACK.encode(client.fields("GET", "/")) + entry + [UInt8](repeating: 0xBE, count: 8000)))
        #expect(try client.goawayCode() == Self.calm)
    }

    @Test func `a head beyond the limit is 431, and a path 414, and the connection goes on`() throws {
        let sidecar = try Sidecar(.init(top: "limits: {header_bytes: 4KiB, uri_bytes: 1KiB}"))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.request("GET", "/", [("x", String(repeating: "y", count: 8000))]).status == 431)
        #expect(try client.request("GET", "/" + String(repeating: "y", count: 2000)).status == 414)
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test(arguments: [
        [("x", "a\r\nInjected: 1")], [("x", "a\u{0}")], [("X-Upper", "1")],
        [("transfer-encoding", "chunked")],
        [("content-length", "3"), ("content-length", "4")], [("host", "other.example")], [("te", "gzip")],
        [(":path", "/second")], [("connection", "keep-alive")],
    ])
    func `a request that would be two as HTTP1 is never passed on`(fields: [(String, String)]) throws {
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/never", fields, endsStream: false)
        try? client.send(.data("x", stream: stream, endsStream: true))
        let answer = try client.answer(on: stream)
        #expect(answer.resetCode == 0x1 || answer.status == 400)
        #expect(try client.request("GET", "/after").status == 200)
        #expect(!sidecar.upstream.requests.contains { $0.head.target == "/never" })
    }

    @Test func `content that does not fit its declared length is never a whole request upstream`() throws {
        let received = Monitor<[UInt8]>([])
        let sidecar = try Sidecar(
            upstream: RawUpstream(script: { wire in
                while true {
                    let some = try wire.readSome()
                    received.withLock { $0 += some }
                    if some.isEmpty { return }
                }
            }))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let long = try client.begin("POST", "/long", [("content-length", "5")], endsStream: false)
        try client.send(.data("hello", stream: long))
        try client.roundTrip()
        try client.send(.data("!", stream: long))
        #expect(try client.resetCode(of: long) == 0x1)
        let short = try client.begin("POST", "/short", [("content-length", "9")], endsStream: false)
        try client.send(.data("world", stream: short, endsStream: true))
        #expect(try client.resetCode(of: short) == 0x1)
        try sidecar.upstream.awaitNoConnections()
        let text = received.withLock { String(decoding: $0, as: UTF8.self) }
        #expect(!text.contains("hello"))
        // The client is there: it was no request, as over HTTP/1.1.
        for path in ["/long", "/short"] {
            let line = try sidecar.bearerd.logLine("the request for \(path)") { $0["path"] == path }
            #expect(line["status"] == "400" && line["code"] == "bad_request", "\(line)")
        }
    }

    @Test func `a window of nothing for too long resets that stream alone`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts: {stream_idle: 500ms}"))
        try sidecar.awaitToken()
        sidecar.upstream.answer { _ in .ok(String(repeating: "x", count: 200_000)) }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy, settings: [(4, 1000)])
        let stream = try client.begin("GET", "/")
        try client.wait { $0.answers[stream]?.resetCode != nil }
        #expect(client.answers[stream]?.resetCode == 0x8 && client.answers[stream]?.content.count == 1000)
        sidecar.upstream.answer { _ in .ok("short") }
        #expect(try client.request("GET", "/").text == "short")
    }

    @Test(arguments: ["window", "zero stream", "ping"])
    func `a breach behind a request, and the end behind that, leave nothing of the connection`(
        breach: String
    )
        throws
    {
        let sidecar = try Sidecar(.init(top: "limits: {connections: 2}"))
        try sidecar.awaitToken()
        for _ in 0..<8 {
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            try client.roundTrip()
            let fault =
                switch breach {
                case "window": HTTP2Frame.windowUpdate(0)
                case "ping": HTTP2Frame(.ping, [0, 0, 0, 0, 0, 0, 0])
                default: HTTP2Frame.data("x", stream: 0)
                }
            try client.send(.head(client.fields("GET", "/"), stream: 1), fault)
            client.wire.finishWriting()
            // It gets a place only if those before have given theirs back.
            try client.awaitEnd()
        }
        #expect(try HTTP2Client(to: sidecar.bearerd.proxy).request("GET", "/").status == 200)
    }
}
