// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Requests and answers that take another turn than most: early, late, refused, reset.
@Suite(.blocking) struct `An exchange that turns out odd` {
    @Test func `has no Content-Length in 1xx answers`() throws {
        let sidecar = try Sidecar()
        sidecar.upstream.answer { _ in
            .raw(
                "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: </a>\r\n\r\n"
                    + "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                    + "Content-Length: 5\r\n\r\n")
        }
        let answer = try sidecar.get("/", [("Connection", "Upgrade"), ("Upgrade", "websocket")])
        #expect(answer.status == 101 && answer["Content-Length"] == nil)
        #expect(answer.interim.map(\.status) == [103] && answer.interim.first?["Link"] == "</a>")
        #expect(answer.interim.first?["Content-Length"] == nil)
    }

    @Test func `is upgraded too where the request says that it has no body`() throws {
        let sidecar = try Sidecar()
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        }
        let answer = try sidecar.client().request(
            "GET", "/", [("Connection", "Upgrade"), ("Upgrade", "websocket")], body: "")
        #expect(answer.status == 101)
    }

    @Test func `says in a 426 what to upgrade to`() throws {
        let sidecar = try Sidecar()
        sidecar.upstream.answer { _ in
            .response(426, [("Connection", "upgrade, X-Hop"), ("Upgrade", "h2c, websocket"), ("X-Hop", "1")])
        }
        let client = try sidecar.client()
        for _ in 0..<2 {
            let answer = try client.request("GET", "/")
            #expect(answer.status == 426 && answer["Upgrade"] == "websocket" && answer["X-Hop"] == nil)
            #expect(answer["Connection"] == "Upgrade")
        }
    }

