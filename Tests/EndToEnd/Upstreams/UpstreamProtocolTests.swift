// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Whether an upstream speaks what its route says, and what ALPN (RFC 7301) makes of `auto`.
@Suite(.blocking) struct `The protocol of an upstream` {
    private static func upstream(_ tls: TLSServer? = nil) throws -> HTTP2Upstream {
        try HTTP2Upstream(tls: tls) { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "two") }
        }
    }

    @Test func `is agreed on with TLS`() throws {
        let authority = try TLSAuthority()
        let upstream = try Self.upstream(authority.server().choosing("\u{2}h2"))
        for name in ["h2", "auto"] {
            let sidecar = try HTTP2Route.sidecar(
                upstream, speaking: name, route: "ca_file: \(authority.certificateFile)")
            #expect(try sidecar.get("/h2/").text == "two")
            #expect(upstream.streams.last?[":scheme"] == "https")
        }
    }

    @Test func `takes a large upload over TLS, and is heard meanwhile`() throws {
        let authority = try TLSAuthority()
        let upstream = try HTTP2Upstream(tls: try authority.server().choosing("\u{2}h2")) { peer, _, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "\(stream.content.count)") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, route: "ca_file: \(authority.certificateFile)")
        let client = try sidecar.client()
        let large = String(repeating: "x", count: 1 << 20)
        for _ in 0..<3 { #expect(try client.request("POST", "/h2/", body: large).text == "\(1 << 20)") }
    }

    @Test func `is HTTP/1.1 where auto finds nothing else`() throws {
        let authority = try TLSAuthority()
        for server in [try authority.server(), try authority.server().choosing("\u{8}http/1.1")] {
            let upstream = try RawUpstream(tls: server)
            let sidecar = try HTTP2Route.sidecar(
                at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
            let client = try sidecar.client()
            for _ in 0..<3 { #expect(try client.request("GET", "/h2/").text == "hello") }
            #expect(upstream.requests.count == 3 && upstream.connectionCount == 1)
        }
    }

    /// Speaks HTTP/1.1, and over HTTP/2 to a GET of `/h2/two`; of every other stream, or of the connection, it wants HTTP/1.1.
    ///
    /// - Parameters:
    ///   - first: sends what comes before that.
    ///   - heads: the methods and targets of what comes, of HTTP/2 behind a `2`.
    private static func demanding(
        _ tls: TLSServer, byGoaway: Bool, _ heads: Monitor<[String]>,
        first: @escaping @Sendable (UInt32) -> [HTTP2Frame] = { _ in [] }
    ) throws -> RawUpstream {
        try RawUpstream(tls: tls) { wire in
            while let head = try wire.readHead() {
                guard head.method == "PRI" else {
                    heads.withLock { $0.append("\(head.method) \(head.target)") }
                    _ = try wire.read(exactly: head["Content-Length"].flatMap(Int.init) ?? 0)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
                    continue
                }
                _ = try wire.read(exactly: 6)  // the preface's end
                try wire.send(HTTP2Frame.settings().bytes)
                let reader = HPACK.Reader()
                while true {
                    let header = try wire.read(exactly: 9)
                    let payload = try wire.read(exactly: Int(header[1]) << 8 | Int(header[2]))
                    guard header[3] == HTTP2Frame.Kind.headers.rawValue else { continue }
                    let fields = reader.fields(of: payload) ?? []
                    let words = [":method", ":path"].compactMap { name in
                        fields.first { $0.name == name }?.value
                    }
                    heads.withLock { $0.append((["2"] + words).joined(separator: " ")) }
                    let stream = UInt32(header[7]) << 8 | UInt32(header[8])
                    if words.last == "/h2/two" {
                        try wire.send(
                            HTTP2Frame.head([(":status", "200")], stream: stream, endsStream: false).bytes)
                        try wire.send(HTTP2Frame.data("two", stream: stream, endsStream: true).bytes)
                        continue
                    }
                    let demand =
                        byGoaway
                        ? HTTP2Frame(.goaway, HTTP2Frame.bytes(of: 0, 4) + HTTP2Frame.bytes(of: 0xD, 4))
                        : .reset(stream, code: 0xD)
                    try wire.send((first(stream) + [demand]).flatMap(\.bytes))
                }
            }
        }
    }

    @Test
    func `is HTTP/1.1 from the request on at which the upstream wants that of all, where it may choose`()
        throws
    {
        let authority = try TLSAuthority()
        let heads = Monitor<[String]>([])
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2\u{8}http/1.1"), byGoaway: true, heads)
        // Without an age of its own it is not for ever either.
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto",
            route: "ca_file: \(authority.certificateFile)\ntimeouts: {upstream_age: 0}")
        let client = try sidecar.client()
        let first = try client.request("POST", "/h2/", body: "x")
        #expect(first.text == "one", "\(first.text)")
        for _ in 0..<3 { #expect(try client.request("GET", "/h2/two").text == "one") }
        #expect(
            heads.withLock { $0 } == ["2 POST /h2/", "POST /h2/"] + Array(repeating: "GET /h2/two", count: 3))
    }

    @Test func `is HTTP/1.1 for one request that the upstream wants so, and HTTP/2 for the others`() throws {
        let authority = try TLSAuthority()
        let heads = Monitor<[String]>([])
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2\u{8}http/1.1"), byGoaway: false, heads)
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
        let client = try sidecar.client()
        let first = try client.request("POST", "/h2/", body: "x")
        #expect(first.text == "one", "\(first.text)")
        for _ in 0..<2 { #expect(try client.request("GET", "/h2/two").text == "two") }
        #expect(try client.request("GET", "/h2/").text == "one")
        #expect(try client.request("GET", "/h2/two").text == "two")
        #expect(
            heads.withLock { $0 } == [
                "2 POST /h2/", "POST /h2/", "2 GET /h2/two", "2 GET /h2/two", "2 GET /h2/", "GET /h2/",
                "2 GET /h2/two",
            ])
    }

    @Test func `is HTTP/1.1 for uploads after one that the upstream wanted so and could not be sent again`()
        throws
    {
        let authority = try TLSAuthority()
        let heads = Monitor<[String]>([])
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2\u{8}http/1.1"), byGoaway: false, heads)
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto",
            route: "ca_file: \(authority.certificateFile)\nreplay_buffer: 1KiB")
        let client = try sidecar.client()
        let large = String(repeating: "x", count: 4000)
        let refused = try client.request("POST", "/h2/", body: large)
        #expect(refused.status == 502 && refused.problem == "upstream_protocol", "\(refused.text)")
        #expect(try sidecar.client().request("POST", "/h2/", body: large).text == "one")
        // Whatever can be sent again still goes by HTTP/2, and so does a call of gRPC, which can go by nothing else.
        #expect(try sidecar.get("/h2/two").text == "two")
        let caller = try HTTP2Client(to: sidecar.bearerd.proxy)
        _ = try caller.request(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")], body: large)
        #expect(
            heads.withLock { $0 } == ["2 POST /h2/", "POST /h2/", "2 GET /h2/two", "2 POST /h2/call"])
    }

    @Test func `is not HTTP/1.1 for a call of gRPC where the upstream wants that of all`() throws {
        let authority = try TLSAuthority()
        let heads = Monitor<[String]>([])
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2\u{8}http/1.1"), byGoaway: true, heads)
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
        #expect(try sidecar.get("/h2/").text == "one")
        let caller = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try caller.request(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")], body: "x")
        #expect(call.head["grpc-status"] == "14" && call.head["grpc-message"]?.contains("HTTP/1.1") == true)
        #expect(try caller.request("GET", "/h2/").text == "one")
        #expect(heads.withLock { $0 } == ["2 GET /h2/", "GET /h2/", "GET /h2/"])
    }

    @Test func `stays HTTP/1.1 though a connection was being made when the upstream wanted that`() throws {
        let authority = try TLSAuthority()
        let connections = Monitor(0)
        let (isAsked, isBeingMade, isDeclined) = (Gate(), Gate(), Gate())
        let upstream = try RawUpstream(tls: authority.server().choosing("\u{2}h2\u{8}http/1.1")) { wire in
            while let head = try wire.readHead() {
                guard head.method == "PRI" else {
                    isDeclined.open()
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
                    continue
                }
                _ = try wire.read(exactly: 6)  // the preface's end
                let number = connections.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 {
                    // One stream at once, so that the next request needs another connection.
                    try wire.send(HTTP2Frame.settings([(0x3, 1)]).bytes)
                    var kind: UInt8?
                    while kind != HTTP2Frame.Kind.headers.rawValue {
                        let header = try wire.read(exactly: 9)
                        _ = try wire.read(exactly: Int(header[1]) << 8 | Int(header[2]))
                        kind = header[3]
                    }
                    isAsked.open()
                    try isBeingMade.pass()
                    let goaway = HTTP2Frame.bytes(of: 0, 4) + HTTP2Frame.bytes(of: 0xD, 4)
                    try wire.send(HTTP2Frame(.goaway, goaway).bytes)
                } else {
                    isBeingMade.open()
                    try isDeclined.pass()
                    try wire.send(HTTP2Frame.settings().bytes)
                }
                _ = try wire.readToEnd()
            }
        }
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let first = try client.begin("GET", "/h2/")
        try isAsked.pass()
        let second = try client.begin("GET", "/h2/")
        for stream in [first, second] { #expect(try client.answer(on: stream).text == "one") }
        #expect(try client.request("GET", "/h2/").text == "one")
        #expect(connections.withLock { $0 } == 2)
    }

    @Test func `is not HTTP/1.1 for a call of gRPC, nor for a POST that may have been processed`() throws {
        let authority = try TLSAuthority()
        let heads = Monitor<[String]>([])
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2\u{8}http/1.1"), byGoaway: false, heads
        ) { stream in [.head([(":status", "100")], stream: stream, endsStream: false)] }
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
        let client = try sidecar.client()
        let refused = try client.request("POST", "/h2/", body: "x")
        #expect(refused.status == 502 && refused.problem == "upstream_protocol", "\(refused.text)")
        #expect(try client.request("PUT", "/h2/", body: "x").text == "one")
        let caller = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try caller.request(
            "PUT", "/h2/", [("content-type", "application/grpc"), ("te", "trailers")], body: "x")
        #expect(call.head["grpc-status"] == "14" && call.head["grpc-message"]?.contains("HTTP/1.1") == true)
        #expect(heads.withLock { $0 } == ["2 POST /h2/", "2 PUT /h2/", "PUT /h2/", "2 PUT /h2/"])
    }

    @Test func `that wants HTTP/1.1 where the route wants HTTP/2 is upstream_protocol`() throws {
        let authority = try TLSAuthority()
        let upstream = try Self.demanding(
            try authority.server().choosing("\u{2}h2"), byGoaway: false, Monitor([]))
        let sidecar = try HTTP2Route.sidecar(
            at: upstream.url, route: "ca_file: \(authority.certificateFile)")
        for method in ["GET", "POST"] {
            let answer = try sidecar.client().request(method, "/h2/")
            #expect(answer.status == 502 && answer.problem == "upstream_protocol")
            #expect(answer.text.contains("wants this request over HTTP/1.1"), "\(answer.text)")
        }
    }

    @Test func `is not HTTP/2 over a cipher that HTTP/2 prohibits`() throws {
        let authority = try TLSAuthority()
        let prohibited = "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256"
        let said = Monitor<[UInt8]>([])
        let upstream = try RawUpstream(
            tls: try authority.server().choosing("\u{2}h2\u{8}http/1.1").speakingTLS12(with: prohibited)
        ) { wire in
            while let head = try wire.readHead() {
                guard head.method == "PRI" else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
                    continue
                }
                let bytes = try wire.readToEnd()
                return said.withLock { $0 = bytes }
            }
        }
        let trust = "ca_file: \(authority.certificateFile)"
        let sidecar = try HTTP2Route.sidecar(at: upstream.url, route: trust)
        let answer = try sidecar.get("/h2/")
        #expect(answer.status == 502 && answer.problem == "upstream_tls", "\(answer.text)")
        #expect(answer.text.contains("a cipher that HTTP/2 prohibits"))
        let goaway = try said.wait(for: "a GOAWAY") { bytes -> UInt32? in
            var frames = Array(bytes.dropFirst(6))  // the preface's end
            while let frame = HTTP2Frame.take(from: &frames) {
                if frame.kind == .goaway { return frame.number(at: 4) }
            }
            return nil
        }
        #expect(goaway == 0xC)
        let choosing = try HTTP2Route.sidecar(at: upstream.url, speaking: "auto", route: trust)
        let client = try choosing.client()
        for _ in 0..<2 { #expect(try client.request("GET", "/h2/").text == "one") }
    }

    @Test func `that TLS does not choose is upstream_tls`() throws {
        let authority = try TLSAuthority()
        for server in [try authority.server(), try authority.server().choosing("\u{8}http/1.1")] {
            let upstream = try RawUpstream(tls: server)
            let sidecar = try HTTP2Route.sidecar(
                at: upstream.url, route: "ca_file: \(authority.certificateFile)")
            let answer = try sidecar.get("/h2/")
            #expect(answer.status == 502 && answer.problem == "upstream_tls", "\(answer.text)")
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func `that is another one is upstream_protocol`() throws {
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        }
        let sidecar = try HTTP2Route.sidecar(at: upstream.url)
        let answer = try sidecar.get("/h2/")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(answer.text)")
        #expect(try sidecar.get("/").status == 200)
    }
}
