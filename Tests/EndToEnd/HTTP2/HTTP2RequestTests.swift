// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What a request means does not depend on the version of HTTP that carries it.
@Suite(.blocking) struct `HTTP2 requests to an upstream of HTTP1` {
    private let sidecar: Sidecar

    init() throws {
        sidecar = try Sidecar(.init(top: "limits: {body_bytes: 1MiB}", route: "forwarded: true"))
        try sidecar.awaitToken()
    }

    private func client(_ settings: [(UInt16, UInt32)] = []) throws -> HTTP2Client {
        try HTTP2Client(to: sidecar.bearerd.proxy, settings: settings)
    }

    @Test func `a request gets the token, the upstream's Host and Via, and its answer comes back`() throws {
        sidecar.upstream.answer { _ in
            .response(
                201,
                [("Content-Type", "text/plain"), ("X-Up", "yes"), ("Connection", "X-Hop"), ("X-Hop", "1")],
                "made")
        }
        let answer = try client().request(
            "GET", "/a/b?c=d", [("x-mine", "V"), ("cookie", "a=1"), ("cookie", "b=2")])
        #expect(answer.status == 201 && answer.text == "made" && answer.head["x-up"] == "yes")
        #expect(answer.head["x-hop"] == nil && answer.head["connection"] == nil)
        #expect(answer.head["content-length"] == "4")
        let request = try sidecar.upstream.request()
        #expect(request.head.target == "/a/b?c=d" && request["Host"] == sidecar.upstream.authority)
        #expect(request["Via"] == "2 bearerd" && request["X-Mine"] == "V" && request["Cookie"] == "a=1; b=2")
        #expect(sidecar.upstream.tokens.first?.isEmpty == false)
        #expect(try request["X-Forwarded-Host"] == "\(sidecar.bearerd.proxy)")
    }

    @Test func `content goes up in chunks without a length, and as it is with one`() throws {
        sidecar.upstream.answer { .ok(String(decoding: $0.body, as: UTF8.self)) }
        let client = try client()
        #expect(try client.request("POST", "/", body: "without").text == "without")
        #expect(try sidecar.upstream.request()["Transfer-Encoding"] == "chunked")
        #expect(try client.request("POST", "/", [("content-length", "4")], body: "with").text == "with")
        #expect(try sidecar.upstream.request(2)["Content-Length"] == "4")
        #expect(try sidecar.upstream.request(2)["Transfer-Encoding"] == nil)
    }

