// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What ends a message in HTTP/2 is said by frames, and in HTTP/1.1 by fields: neither may say what the other does not.
@Suite(.blocking) struct `Messages of HTTP2 in the words of HTTP1` {
    private let sidecar: Sidecar

    init() throws {
        sidecar = try Sidecar(.init(top: "workers: 1\ntimeouts: {header: 500ms}"))
        try sidecar.awaitToken()
    }

    private func client() throws -> HTTP2Client { try HTTP2Client(to: sidecar.bearerd.proxy) }

    /// Fields that say what follows, where it goes, who asks or what the content is (RFC 9110 §6.5.1).
    private static let trailers =
        [
            "host", "trailer", "content-type", "content-encoding", "authorization", "cookie", "set-cookie",
            "via",
            "x-forwarded-for", "forwarded", "range", "expect", "http2-settings", "cache-control",
            "proxy-authorization", "x-bearerd-key",
        ].map { ($0, "bearerd_evil=1") } + [("te", "trailers"), ("max-forwards", "1")]

    @Test(arguments: ["0", "60"])
    func `an extended CONNECT that declares a length is refused, for HTTP1 would announce a body`(
        length: String
    ) throws {
        let client = try client()
        let stream = try client.begin(
            [
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/ws"),
                (":authority", "\(sidecar.bearerd.proxy)"), ("sec-websocket-version", "13"),
                ("content-length", length),
            ], endsStream: false)
        #expect(try client.head(on: stream)[":status"] == "400")
        #expect(try client.request("GET", "/next").status == 200)
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/next"])
    }

    @Test func `a request without content that does not end is answered in time, and alone`() throws {
        let client = try client()
        let unended = try client.begin("POST", "/never", [("content-length", "0")], endsStream: false)
        #expect(try client.request("GET", "/next").status == 200)
        let answer = try client.answer(on: unended)
        #expect(answer.status == 408 && answer.text.contains("request_timeout"))
        #expect(try client.request("GET", "/after").status == 200)
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/next", "/after"])
    }

    @Test func `a request without content that ends with a frame of its own goes up`() throws {
        let client = try client()
        let stream = try client.begin("POST", "/late", [("content-length", "0")], endsStream: false)
        try client.roundTrip()
        #expect(sidecar.upstream.requests.isEmpty)
        try client.send(.data("", stream: stream, endsStream: true))
        #expect(try client.answer(on: stream).status == 200)
        #expect(try sidecar.upstream.request()["Content-Length"] == "0")
    }

    @Test func `a malformed request is reset, and has its line in the access log`() throws {
        let client = try client()
        let stream = try client.begin("GET", "/upper", [("X-Upper", "1")])
        #expect(try client.resetCode(of: stream) == 0x1)
        try eventually("the access line") {
            sidecar.bearerd.logLines.contains {
                $0["status"] == "400" && $0["protocol"] == "HTTP/2" && $0["code"] == "bad_request"
            }
        }
        #expect(try client.request("GET", "/next").status == 200)
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/next"])
    }

    @Test
    func
        `a refused head is logged with its method, as far as that has come, and half a one that is left is not`()
        throws
    {
        let client = try client()
        for fields in [
            client.fields("POST", "/", [("X-Upper", "1")]), [("X-Upper", "1")] + client.fields("PUT", "/"),
        ] {
            #expect(try client.resetCode(of: client.begin(fields)) == 0x1)
        }
        // No field has the index 0.
        let undecodable = HPACK.encode(client.fields("DELETE", "/")) + [0x80]
        try client.send(HTTP2Frame(.headers, flags: HTTP2Frame.endHeaders, stream: 5, undecodable))
        #expect(try client.goawayCode() == 0x9)
        for (method, isLeft) in [("OPTIONS", true), ("PATCH", false)] {
            let other = try self.client()
            // Nothing may come inside of a head, the acknowledgement of SETTINGS neither.
            try other.roundTrip()
            try other.send(HTTP2Frame(.headers, stream: 1, HPACK.encode(other.fields(method, "/"))))
            if isLeft {
                other.wire.finishWriting()
                try other.awaitEnd()
            } else {
                #expect(try other.goawayCode() == 0xB)
            }
        }
        let expected = ["POST bad_request", " bad_request", "DELETE bad_request", "PATCH request_timeout"]
        try eventually("the access lines") {
            sidecar.bearerd.logLines.filter { $0["message"] == "request" }.map {
                "\($0["method"] ?? "?") \($0["code"] ?? "?")"
            }
                == expected
        }
    }

