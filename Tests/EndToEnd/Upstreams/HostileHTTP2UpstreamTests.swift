// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Upstreams that send what no server of HTTP/2 sends: each costs its own requests alone, and little.
@Suite(.blocking) struct `A hostile upstream of HTTP/2` {
    /// What it sends once a request has come; nil for nothing more.
    private typealias Flood = @Sendable (_ number: Int) -> [UInt8]?

    /// An upstream that greets in order, waits for the head of a request, and sends a flood until nobody takes it.
    private static func upstream(_ flood: @escaping Flood) throws -> RawUpstream {
        try RawUpstream(script: { wire in
            guard try wire.read(exactly: HTTP2Frame.preface.count) == HTTP2Frame.preface else { return }
            try wire.send(HTTP2Frame.settings().bytes + HTTP2Frame.settingsAcknowledgement.bytes)
            var bytes: [UInt8] = []
            var hasHead = false
            while !hasHead {
                let some = try wire.readSome()
                guard !some.isEmpty else { return }
                bytes += some
                while let frame = HTTP2Frame.take(from: &bytes) {
                    hasHead = hasHead || frame.kind == .headers
                }
            }
            // One thread alone reads.
            let ended = Gate()
            startThread {
                while let some = try? wire.readSome(), !some.isEmpty {}
                ended.open()
            }
            for number in 0..<20_000 {
                guard let bytes = flood(number) else { break }
                try wire.send(bytes)
            }
            try ended.pass()
        })
    }