    @Test func `hides from trailers what it puts in or takes out of heads`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                    + "X-Secret: 1\r\nX-Kept: 1\r\nX-Sum: 1\r\n\r\n")
        }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                route: """
                    header: X-Token
                    request_headers: {set: {X-Team: blue}, remove: [X-Inner]}
                    response_headers: {set: {X-Kept: "2"}, remove: [X-Secret]}
                    """))
        let client = try sidecar.client()
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
                + "0\r\nx-token: evil\r\nX-Team: red\r\nX-Inner: 1\r\nX-Sum: 2\r\n\r\n")
        let answer = try client.wire.readResponse()
        #expect(try upstream.request().trailers.map(\.name) == ["X-Sum"])
        #expect(answer.trailers.map(\.name) == ["X-Sum"])
    }

    @Test func `expects no second 100 when it is replayed`() throws {
        let upstream = try RawUpstream(script: { wire in
            var isFirst = true
            while let head = try wire.readHead() {
                if head["Expect"] != nil { try wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                #expect(try wire.readBody(of: head).body == Array("body".utf8))
                #expect(isFirst == (head["Expect"] != nil))
                let status = isFirst ? "401 Unauthorized" : "200 OK"
                try wire.send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
                isFirst = false
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let answer = try sidecar.client().request(
            "POST", "/", [("Expect", "100-continue")], body: "body")
        #expect(answer.status == 200 && answer.interim.map(\.status) == [100])
    }

    /// Many clients send all of a body before they read a byte, and a reset takes the answer from them.
    @Test(arguments: ["/refused", "/upstream"])
    func `lets a refused client send its large body to the end`(target: String) throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send(
                "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
        })
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes: """
                    - path: /refused
                      upstream: \(upstream.url)
                      identity: default
                      authorization: reject
                    """))
        let client = try sidecar.client()
        let size = 64 << 20
        try client.wire.send(
            "PUT \(target) HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nAuthorization: mine\r\n"
                + "Content-Length: \(size)\r\n\r\n")
        let piece = [UInt8](repeating: 120, count: 1 << 20)
        for _ in 0..<(size / piece.count) { try client.wire.send(piece) }
        let answer = try client.wire.readResponse()
        #expect(answer.status == (target == "/refused" ? 403 : 413) && answer["Connection"] == "close")
        #expect(try client.wire.endsCleanly())
    }

    @Test func `brings the upstream the rest of a body that it has answered already`() throws {
        let bodies = Monitor<[[UInt8]]>([])
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
                let body = try wire.readBody(of: head).body
                bodies.withLock { $0.append(body) }
            }
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1"))
        let client = try sidecar.client()
        for framing in ["Content-Length: 8\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n8\r\n"] {
            try client.wire.send("PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n\(framing)")
            #expect(try client.wire.readResponse().text == "early")
            try client.wire.send("half")
            try client.wire.send("half" + (framing.hasPrefix("T") ? "\r\n0\r\n\r\n" : ""))
        }
        #expect(try client.request("GET", "/").text == "early")
        #expect(bodies.withLock { $0.prefix(2) } == [Array("halfhalf".utf8), Array("halfhalf".utf8)])
        #expect(upstream.connectionCount == 1)
    }

    /// The end of the answer does not wait for that of the connection.
    @Test(arguments: [
        "Content-Length: 5\r\n\r\nearly", "Transfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n",
    ])
    func `brings the client at once an early answer that is its last`(answer: String) throws {
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                try wire.send("HTTP/1.1 200 OK\r\n\(answer)")
                _ = try wire.readBody(of: head)
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        #expect(try sidecar.get().status == 200)
        let isAtOnce = try isOnce(within: .milliseconds(150)) { begin in
            let client = try sidecar.client()
            begin()
            try client.wire.send(
                "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nConnection: close\r\n"
                    + "Content-Length: 8\r\n\r\nhalf")
            #expect(try client.wire.readResponse().text == "early")
        }
        #expect(isAtOnce)
    }

    /// It may take the answer for one in place of its body, and the next request for the body then.
    @Test func `tells a client that was to be asked for its body, and is answered, that the connection ends`()
        throws
    {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
            _ = try wire.drain()
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("PUT", "/", [("Expect", "100-continue"), ("Content-Length", "8")])
        let answer = try client.wire.readResponse()
        #expect(answer.text == "early" && answer["Connection"] == "close")
        #expect(try client.wire.endsCleanly())
    }

    @Test func `ends where the upstream answers early and goes`() throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send(
            "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 8\r\n\r\nhalf")
        #expect(try client.wire.readResponse().text == "early")
        #expect(try client.wire.endsCleanly())
    }

    /// Nobody else would (RFC 9110 §10.1.1).
    @Test func `asks for the body in place of an upstream that is not told of the wait`() throws {
        let sidecar = try Sidecar(.init(route: "request_headers: {remove: [Expect]}"))
        let client = try sidecar.client()
        for expectation in ["100-continue", "100-Continue"] {
            try client.send("PUT", "/", [("Expect", expectation), ("Content-Length", "4")])
            #expect(try client.wire.readHead()?.status == 100)
            try client.wire.send("body")
            #expect(try client.wire.readResponse().status == 200)
        }
        #expect(
            sidecar.upstream.requests.allSatisfy { $0.head["Expect"] == nil && $0.body == Array("body".utf8) }
        )
        #expect(sidecar.upstream.requests.count == 2 && sidecar.upstream.connectionCount == 1)
    }

    @Test func `tells the other side of a tunnel of a reset`() throws {
        let clientWasReset = Monitor(false)
        let upstream = try RawUpstream(script: { wire in
            guard let head = try wire.readHead() else { return }
            try wire.grantWebSocket(sending: "first")
            if head.target == "/up" { return wire.reset() }
            let isReset = try !wire.endsInOrder()
            clientWasReset.withLock { $0 = isReset }
        })
        let sidecar = try Sidecar(upstream: upstream)
        for target in ["/up", "/down"] {
            let client = try sidecar.client()
            try client.send("GET", target, [("Connection", "Upgrade"), ("Upgrade", "websocket")])
            _ = try client.wire.readHead()
            if target == "/up" {
                #expect(try !client.wire.endsInOrder())
            } else {
                #expect(try client.wire.read(exactly: 5) == Array("first".utf8))
                client.wire.reset()
                try upstream.awaitNoConnections()
            }
        }
        #expect(clientWasReset.withLock { $0 })
    }

    /// Bytes and the reset behind them may be one event, after which nothing more happens.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func `ends at once where a reset comes right behind bytes`(bytes: String) throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send(bytes)
            wire.reset()
        })
        let sidecar = try Sidecar(upstream: upstream)
        for _ in 0..<20 {
            let answer = try sidecar.client().request("GET", "/")
            #expect(answer.status == 502 || !answer.isComplete)
        }
    }

    @Test func `goes as far as Max-Forwards lets an OPTIONS go`() throws {
        let sidecar = try Sidecar(.init(route: "methods: [GET, OPTIONS]"))
        let client = try sidecar.client()
        for target in ["/", "*"] {
            let answer = try client.request("OPTIONS", target, [("Max-Forwards", "0")])
            #expect(answer.status == 200 && answer["Allow"] == "GET, OPTIONS" && answer.text.isEmpty)
        }
        for (method, value) in [("OPTIONS", "10"), ("OPTIONS", "x"), ("GET", "0")] {
            _ = try client.request(method, "/", [("Max-Forwards", value)])
        }
        #expect(sidecar.upstream.requests.map { $0["Max-Forwards"] } == ["9", "x", "0"])
    }

    @Test func `ends where a CONNECT gets no tunnel, so that nothing behind it is a request`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        try client.wire.send(
            "CONNECT else.test:443 HTTP/1.1\r\nHost: \(host)\r\n\r\nGET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        let answer = try client.wire.readResponse()
        #expect(answer.status == 405 && answer["Connection"] == "close")
        #expect(try client.wire.endsCleanly())
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `tells an upstream that goes from one that does not speak HTTP`() throws {
        let sidecar = try Sidecar()
        for (reply, error) in [
            (Reply.close, "connection_terminated"), (.reset, "connection_terminated"),
            (.raw("HTTP/1.1 200 OK\r\nContent-", thenClose: true), "http_response_incomplete"),
            (.raw("SSH-2.0-OpenSSH_9.9\r\n\r\n"), "http_protocol_error"),
        ] {
            sidecar.upstream.answer { _ in reply }
            let answer = try sidecar.client().request("POST", "/", body: "x")
            #expect(answer.status == 502 && answer.problem == "upstream_protocol")
            #expect(answer["Proxy-Status"] == "bearerd; error=\(error)")
        }
    }

    /// As servers do that look at the token before they read a body.
    @Test(
        arguments: [true, false], ["Content-Length: 8\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n8\r\n"])
    func `is replayed though the 401 came before the body`(keepsConnection: Bool, framing: String) throws {
        let answered = Gate()
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                if head["Authorization"]?.contains("access-1.") == true {
                    let end = keepsConnection ? "" : "Connection: close\r\n"
                    try wire.send("HTTP/1.1 401 Unauthorized\r\n\(end)Content-Length: 0\r\n\r\n")
                    if !keepsConnection { wire.close() }
                    answered.open()
                    if !keepsConnection { return }
                    _ = try wire.readBody(of: head)
                } else {
                    let body = try wire.readBody(of: head).body
                    #expect(body == Array((head.startLine.hasPrefix("PUT") ? "halfhalf" : "").utf8))
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send("PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n\(framing)")
        try answered.pass()
        try client.wire.send("half")
        try client.wire.send("half" + (framing.hasPrefix("T") ? "\r\n0\r\n\r\n" : ""))
        let answer = try client.wire.readResponse()
        #expect(answer.status == 200 && answer["Connection"] == nil)
        #expect(try client.request("GET", "/").status == 200)
    }

    @Test func `shows the 401 where the body does not come`() throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
            _ = try wire.readSome()
        })
        let sidecar = try Sidecar(upstream: upstream)
        for fields in ["", "Expect: 100-continue\r\n"] {
            let client = try sidecar.client()
            try client.wire.send(
                "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n\(fields)Content-Length: 8\r\n\r\n")
            let answer = try client.wire.readResponse()
            #expect(answer.status == 401 && answer.text == "no" && answer["Connection"] == "close")
        }
    }
}
