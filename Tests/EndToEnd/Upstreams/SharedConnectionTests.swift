// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Requests of many clients on one connection to an upstream of HTTP/2: what one of them does must not end it for the others.
@Suite(.blocking) struct `Clients that share a connection to an upstream` {
    /// An upstream that begins an answer for `/h2/stream` and never ends it, and does with others what it is told.
    private static func upstream(
        settings: [(UInt16, UInt32)] = [], others: @escaping HTTP2Upstream.Serve
    ) throws -> HTTP2Upstream {
        try HTTP2Upstream(settings: settings) { peer, event, stream in
            guard stream[":path"] == "/h2/stream" else { return try others(peer, event, stream) }
            if event == .head {
                try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            }
        }
    }

    /// A client that has the head of an answer which goes on.
    private static func neighbour(_ sidecar: Sidecar) throws -> HTTP2Client {
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/h2/stream")
        #expect(try client.head(on: stream)[":status"] == "200")
        return client
    }

    /// Servers that guard against rapid resets end a connection after 100 to 200 of them.
    @Test(arguments: [true, false])
    func `do not meet so many cancelled requests that servers end it`(hasBegunAnswer: Bool) throws {
        let upstream = try Self.upstream { peer, event, stream in
            if event == .head, hasBegunAnswer {
                try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let neighbour = try Self.neighbour(sidecar)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for number in 1...150 {
            let stream = try client.begin("GET", "/h2/\(number)")
            try upstream.stream("request \(number)") { $0[":path"] == "/h2/\(number)" }
            if hasBegunAnswer { _ = try client.head(on: stream) }
            try client.send(.reset(stream))
            try upstream.stream("its end") { $0[":path"] == "/h2/\(number)" && $0.resetCode == 8 }
        }
        let cancelled = upstream.streams.filter { $0.resetCode != nil }
        let connections = Dictionary(grouping: cancelled, by: \.connection).mapValues(\.count)
        #expect(connections.count > 1 && connections.values.allSatisfy { $0 < 100 }, "\(connections)")
        try neighbour.roundTrip()
        #expect(neighbour.answers[1]?.isOver == false)
    }

    @Test func `lose nothing by answers to others that are malformed`() throws {
        let upstream = try Self.upstream { peer, _, stream in
            try peer.send(.head([(":status", "200"), ("connection", "close")], stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let neighbour = try Self.neighbour(sidecar)
        let client = try sidecar.client()
        for _ in 0..<150 { #expect(try client.request("GET", "/h2/sloppy").status == 502) }
        #expect(upstream.connectionCount == 1)
        try neighbour.roundTrip()
        #expect(neighbour.answers[1]?.isOver == false)
    }

    @Test func `lose nothing by what comes of cancelled answers in small pieces`() throws {
        let upstream = try Self.upstream { peer, event, stream in
            if stream[":path"] == "/h2/last" { return try peer.answer(stream.id) }
            let piece = HTTP2Frame.data("message\n", stream: stream.id)
            switch event {
            case .head:
                let head = HTTP2Frame.head([(":status", "200")], stream: stream.id, endsStream: false)
                try peer.send([head, piece])
            case .reset: try peer.send(Array(repeating: piece, count: 4000))
            case .content, .end: break
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let neighbour = try Self.neighbour(sidecar)
        for number in 1...4 {
            let client = try sidecar.client()
            try client.send("GET", "/h2/\(number)")
            #expect(try client.wire.readHead()?.status == 200)
            client.wire.close()
            try upstream.stream("its end") { $0[":path"] == "/h2/\(number)" && $0.resetCode == 8 }
        }
        // It comes behind all that.
        #expect(try sidecar.client().request("GET", "/h2/last").status == 200)
        #expect(upstream.connectionCount == 1)
        try neighbour.roundTrip()
        #expect(neighbour.answers[1]?.isOver == false)
    }

    /// The library finds the frame on an idle stream, and we ourselves the push that our SETTINGS forbid.
    @Test(arguments: [HTTP2Frame.Kind.data, .pushPromise])
    func `are asked anew where the upstream breaks it on another of them`(_ fault: HTTP2Frame.Kind) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            if stream[":path"] == "/h2/held" {
                if stream.connection > 1 { try peer.answer(stream.id) }
                return
            }
            guard stream.hasEnd else { return }
            // The first request of a connection is never sent twice.
            if stream[":path"] == "/h2/first" { return try peer.answer(stream.id) }
            let promise = [0, 0, 0, 2] + HPACK.encode([(":method", "GET"), (":path", "/")])
            try peer.send(
                fault == .data
                    ? .data("x", stream: 99)
                    : HTTP2Frame(fault, flags: HTTP2Frame.endHeaders, stream: stream.id, promise))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let held = try sidecar.client()
        #expect(try held.request("GET", "/h2/first").status == 200)
        try held.send("GET", "/h2/held")
        try upstream.stream("the request that is held") { $0[":path"] == "/h2/held" }
        let broken = try sidecar.client().request("POST", "/h2/broken", body: "x")
        #expect(broken.status == 502 && broken.problem == "upstream_protocol", "\(broken.text)")
        #expect(try held.wire.readHead()?.status == 200)
        #expect(upstream.streams.filter { $0[":path"] == "/h2/broken" }.count == 1)
    }

    /// Connections of one age carry about as much, and reach a server's limit of requests together.
    @Test(arguments: ["GET", "POST"])
    func `are asked anew though two of them end with a GOAWAY at once`(_ method: String) throws {
        let gate = Gate()
        let upstream = try HTTP2Upstream(settings: [(3, 1)]) { peer, _, stream in
            guard stream.hasEnd else { return }
            guard stream[":path"] == "/h2/next" else {
                try gate.pass()
                return try peer.answer(stream.id)
            }
            if stream.connection > 2 {
                try peer.answer(stream.id)
            } else {
                try peer.goAway(lastStream: stream.id - 2)
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let clients = try (0..<2).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/h2/first") }
        try eventually("two connections") { upstream.streams.count == 2 && upstream.connectionCount == 2 }
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        let answer = try sidecar.client().request(method, "/h2/next", body: method == "POST" ? "x" : "")
        #expect(answer.status == 200, "\(answer.text)")
        let tries = upstream.streams.filter { $0[":path"] == "/h2/next" }.map(\.connection)
        #expect(Set(tries) == [1, 2, 3] && tries.count == 3, "\(tries)")
    }

    @Test func `are logged as gone where they cancel, and the upstream is not blamed`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .content else { return }
            let head = HTTP2Frame.head([(":status", "200")], stream: stream.id, endsStream: false)
            try peer.send(head, .data("one", stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        for number in 1...4 {
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            let call = try client.begin("POST", "/h2/\(number)", endsStream: false)
            try client.send(.data("message", stream: call))
            try client.wait { $0.answers[call]?.text == "one" }
            try client.send(.reset(call))
            let line = try sidecar.bearerd.logLine("its line") { $0["path"] == "/h2/\(number)" }
            #expect(line["status"] == "499" && line["code"] == "client_gone")
        }
        #expect(try sidecar.metrics().series["bearerd_route_failing{route=\"/h2\"}"] == 0)
        #expect(!sidecar.bearerd.log.contains("broke off"))
    }

    @Test func `send content though many of them are not read`() throws {
        let upstream = try HTTP2Upstream(opensWindows: false) { peer, _, stream in
            if stream[":path"] != "/h2/stalled", stream.hasEnd { try peer.answer(stream.id) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        var clients: [RawClient] = []
        for number in 1...10 {
            let client = try sidecar.client()
            clients.append(client)
            try client.send("POST", "/h2/stalled", [("Content-Length", "100000")])
            startThread { try? client.wire.send(String(repeating: "x", count: 100_000)) }
            try upstream.stream("all that its window takes") {
                $0.connection == number && $0.content.count == 65_535
            }
        }
        #expect(try sidecar.client().request("POST", "/h2/content", body: "x").status == 200)
        #expect(upstream.streams.map(\.connection) == Array(1...11))
        for client in clients { client.wire.close() }
    }

    /// Nothing of their bodies is gathered while connections are scarce.
    @Test func `of gRPC may wait for an answer before they go on, however many there are`() throws {
        let fields = [("content-type", "application/grpc"), ("te", "trailers")]
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let head = [(":status", "200"), ("content-type", "application/grpc")]
            try peer.send(.head(head, stream: stream.id, endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "limits: {upstream_connections: 4}")
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for _ in 0..<4 {
            let call = try client.begin("POST", "/h2/talk", fields, endsStream: false)
            try client.send(.data("m", stream: call))
            #expect(try client.head(on: call)[":status"] == "200")
        }
    }

    @Test func `with large heads keep no other large head waiting`() throws {
        let upstream = try HTTP2Upstream(settings: [(6, 1 << 20)]) { peer, event, stream in
            guard event == .head else { return }
            let isWatch = stream[":path"] == "/h2/watch"
            try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: !isWatch))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let large = ("cookie", String(repeating: "c", count: 9000))
        let streams = try (0..<10).map { _ in try client.begin("GET", "/h2/watch", [large]) }
        for stream in streams { #expect(try client.head(on: stream)[":status"] == "200") }
        #expect(try sidecar.client().request("GET", "/h2/page", [large]).status == 200)
        #expect(try sidecar.client().request("GET", "/h2/page").status == 200)
    }

    /// Whoever finds a new connection unread lets it be read first, and others see it carry nothing meanwhile.
    @Test func `with large heads each get a connection that has more to say than its settings`() throws {
        let upstream = try HTTP2Upstream(
            settings: [(6, 1 << 20)],
            greet: { peer in
                startThread { for _ in 0..<200 { try? peer.send(.windowUpdate(1)) } }
            },
            serve: { peer, event, stream in
                guard event == .head else { return }
                try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            })
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let large = ("cookie", String(repeating: "c", count: 9000))
        let streams = try (0..<20).map { _ in try client.begin("GET", "/h2/watch", [large]) }
        for stream in streams { #expect(try client.head(on: stream)[":status"] == "200") }
    }

    @Test func `get as many connections as their calls need at once`() throws {
        let upstream = try HTTP2Upstream(settings: [(3, 4)]) { peer, event, stream in
            if event == .head {
                try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let streams = try (0..<24).map { _ in try client.begin("GET", "/h2/watch") }
        for stream in streams { #expect(try client.head(on: stream)[":status"] == "200") }
        #expect(upstream.connectionCount >= 6)
    }

    @Test func `keep it where another one sends a head that is large for a server`() throws {
        let upstream = try Self.upstream { peer, _, stream in
            let isLarge = stream.fields.contains { $0.value.utf8.count > 8192 }
            if isLarge { peer.close() } else { try peer.answer(stream.id) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let neighbour = try Self.neighbour(sidecar)
        let large = ("Cookie", String(repeating: "c", count: 12_000))
        for method in ["GET", "POST"] {
            #expect(try sidecar.client().request(method, "/h2/large", [large]).status == 502)
        }
        #expect(try sidecar.client().request("GET", "/h2/small").status == 200)
        let own = Set(upstream.streams.filter { $0[":path"] == "/h2/large" }.map(\.connection))
        #expect(!own.isEmpty && !own.contains(1))
        #expect(upstream.streams.last?.connection == 1)
        try neighbour.roundTrip()
        #expect(neighbour.answers[1]?.isOver == false)
    }

    @Test func `are told 431 of a head that is larger than the upstream says it takes`() throws {
        let upstream = try Self.upstream(settings: [(6, 4096)]) { peer, _, stream in
            try peer.answer(stream.id)
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        try sidecar.awaitToken()
        let client = try sidecar.client()
        let field = { ("X-Field", String(repeating: "x", count: $0)) }
        #expect(try client.request("GET", "/h2/small", [field(1000)]).status == 200)
        for size in [5000, 12_000] {
            let answer = try client.request("GET", "/h2/large", [field(size)])
            #expect(answer.status == 431 && answer.problem == "headers_too_large")
            #expect(answer.text.contains("the upstream says"))
        }
        #expect(upstream.streams.count == 1)
        #expect(try sidecar.metrics().series["bearerd_route_failing{route=\"/h2\"}"] == 0)
    }
}