    private static func frames(of attack: String) -> Flood {
        let ok = HTTP2Frame.head([(":status", "200")], stream: 1, endsStream: false).bytes
        let large = String(repeating: "y", count: 4000)
        let piece = [UInt8](repeating: 0x78, count: 16_384)
        return { number in
            switch attack {
            case "garbage": number == 0 ? (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) } : nil
            case "HTTP/1.1":
                number == 0 ? Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8) : nil
            case "a bomb":
                // One entry of the table, again and again: a few bytes that decode to megabytes.
                number == 0
                    ? HTTP2Frame(
                        .headers, flags: HTTP2Frame.endHeaders, stream: 1,
                        HPACK.encode([(":status", "200")]) + HPACK.indexed("x", large)
                            + [UInt8](repeating: 0xBE, count: 10_000)
                    ).bytes : nil
            case "CONTINUATION":
                number == 0
                    ? HTTP2Frame(.headers, stream: 1, HPACK.encode([(":status", "200")])).bytes
                    : HTTP2Frame(.continuation, stream: 1, HPACK.encode([("x", "y")])).bytes
            case "SETTINGS": HTTP2Frame.settings().bytes
            case "PING": HTTP2Frame(.ping, Array(repeating: 0, count: 8)).bytes
            case "empty DATA": number == 0 ? ok : HTTP2Frame(.data, stream: 1).bytes
            case "PUSH_PROMISE":
                number == 0
                    ? HTTP2Frame(
                        .pushPromise, flags: HTTP2Frame.endHeaders, stream: 1,
                        [0, 0, 0, 2] + HPACK.encode([(":method", "GET"), (":path", "/")])
                    ).bytes : nil
            case "an idle stream": number == 0 ? HTTP2Frame.head([(":status", "200")], stream: 99).bytes : nil
            case "beyond the window":
                number == 0 ? ok : number < 2000 ? HTTP2Frame(.data, stream: 1, piece).bytes : nil
            default: nil
            }
        }
    }

    /// What a flood is called.
    private static let kinds = [
        "SETTINGS": "SETTINGS", "PING": "PING", "a bomb": "large heads", "CONTINUATION": "CONTINUATION",
    ]

    @Test(arguments: [
        "garbage", "HTTP/1.1", "a bomb", "CONTINUATION", "SETTINGS", "PING", "PUSH_PROMISE", "an idle stream",
    ])
    func `that floods or breaks the protocol is upstream_protocol, and its neighbours notice nothing`(
        _ attack: String
    ) throws {
        let upstream = try Self.upstream(Self.frames(of: attack))
        let sidecar = try HTTP2Route.sidecar(at: upstream.url, route: "timeouts: {first_byte: 20s}")
        try sidecar.awaitToken()
        let neighbour = try sidecar.client()
        #expect(try neighbour.request("GET", "/").status == 200)
        let before = sidecar.bearerd.anonymousBytes
        for _ in 0..<3 {
            let answer = try sidecar.client().request("POST", "/h2/", body: "x")
            #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(answer.text)")
            if let kind = Self.kinds[attack] {
                #expect(answer.text.contains("more of one kind than anybody needs to: \(kind)"))
            }
            #expect(try neighbour.request("GET", "/").status == 200)
        }
        if let kind = Self.kinds[attack] {
            try sidecar.bearerd.logLine("the flood") {
                $0["reason"] == "bearerd ended the connection for a flood of what it sent: \(kind)"
                    && $0["hint"]?.isEmpty == false
            }
        }
        try upstream.awaitNoConnections()
        #expect(sidecar.bearerd.anonymousBytes - before < 16 << 20)
    }

    @Test(arguments: ["000", "099"])
    func `that answers with a status below 100 is upstream_protocol at once`(_ status: String) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            if stream.hasEnd {
                try peer.send(.head([(":status", status)], stream: stream.id, endsStream: false))
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, route: "timeouts: {first_byte: 600s}")
        for number in 1...2 {
            let answer = try sidecar.client().request("POST", "/h2/", body: "x")
            #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(answer.text)")
            #expect(upstream.streams.count == number && upstream.connectionCount == 1)
        }
    }

    @Test func `that declares no content and sends some is upstream_protocol`() throws {
        let gate = Gate()
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd else { return }
            let isHonest = stream[":path"] == "/h2/honest"
            try peer.send(
                .head([(":status", "200"), ("content-length", "0")], stream: stream.id, endsStream: false))
            if !isHonest { try gate.pass() }
            try peer.send(.data(isHonest ? "" : "x", stream: stream.id, endsStream: true))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        try client.send("GET", "/h2/", [])
        try upstream.stream("the request") { $0.hasEnd }
        gate.open()
        #expect(try client.wire.readHead()?.status == 502)
        let honest = try sidecar.client().request("GET", "/h2/honest")
        #expect(honest.status == 200 && honest["Content-Length"] == "0")
    }

    /// Its answer has begun, so that it can only be cut.
    @Test(arguments: ["empty DATA", "beyond the window"])
    func `that floods inside an answer has it cut`(_ attack: String) throws {
        let upstream = try Self.upstream(Self.frames(of: attack))
        let sidecar = try HTTP2Route.sidecar(at: upstream.url, route: "timeouts: {stream_idle: 20s}")
        try sidecar.awaitToken()
        let before = sidecar.bearerd.anonymousBytes
        // One whose windows alone are too small goes on with the connection, which answers nothing more here.
        for _ in 0..<(attack == "empty DATA" ? 3 : 1) {
            let client = try sidecar.client()
            try client.send("GET", "/h2/")
            // Its head may be overtaken by the end.
            let status = try client.wire.readHead()?.status ?? 0
            #expect(status == 200 || status == 502)
            if status == 200 {
                let rest = String(decoding: try client.wire.readToEnd(), as: UTF8.self)
                #expect(!rest.hasSuffix("0\r\n\r\n"), "\(attack)")
            }
            #expect(try sidecar.get("/").status == 200)
        }
        if attack == "empty DATA" {
            try sidecar.bearerd.logLine("the flood") {
                $0["reason"]?.hasSuffix("ended the connection for a flood of what it sent: empty DATA")
                    == true
            }
        }
        #expect(sidecar.bearerd.anonymousBytes - before < 16 << 20)
    }

    @Test func `that ends an answer in trailers beyond the limit has it cut, and none goes on`() throws {
        let trailers = [("grpc-status", "0"), ("x-large", String(repeating: "y", count: 8000))]
        let gate = Gate()
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.send(
                .head([(":status", "200")], stream: stream.id, endsStream: false),
                .data("o", stream: stream.id))
            try gate.pass()
            try peer.send(.data("k", stream: stream.id), .head(trailers, stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "limits: {header_bytes: 4KiB}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/h2/", [("te", "trailers")], endsStream: true)
        try client.wait { $0.answers[stream]?.text == "o" }
        gate.open()
        let answer = try client.answer(on: stream)
        #expect(!answer.hasEnd && answer.resetCode == 0x2 && answer.trailers.isEmpty)
        try sidecar.bearerd.logLine("the cause") {
            $0["reason"]?.hasPrefix("the answer broke off: it has trailers larger than") == true
        }
        #expect(upstream.connectionCount == 1)
    }

    @Test func `that takes no streams at all is upstream_busy, within connect`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x3, 0)]) { _, _, _ in }
        let sidecar = try HTTP2Route.sidecar(upstream, route: "timeouts: {connect: 400ms}")
        for _ in 0..<4 {
            #expect(try sidecar.get("/h2/").problem == "upstream_busy")
        }
        #expect(upstream.streams.isEmpty && upstream.connectionCount <= 20)
    }

    @Test func `that takes connections and never says what it speaks is upstream_timeout, within connect`()
        throws
    {
        let upstream = try RawUpstream(script: { wire in _ = try wire.drain() })
        let sidecar = try HTTP2Route.sidecar(at: upstream.url, route: "timeouts: {connect: 400ms}")
        try sidecar.awaitToken()
        for _ in 0..<3 {
            let answer = try sidecar.client().request("POST", "/h2/", body: "x")
            #expect(answer.status == 504 && answer.problem == "upstream_timeout", "\(answer.text)")
            #expect(answer.text.contains("sent no greeting"), "\(answer.text)")
        }
        try upstream.awaitNoConnections()
        #expect(try sidecar.get("/").status == 200)
    }

    @Test(arguments: [100_000, 500_000])
    func `that answers with a head that is too large is told so, and the others on the connection go on`(
        _ size: Int
    ) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd, stream[":path"] == "/h2/large" else { return }
            let count = size / 8000
            let part = HPACK.encode([("x-large", String(repeating: "y", count: 8000))])
            let rest = (1...count).map { number in
                HTTP2Frame(
                    .continuation, flags: number == count ? HTTP2Frame.endHeaders : 0, stream: stream.id, part
                )
            }
            let first = HTTP2Frame(
                .headers, flags: HTTP2Frame.endStream, stream: stream.id, HPACK.encode([(":status", "200")]))
            try peer.send([first] + rest)
            try peer.answer(1, text: "at last")
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let waiting = try sidecar.client()
        try waiting.send("GET", "/h2/waiting")
        try upstream.stream("the request that waits") { $0.hasEnd && $0.id == 1 }
        let answer = try sidecar.client().request("GET", "/h2/large")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol")
        #expect(answer.text.contains("limits.header_bytes"), "\(answer.text)")
        #expect(try waiting.wire.readResponse().text == "at last")
        #expect(upstream.connectionCount == 1)
        try sidecar.bearerd.logLine("the hint") { $0["hint"]?.contains("raise limits.header_bytes") == true }
    }
}
