// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Connections live as HTTP/1.1 wants (RFC 9112 section 9), and messages keep what RFC 9110 gives them.
@Suite(.blocking) struct `Connections and messages` {
    @Test func `a connection serves many requests, and so does the one to the upstream`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        for index in 0..<50 { #expect(try client.request("GET", "/\(index)").text == "hello") }
        #expect(sidecar.upstream.connectionCount == 1)
    }

    @Test func `pipelined requests are answered in order`() throws {
        let upstream = try RawUpstream { request in .ok(request.head.target + request.text) }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        let requests = (0..<10).map { index in
            index % 2 == 0
                ? "GET /\(index) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                : "POST /\(index) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 1\r\n\r\n!"
        }
        try client.wire.send(requests.joined())
        for index in 0..<10 {
            #expect(try client.wire.readResponse().text == "/\(index)" + (index % 2 == 0 ? "" : "!"))
        }
    }

    @Test func `Connection close is honoured, from either side`() throws {
        let upstream = try RawUpstream { request in
            request.head.target == "/end"
                ? .raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", thenClose: true)
                : .ok()
        }
        let sidecar = try Sidecar(upstream: upstream)
        let polite = try sidecar.client()
        let answer = try polite.request("GET", "/", [("Connection", "close")])
        #expect(answer["Connection"]?.lowercased() == "close")
        #expect(try polite.wire.endsCleanly())
        let lasting = try sidecar.client()
        for _ in 0..<2 { #expect(try lasting.request("GET", "/end").text == "ok") }
    }

    @Test func `a client that half-closes still gets its answer`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in .ok("late").held(by: gate) }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("GET", "/")
        client.wire.finishWriting()
        try upstream.request()
        gate.open()
        #expect(try client.wire.readResponse().text == "late")
        #expect(try client.wire.endsCleanly())
    }

    @Test(arguments: ["small", String(repeating: "large", count: 4000)])
    func `an answer that ends the connection arrives, whatever comes behind the request`(text: String) throws
    {
        let gate = Gate()
        let upstream = try RawUpstream { _ in .ok(text).held(by: gate) }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("POST", "/", [("Connection", "close")], body: "x")
        try upstream.request()
        try client.wire.send("\r\n")  // of some old clients (RFC 9112 section 2.2): nobody will read it
        gate.open()
        #expect(try client.wire.readResponse().text == text)
    }

    @Test func `a client that goes away ends the upstream's work`() throws {
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
                while try !wire.hasSomething(within: .milliseconds(50)) { try wire.send("1\r\nx\r\n") }
                return false
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("GET", "/")
        _ = try client.wire.readHead()
        client.wire.reset()
        try upstream.awaitNoConnections()
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
    }

    @Test func `HTTP/1.0 without Host is served and closed, and kept only on request`() throws {
        let upstream = try RawUpstream { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        let answer = try client.exchange("GET / HTTP/1.0\r\n\r\n")
        #expect(answer.status == 200 && answer.text == "abc" && answer["Transfer-Encoding"] == nil)
        #expect(try client.wire.endsCleanly())
        upstream.answer { _ in .ok() }
        let lasting = try sidecar.client()
        for _ in 0..<2 {
            let kept = try lasting.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(kept.text == "hello" && kept["Connection"]?.lowercased() == "keep-alive")
        }
        #expect(upstream.requests.allSatisfy { $0.head.startLine == "GET / HTTP/1.1" && $0["Host"] != nil })
    }

    @Test func `answers without a body keep their Content-Length and their connection`() throws {
        let upstream = try RawUpstream { request in
            switch request.head.target {
            case "/head": .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            case "/204": .raw("HTTP/1.1 204 No Content\r\n\r\n")
            default: .raw("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 1000\r\n\r\n")
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        for _ in 0..<2 {
            #expect(try client.request("HEAD", "/head")["Content-Length"] == "1000")
            let empty = try client.request("GET", "/204")
            #expect(
                empty.status == 204 && empty["Content-Length"] == nil && empty["Transfer-Encoding"] == nil)
            #expect(try client.request("GET", "/304")["ETag"] == "\"a\"")
        }
        #expect(upstream.connectionCount == 1)
    }

    @Test func `interim answers go through, in order, before the final one`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let answer = try Sidecar(upstream: upstream).get()
        #expect(answer.interim.map(\.status) == [103, 102] && answer.interim.first?["Link"] == "</a.css>")
        #expect(answer.text == "ok")
    }

    @Test func `interim answers are not sent to HTTP/1.0`() throws {
        let upstream = try RawUpstream { _ in
            .raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let sidecar = try Sidecar(upstream: upstream)
        let answer = try sidecar.client().exchange("GET / HTTP/1.0\r\n\r\n")
        #expect(answer.interim.isEmpty && answer.text == "ok")
    }

    @Test func `with Expect 100-continue the body comes after the go-ahead`() throws {
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                if head["Expect"] != nil { try wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                let body = try wire.readBody(of: head).body
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                try wire.send(body)
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        #expect(try client.wire.readHead()?.status == 100)
        try client.wire.send("body")
        #expect(try client.wire.readResponse().text == "body")
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `a refusal may come in place of 100`() throws {
        let sidecar = try Sidecar(.init(top: "limits:\n  body_bytes: 1KiB"))
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        let answer = try client.exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nExpect: 100-continue\r\nContent-Length: 4096\r\n\r\n")
        #expect(answer.status == 413 && answer.interim.isEmpty)
    }

    @Test func `trailers go through both ways`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                    + "2\r\nok\r\n0\r\nX-Sum: 42\r\n\r\n")
        }
        let sidecar = try Sidecar(upstream: upstream)
        let host = try sidecar.bearerd.proxy
        let answer = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n"
                + "Trailer: X-Check\r\n\r\n2\r\nhi\r\n0\r\nX-Check: 7\r\n\r\n")
        #expect(answer.trailers.map { [$0.name, $0.value] } == [["X-Sum", "42"]])
        #expect(try upstream.request().trailers.map { [$0.name, $0.value] } == [["X-Check", "7"]])
    }

    @Test func `trailers may be as large as heads, and no larger`() throws {
        @Sendable func trailer(_ count: Int) -> String {
            "X-Sum: \(String(repeating: "7", count: count))\r\n"
        }
        let upstream = try RawUpstream { request in
            let count = Int(request.head.target.dropFirst()) ?? 0
            return .raw(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                    + "\(trailer(count))\r\n")
        }
        for (limit, isPassed) in [("64KiB", true), ("8KiB", false)] {
            let sidecar = try Sidecar(upstream: upstream, .init(top: "limits: {header_bytes: \(limit)}"))
            let host = try sidecar.bearerd.proxy
            func post(to path: String, trailer count: Int) throws -> RawResponse {
                try sidecar.client().exchange(
                    "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
                        + "\(trailer(count))\r\n")
            }
            let uploaded = try post(to: "/1", trailer: 20_000)
            #expect(uploaded.status == (isPassed ? 200 : 431), "\(uploaded.text)")
            let answer = try post(to: "/20000", trailer: 1)
            #expect((answer.isComplete && answer.status == 200) == isPassed)
            if isPassed { #expect(answer.trailers.first?.value.count == 20_000) }
        }
    }

    @Test func `a truncated answer reaches the client truncated`() throws {
        let truncated = [
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\npart",
        ]
        let upstream = try RawUpstream { request in
            .raw(truncated[Int(request.head.target.dropFirst()) ?? 0], thenClose: true)
        }
        let sidecar = try Sidecar(upstream: upstream)
        for index in truncated.indices {
            let client = try sidecar.client()
            let answer = try client.request("GET", "/\(index)")
            #expect(answer.status == 200 && !answer.isComplete, "\(truncated[index])")
        }
    }

    @Test func `a head that trickles in byte by byte is served`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        for byte in "GET /slow HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nA: b\r\n\r\n".utf8 {
            try client.wire.send([byte])
        }
        #expect(try client.wire.readResponse().status == 200)
    }
}