    @Test func `a malformed request has nothing of the requests before it`() throws {
        let client = try client()
        for number in 0..<3 {
            #expect(
                try client.request("GET", "/earlier/\(number)", [("x-request-id", "earlier")]).status == 200)
        }
        let other = try self.client()
        let stream = try other.begin("GET", "/upper", [("X-Upper", "1")])
        #expect(try other.resetCode(of: stream) == 0x1)
        try eventually("the access line") { sidecar.bearerd.logLines.contains { $0["status"] == "400" } }
        let line = sidecar.bearerd.logLines.first { $0["status"] == "400" }
        #expect(line.map { "\($0.json)".contains("earlier") } == false, "\(String(describing: line))")
    }

    @Test func `a length goes up in its shortest form`() throws {
        #expect(try client().request("POST", "/", [("content-length", "0003")], body: "abc").status == 200)
        let request = try sidecar.upstream.request()
        #expect(request["Content-Length"] == "3" && request.body == Array("abc".utf8))
    }

    @Test func `trailers that come with the head go up`() throws {
        let client = try client()
        let stream = client.takeStream()
        try client.send(
            .head(client.fields("POST", "/"), stream: stream, endsStream: false),
            .head([("x-check", "9")], stream: stream))
        #expect(try client.answer(on: stream).status == 200)
        let request = try sidecar.upstream.request()
        #expect(request.body.isEmpty && request.trailers.map(\.value) == ["9"])
    }

    @Test func `nothing of an answer that breaks off before its head has gone is in the next one`()
        throws
    {
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nold\r\nno chunk\r\n")
        }
        let client = try client()
        let answer = try client.request("GET", "/")
        #expect(answer.status == 502 && answer.hasEnd && answer.text.hasPrefix("{"), "\(answer.text)")
        #expect(answer.head["content-length"] == "\(answer.content.count)")
        let call = try client.request("POST", "/", [("content-type", "application/grpc")], body: "x")
        #expect(call.head["grpc-status"] == "14" && call.hasEnd && call.content.isEmpty && call.blocks == 1)
    }

    @Test func `trailers of a request may not say what only a head may`() throws {
        let client = try client()
        let stream = try client.begin("POST", "/", endsStream: false)
        try client.send(
            .data("abc", stream: stream), .head(Self.trailers + [("x-check", "9")], stream: stream))
        #expect(try client.answer(on: stream).status == 200)
        #expect(try sidecar.upstream.request().trailers.map { $0.name.lowercased() } == ["x-check"])
    }

    @Test func `trailers of a response may not either, whichever client asks`() throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd else { return }
            try peer.send(
                .head([(":status", "200")], stream: stream.id, endsStream: false),
                .data("ok", stream: stream.id),
                .head(Self.trailers.filter { $0.0 != "te" } + [("x-sum", "7")], stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let modern = try HTTP2Client(to: sidecar.bearerd.proxy).request("GET", "/h2/", [("te", "trailers")])
        #expect(modern.text == "ok" && modern.trailers == ["x-sum": "7"])
        let client = try sidecar.client()
        try client.send("GET", "/h2/", [("TE", "trailers"), ("Connection", "TE")])
        #expect(try client.wire.readHead()?.status == 200)
        #expect(try client.wire.readChunk() == Array("ok".utf8))
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().map { $0.name.lowercased() } == ["x-sum"])
    }

    @Test func `the status of a call that is over before its request is stays with its head`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "9")]
            try peer.send(.head(head, stream: stream.id), .reset(stream.id, code: 0))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = [("content-type", "application/grpc"), ("te", "trailers")]
        let stream = try client.begin("POST", "/h2/", call, endsStream: false)
        let answer = try client.answer(on: stream)
        #expect(answer.head["grpc-status"] == "9" && answer.hasEnd && answer.blocks == 1)
        let frames = client.frames.filter { $0.stream == stream }
        #expect(frames.first?.has(HTTP2Frame.endStream) == true, "\(frames.map(\.kind))")
    }

    @Test func `a call in which nothing passes either way ends as other streams do`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 1600ms}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin("POST", "/h2/", [("content-type", "application/grpc")], endsStream: false)
        try client.send(.data("12345", stream: call))
        let first = try client.begin("GET", "/h2/")
        #expect(try client.resetCode(of: first) != nil)
        // It waits for as long again.
        let second = try client.begin("GET", "/h2/")
        #expect(try client.answer(on: call).trailers["grpc-status"] == "4")
        #expect(client.answers[second]?.isOver != true)
    }
}
