// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Routes with `upstream_protocol: h2` (RFC 9113); what is sent and received is judged frame by frame.
@Suite(.blocking) struct `An upstream of HTTP/2` {
    @Test func `gets all requests of a worker on one connection, as HTTP/2 writes them`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.answer(stream.id, 201, [("x-own", "yes"), ("content-length", "5")], text: "hello")
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        for _ in 0..<3 {
            let answer = try client.request(
                "GET", "/h2/things?id=1", [("Connection", "close-not"), ("X-Thing", "A")])
            #expect(answer.status == 201 && answer.text == "hello" && answer["x-own"] == "yes")
            #expect(answer.head.values("Content-Length") == ["5"] && answer["Transfer-Encoding"] == nil)
        }
        #expect(upstream.connectionCount == 1 && upstream.streams.map(\.id) == [1, 3, 5])
        let seen = upstream.streams[0]
        #expect(
            seen.fields.prefix(4).map(\.name).sorted() == [":authority", ":method", ":path", ":scheme"])
        #expect(seen[":method"] == "GET" && seen[":path"] == "/h2/things?id=1" && seen[":scheme"] == "http")
        #expect(seen[":authority"].map { upstream.url.hasSuffix($0) } == true && seen["host"] == nil)
        #expect(seen["authorization"] == "Bearer \(sidecar.provider.accessTokens[0])")
        #expect(seen["x-thing"] == "A" && seen["via"] == "1.1 bearerd")
        #expect(seen["connection"] == nil && seen.fields.allSatisfy { $0.name == $0.name.lowercased() })
    }

    @Test(arguments: [false, true])
    func `gets a path of ASCII alone, whatever the client sends`(isHTTP2: Bool) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            if stream.hasEnd { try peer.answer(stream.id) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        if isHTTP2 {
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            #expect(try client.request("GET", "/h2/é%20|?q=ü").status == 200)
        } else {
            #expect(try sidecar.get("/h2/é%20|?q=ü").status == 200)
        }
        #expect(upstream.streams.map { $0[":path"] } == ["/h2/%C3%A9%20|?q=%C3%BC"])
    }

    @Test func `streams bodies both ways at once, with 1xx before and trailers behind them`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            switch event {
            case .head:
                try peer.send(
                    .head(
                        [(":status", "103"), ("link", "</a>")], stream: stream.id, endsStream: false),
                    .head([(":status", "200")], stream: stream.id, endsStream: false))
            case .content: try peer.send(.data(stream.text.uppercased(), stream: stream.id))
            case .end: try peer.send(.head([("x-sum", "7")], stream: stream.id))
            case .reset: break
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        try client.send(
            "POST", "/h2/echo", [("Transfer-Encoding", "chunked"), ("TE", "trailers"), ("Connection", "TE")])
        let early = try #require(try client.wire.readHead())
        #expect(early.status == 103 && early["link"] == "</a>")
        let head = try #require(try client.wire.readHead())
        #expect(head.status == 200 && head["Transfer-Encoding"] == "chunked")
        try client.wire.send("3\r\nabc\r\n")
        #expect(try client.wire.readChunk() == Array("ABC".utf8))
        try client.wire.send("1\r\nd\r\n0\r\nX-Up: there\r\n\r\n")
        #expect(try client.wire.readChunk() == Array("ABCD".utf8))
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().map(\.value) == ["7"])
        let seen = try upstream.stream("the end of the request") { $0.hasEnd }
        #expect(seen.text == "abcd" && seen.trailers.first { $0.name == "x-up" }?.value == "there")
        #expect(seen["te"] == "trailers")
        #expect(try client.request("POST", "/h2/again", body: "x").status == 200)
    }

    @Test func `gets no trailers that name what bearerd sets, behind a declared length neither`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id) }
        }
        let sidecar = try HTTP2Route.sidecar(
            upstream,
            route: """
                header: X-Api-Token
                scheme: none
                request_headers: {set: {X-Team: red}, remove: [X-Gone]}
                forwarded: true
                allow: [{path: /h2/**}]
                """)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let trailers =
            [
                "x-api-token", "x_api_token", "x-team", "x-gone", "x_forwarded_for", "x-bearerd-key",
                "x-http-method-override",
            ].map { ($0, "forged") } + [("x-sum", "6")]
        for length in [[], [("content-length", "3")], [("content-length", "3")]] {
            let stream = try client.begin("POST", "/h2/call", length, endsStream: false)
            try client.send(.data("abc", stream: stream), .head(trailers, stream: stream))
            #expect(try client.answer(on: stream).status == 200)
        }
        #expect(upstream.streams.map(\.text) == ["abc", "abc", "abc"])
        #expect(upstream.streams.allSatisfy { $0.trailers.map(\.name) == ["x-sum"] })
    }

    /// Content of so many bytes, in frames.
    private static func content(_ count: Int, on stream: UInt32) -> [HTTP2Frame] {
        stride(from: 0, to: count, by: 16_000).map { start in
            HTTP2Frame(.data, stream: stream, [UInt8](repeating: 0x78, count: min(16_000, count - start)))
        }
    }

    @Test(arguments: [0, 3, 40_000])
    func `has trailers behind a declared length, and gets them`(count: Int) throws {
        let length = ("content-length", "\(count)")
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.send(.head([(":status", "200"), length], stream: stream.id, endsStream: false))
            for frame in Self.content(count, on: stream.id) { try peer.send(frame) }
            try peer.send(.head([("x-sum", "7")], stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for isWhole in [true, false] {
            let stream = try client.begin("POST", "/h2/", [length, ("te", "trailers")], endsStream: false)
            if isWhole {
                try client.send(
                    Self.content(count, on: stream) + [.head([("x-check", "9")], stream: stream)])
            } else {
                try client.send(Self.content(count, on: stream))
                try client.roundTrip()
                try client.send(.head([("x-check", "9")], stream: stream))
            }
            let answer = try client.answer(on: stream)
            #expect(answer.status == 200 && answer.content.count == count && answer.hasEnd)
            #expect(answer.trailers == ["x-sum": "7"])
        }
        for seen in upstream.streams {
            #expect(seen.content.count == count && seen["content-length"] == length.1)
            #expect(seen.trailers.map(\.name) == ["x-check"])
        }
    }

    @Test func `answers without content as HTTP/1.1 tells them`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            switch stream[":path"] {
            case "/h2/204": try peer.answer(stream.id, 204)
            case "/h2/304": try peer.answer(stream.id, 304, [("content-length", "9")])
            case "/h2/head": try peer.answer(stream.id, 200, [("content-length", "9")])
            default: try peer.answer(stream.id, 200)
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        #expect(try client.request("GET", "/h2/204").status == 204)
        #expect(try client.request("GET", "/h2/304").status == 304)
        #expect(try client.request("HEAD", "/h2/head")["Content-Length"] == "9")
        let empty = try client.request("GET", "/h2/empty")
        #expect(empty.status == 200 && empty.text.isEmpty && empty["Content-Length"] == "0")
    }

    @Test func `gets what it has left unprocessed once more, whatever the method`() throws {
        let count = Monitor(0)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd, event != .reset else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1: try peer.send(.reset(stream.id, code: 0x7))
            case 3: try peer.goAway(lastStream: 0)
            default: try peer.answer(stream.id, text: stream.text)
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        for word in ["refused", "gone"] {
            let answer = try client.request("POST", "/h2/", body: word)
            #expect(answer.status == 200 && answer.text == word)
        }
        #expect(upstream.streams.map(\.text) == ["refused", "refused", "gone", "gone"])
        #expect(upstream.streams.map(\.connection) == [1, 1, 1, 2])
    }

    @Test func `whose connection is lost gets no POST a second time, and a GET does`() throws {
        let count = Monitor(0)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 || number == 4 { return peer.close() }
            try peer.answer(stream.id, text: "ok")
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        #expect(try client.request("GET", "/h2/").text == "ok")
        #expect(try client.request("POST", "/h2/", body: "x").problem == "upstream_protocol")
        #expect(try client.request("GET", "/h2/").text == "ok")
        #expect(try client.request("GET", "/h2/").text == "ok")
        #expect(upstream.streams.count == 5 && upstream.connectionCount == 3)
    }

    @Test func `whose connection has gone silent gets the next request on another one`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd, stream.connection > 1 || stream.id == 1 { try peer.answer(stream.id) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {first_byte: 500ms}")
        let client = try sidecar.client()
        #expect(try client.request("GET", "/h2/").status == 200)
        #expect(try client.request("GET", "/h2/").status == 504)
        #expect(try client.request("GET", "/h2/").status == 200)
        #expect(upstream.streams.map(\.connection) == [1, 1, 2])
    }

    @Test func `that gives up each connection at once is told as such, without a wait`() throws {
        let upstream = try HTTP2Upstream(greet: { try $0.goAway(lastStream: 0) }) { _, _, _ in }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {connect: 600s}")
        let answer = try sidecar.client().request("GET", "/h2/")
        #expect(answer.status == 502 && answer.text.contains("upstream_protocol"))
    }

    @Test func `gets the whole of an upload that it has answered before its end`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if event == .head { try peer.answer(stream.id, 200, [("content-length", "5")], text: "early") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let forms = [[("Content-Length", "40000")], [("Transfer-Encoding", "chunked")]]
        let clients = try forms.map { _ in try sidecar.client() }
        for (fields, client) in zip(forms, clients) {
            try client.send("POST", "/h2/", fields)
            #expect(try client.wire.readHead()?.status == 200)
            #expect(try client.wire.read(exactly: 5) == Array("early".utf8))
            let piece = String(repeating: "x", count: 10_000)
            for _ in 0..<4 {
                try client.wire.send(fields[0].0 == "Content-Length" ? piece : "2710\r\n\(piece)\r\n")
            }
            if fields[0].0 != "Content-Length" { try client.wire.send("0\r\n\r\n") }
        }
        // The second one goes on a connection of its own where something has come on the first that may be its end.
        for hasLength in [true, false] {
            let seen = try upstream.stream("the end of an upload, with a length: \(hasLength)") { stream in
                stream.fields.contains { $0.name == "content-length" } == hasLength
                    && (stream.hasEnd || stream.resetCode != nil)
            }
            #expect(seen.content.count == 40_000 && seen.resetCode == nil)
        }
    }

    @Test func `that takes no streams at first, and then some, gets the request that waited`() throws {
        let peers = Monitor<[HTTP2Upstream.Peer]>([])
        let upstream = try HTTP2Upstream(
            settings: [(0x3, 0)], greet: { peer in peers.withLock { $0.append(peer) } }
        ) { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, 204) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {connect: 600s}")
        let client = try sidecar.client()
        try client.send("GET", "/h2/")
        try eventually("all attempts") { peers.withLock { $0.count } == 3 }
        for peer in peers.withLock({ $0 }) { try peer.send(.settings([(0x3, 100)])) }
        #expect(try client.wire.readHead()?.status == 204)
    }

    @Test func `is told when a client leaves, and its neighbours notice nothing`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd, stream[":path"] != "/h2/slow" else { return }
            try peer.answer(stream.id, text: "ok")
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let (leaving, staying) = (try sidecar.client(), try sidecar.client())
        try leaving.send("GET", "/h2/slow")
        try upstream.stream("the slow request") { $0[":path"] == "/h2/slow" }
        leaving.wire.reset()
        let left = try upstream.stream("the reset") { $0.resetCode != nil }
        #expect(left.resetCode == 0x8 && left[":path"] == "/h2/slow")
        #expect(try staying.request("GET", "/h2/fast").text == "ok")
        #expect(upstream.connectionCount == 1)
    }

    @Test func `that opens no window ends a stream with CANCEL after stream_idle`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x4, 10)], opensWindows: false) { peer, event, stream in
            if stream[":path"] == "/h2/get" { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, route: "timeouts: {stream_idle: 300ms}")
        let answer = try sidecar.client().request(
            "POST", "/h2/", body: String(repeating: "x", count: 100_000))
        #expect(answer.status == 504 && answer.problem == "upstream_timeout")
        let seen = try upstream.stream("the reset") { $0.resetCode != nil }
        #expect(seen.resetCode == 0x8 && seen.content.count == 10 && !seen.hasEnd)
        #expect(try sidecar.get("/h2/get").text == "ok" && upstream.connectionCount == 1)
    }

    @Test func `gets trailers of an upload that has used up its window`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x4, 10)], opensWindows: false) { peer, event, stream in
            if event == .end { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/h2/", endsStream: false)
        try client.send(.data("0123456789", stream: stream))
        try upstream.stream("the content") { $0.content.count == 10 }
        try client.send(.head([("x-sum", "7")], stream: stream))
        #expect(try client.answer(on: stream).text == "ok")
        let seen = try #require(upstream.streams.first)
        #expect(seen.hasEnd && seen.resetCode == nil)
        #expect(seen.trailers.map(\.name) == ["x-sum"])
    }

    @Test func `is allowed little more than what a slow client has taken`() throws {
        let total = 20 << 20
        let peers = Monitor<HTTP2Upstream.Peer?>(nil)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            peers.withLock { $0 = peer }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-length", "\(total)")], stream: stream.id,
                    endsStream: false))
            peer.send(total, on: stream.id)
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client(receiveBuffer: 64 * 1024)
        try client.send("GET", "/h2/")
        #expect(try client.wire.readHead()?.status == 200)
        var taken = 0
        for _ in 0..<8 {
            taken += try client.wire.read(exactly: 1 << 20).count
            let peer = try #require(peers.withLock { $0 })
            // Beside a stream's window there are what the kernel has for the client, and what is on its way.
            #expect(peer.allowance(of: 1) - taken < 8 << 20, "after \(taken) bytes")
        }
        #expect(try client.wire.read(exactly: total - taken).count == total - taken)
    }

    @Test func `gets no more requests at once than limits.upstream_connections`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd, stream[":path"] != "/h2/held" else { return }
            try peer.answer(stream.id, text: "ok")
        }
        let sidecar = try HTTP2Route.sidecar(
            upstream, route: "timeouts: {connect: 300ms}", top: "limits: {upstream_connections: 1}")
        let holding = try sidecar.client()
        try holding.send("GET", "/h2/held")
        let held = try upstream.stream("the held request") { $0[":path"] == "/h2/held" }
        #expect(try sidecar.get("/h2/").problem == "upstream_busy")
        holding.wire.reset()
        try upstream.stream("the reset") { $0.id == held.id && $0.resetCode != nil }
        #expect(try sidecar.get("/h2/").text == "ok")
    }

    @Test func `makes a tunnel of an extended CONNECT, where it offers that`() throws {
        let upstream = try HTTP2Upstream(settings: [(0x8, 1)]) { peer, event, stream in
            switch event {
            case .head: try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            case .content: try peer.send(.data("pong", stream: stream.id))
            case .end: try peer.send(.data("last", stream: stream.id, endsStream: true))
            case .reset: break
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        try client.send("GET", "/h2/ws", HTTP2Route.webSocket)
        let head = try #require(try client.wire.readHead())
        #expect(head.status == 101 && head["Upgrade"] == "websocket" && head["Connection"] == "Upgrade")
        // RFC 6455 section 1.3 has the same key.
        #expect(head["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        try client.wire.send("ping")
        #expect(try client.wire.read(exactly: 4) == Array("pong".utf8))
        client.wire.finishWriting()
        #expect(try client.wire.readToEnd() == Array("last".utf8))
        let seen = upstream.streams[0]
        #expect(seen[":method"] == "CONNECT" && seen[":protocol"] == "websocket" && seen[":path"] == "/h2/ws")
        #expect(seen["upgrade"] == nil && seen["sec-websocket-key"] == nil && seen.text == "ping")
        #expect(seen["sec-websocket-version"] == "13" && seen["authorization"]?.hasPrefix("Bearer ") == true)
    }

    @Test func `gets no upgrade passed on where it does not offer that`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        let answer = try client.request("GET", "/h2/ws", HTTP2Route.webSocket)
        #expect(answer.status == 200 && answer.text == "ok")
        #expect(upstream.streams[0][":method"] == "GET" && upstream.streams[0]["upgrade"] == nil)
    }
}