    @Test func `trailers pass both ways`() throws {
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")
        }
        let client = try client()
        let stream = try client.begin("POST", "/", [("te", "trailers")], endsStream: false)
        try client.send(.data("abc", stream: stream), .head([("x-check", "9")], stream: stream))
        let answer = try client.answer(on: stream)
        #expect(answer.text == "ok" && answer.trailers == ["x-sum": "7"])
        let request = try sidecar.upstream.request()
        #expect(request.trailers.contains { $0.name.lowercased() == "x-check" && $0.value == "9" })
        #expect(request["TE"] == "trailers")
    }

    @Test func `Content-Length among trailers goes to nobody`() throws {
        let client = try client()
        let trailers = [("content-length", "3"), ("x-check", "9")]
        let stream = try client.begin("POST", "/", endsStream: false)
        try client.send(.data("abc", stream: stream), .head(trailers, stream: stream))
        #expect(try client.answer(on: stream).status == 200)
        let request = try sidecar.upstream.request()
        #expect(request.trailers.map { $0.name.lowercased() } == ["x-check"])
        // A second length makes the message malformed for nghttp2: it costs its own stream alone.
        let other = try client.begin("POST", "/", [("content-length", "3")], endsStream: false)
        try client.send(.data("abc", stream: other), .head(trailers, stream: other))
        #expect(try client.resetCode(of: other) == 0x1)
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `interim answers come before the final one, 101 never`() throws {
        sidecar.upstream.answer { _ in
            .raw(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            )
        }
        let answer = try client().request("GET", "/")
        #expect(answer.interim.map { $0[":status"] } == ["103"] && answer.interim.first?["link"] == "</a>")
        #expect(answer.status == 200 && answer.text == "ok")
    }

    @Test func `Expect is passed on, and the 100 that answers it`() throws {
        let sidecar = try Sidecar(
            upstream: RawUpstream(script: { wire in
                guard let head = try wire.readHead() else { return }
                try wire.send("HTTP/1.1 100 Continue\r\n\r\n")
                let body = try wire.readBody(of: head).body
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                try wire.send(body)
            }))
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin(
            "POST", "/", [("expect", "100-continue"), ("content-length", "3")], endsStream: false)
        try client.wait { $0.answers[stream]?.interim.isEmpty == false }
        try client.send(.data("abc", stream: stream, endsStream: true))
        #expect(try client.answer(on: stream).text == "abc")
    }

    @Test func `answers without content end with their head`() throws {
        sidecar.upstream.answer { request in
            switch request.head.target {
            case "/204": .response(204)
            case "/304": .response(304, [("ETag", "\"x\"")])
            default: .response(200, [("X-Head", "1")], "")
            }
        }
        let client = try client()
        for (method, path, status) in [("GET", "/204", 204), ("GET", "/304", 304), ("HEAD", "/h", 200)] {
            let answer = try client.request(method, path)
            #expect(answer.status == status && answer.content.isEmpty && answer.blocks == 1)
        }
        // Of the head alone: DATA would have the end otherwise.
        #expect(!client.frames.contains { $0.kind == .data })
    }

    @Test func `a 401 is replayed with another token`() throws {
        let first = Monitor(0)
        sidecar.upstream.answer { _ in
            first.withLock { count in
                count += 1
                return count == 1 ? Reply.unauthorized : .ok("second")
            }
        }
        let answer = try client().request("POST", "/", body: "again")
        #expect(answer.status == 200 && answer.text == "second")
        #expect(try sidecar.upstream.request(2).body == Array("again".utf8))
        #expect(Set(sidecar.upstream.tokens).count == 2)
    }

    @Test func `own errors are problems, and the connection goes on`() throws {
        let client = try client()
        let wrong = client.fields("GET", "/").map { $0.0 == ":authority" ? ($0.0, "evil.example") : $0 }
        let stream = try client.begin(wrong)
        let answer = try client.answer(on: stream)
        #expect(answer.status == 421 && answer.head["content-type"] == "application/problem+json")
        #expect(
            answer.text.contains(#""code":"wrong_host""#) || answer.text.contains(#""code": "wrong_host""#))
        #expect(try client.request("TRACE", "/").status == 405)
        #expect(try client.request("HEAD", "/", [("origin", "https://evil.example")]).status == 403)
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `a body beyond the limit is 413, told before it is sent where its length is`() throws {
        let client = try client()
        let stream = try client.begin("POST", "/", [("content-length", "2000000")], endsStream: false)
        #expect(try client.head(on: stream)[":status"] == "413")
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `the access log names the version`() throws {
        #expect(try client().request("GET", "/logged").status == 200)
        try eventually("the access line") {
            sidecar.bearerd.logLines.contains { $0["path"] == "/logged" && $0["protocol"] == "HTTP/2" }
        }
    }

    @Test func `many streams at once are all answered`() throws {
        sidecar.upstream.answer { .ok($0.head.target) }
        let client = try client()
        let streams = try (0..<100).map { try client.begin("GET", "/\($0)") }
        for (number, stream) in streams.enumerated() {
            #expect(try client.answer(on: stream).text == "/\(number)")
        }
    }

    @Test func `clients of HTTP1 on the same listener are served as ever`() throws {
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        #expect(try client.request("POST", "/", body: "x").status == 200)
        #expect(try sidecar.upstream.request()["Via"] == "1.1 bearerd")
    }

    @Test func `a malformed one is logged without an answer that was not sent`() throws {
        let client = try client()
        let stream = try client.begin("GET", "/", [("Upper", "x")])
        #expect(try client.resetCode(of: stream) == 0x1)
        try sidecar.bearerd.logLine("the line of the malformed request") {
            $0["status"] == "400" && $0["code"] == "bad_request" && $0["bytes_out"] == "0"
        }
    }
}
