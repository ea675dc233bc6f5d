// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What is rare in HTTP/1.1, but in it, arrives as it was meant.
@Suite(.blocking) struct `Rare messages` {
    @Test func `of HTTP/1.0 servers are understood`() throws {
        let answers: [(text: String, ends: Bool, body: String, connections: Int)] = [
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "ok", 1),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", false, "ok", 1),
            ("HTTP/1.0 200 OK\r\n\r\nuntil the end", true, "until the end", 0),
            ("HTTP/1.0 204 No Content\r\n\r\n", false, "", 0),
            ("HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n", false, "", 0),
        ]
        let sidecar = try Sidecar(.init(top: "workers: 1"))
        let client = try sidecar.client()
        for answer in answers {
            sidecar.upstream.answer { _ in .raw(answer.text, thenClose: answer.ends) }
            let seen = try client.request("GET", "/")
            #expect(seen.text == answer.body && seen.isComplete, "\(answer)")
            #expect(seen.head.startLine.hasPrefix("HTTP/1.1 20"), "\(answer)")
            // A connection is kept only where the server has said so.
            if answer.text.contains("keep-alive") {
                #expect(sidecar.upstream.openConnectionCount == 1, "\(answer)")
                sidecar.upstream.closeConnections()
            }
            try sidecar.upstream.awaitNoConnections()
        }
    }

    @Test func `without a body say what a body would have been`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 1"))
        let client = try sidecar.client()
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"a\"\r\n\r\n")
        }
        let head = try client.request("HEAD", "/")
        #expect(head.status == 200 && head["ETag"] == "\"a\"" && head["Content-Length"] == nil)
        sidecar.upstream.answer { _ in .raw("HTTP/1.1 304 Not Modified\r\nETag: \"b\"\r\n\r\n") }
        #expect(try client.request("GET", "/")["ETag"] == "\"b\"")
        sidecar.upstream.answer { _ in .raw("HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n") }
        #expect(try client.request("POST", "/", body: "x").status == 205)
        #expect(sidecar.upstream.connectionCount == 1)
    }

    @Test func `that nobody asked for with Expect go through too: 100, then the answer`() throws {
        let sidecar = try Sidecar()
        sidecar.upstream.answer { _ in
            .raw(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\nX-More: 1\r\n\r\n"
                    + "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
        }
        let answer = try sidecar.client().request("POST", "/", body: "x")
        #expect(answer.interim.map(\.status) == [100, 100] && answer.interim.last?["X-More"] == "1")
        #expect(answer.status == 201 && answer.text == "ok")
    }

    @Test func `of an upstream that does not want the body end the upload`() throws {
        let bodies = Monitor(0)
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                guard head["Expect"] != nil else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                try wire.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                if try !wire.readSome().isEmpty { bodies.withLock { $0 += 1 } }
                return
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send(
            "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        let answer = try client.wire.readResponse()
        #expect(answer.status == 417 && answer.text == "no" && answer.interim.isEmpty)
        // Whoever was refused may keep the body: what comes next cannot be told from it.
        #expect(answer["Connection"] == "close")
        #expect(try client.wire.endsCleanly())
        #expect(bodies.withLock { $0 } == 0)
        #expect(try sidecar.get().status == 200)
    }

    @Test func `that are cut reach an HTTP/1.0 client as a reset, not as an end`() throws {
        let upstream = try RawUpstream { request in
            let isWhole = request.head.target == "/whole"
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n")
                if isWhole { try wire.send("0\r\n\r\n") }
                wire.close()
                return false
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        for (target, isReset) in [("/whole", false), ("/cut", true)] {
            let socket = try Socket.connected(to: sidecar.bearerd.proxy)
            try socket.write(Array("GET \(target) HTTP/1.0\r\n\r\n".utf8), within: patience)
            var wasReset = false
            do {
                while try !socket.read(upTo: 4096, within: patience).isEmpty {}
            } catch is SocketError { wasReset = true }
            #expect(wasReset == isReset, "\(target)")
        }
    }

    @Test func `behind a refused one in a pipeline are never read`() throws {
        let sidecar = try Sidecar()
        let host = try sidecar.bearerd.proxy
        let client = try sidecar.client()
        try client.wire.send(
            "GET /1 HTTP/1.1\r\nHost: \(host)\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                + "GET /3 HTTP/1.1\r\nHost : \(host)\r\n\r\nGET /4 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.wire.readResponse().status == 200)
        #expect(try client.wire.readResponse(to: "HEAD").status == 200)
        #expect(try client.wire.readResponse().status == 400)
        #expect(try client.wire.endsCleanly())
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/1", "/2"])
    }

    @Test func `whose client half-closes inside the body are cut, never ended`() throws {
        let ends = Monitor<[Bool]>([])
        let upstream = try RawUpstream(script: { wire in
            guard let head = try wire.readHead() else { return }
            do {
                _ = try wire.readBody(of: head)
                ends.withLock { $0.append(true) }
            } catch {
                ends.withLock { $0.append(false) }
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        for body in ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
            let client = try sidecar.client()
            try client.wire.send("POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n\(body)")
            try upstream.awaitConnections(ends.withLock { $0.count } + 1)
            client.wire.finishWriting()
            _ = try client.wire.readToEnd()
            try upstream.awaitNoConnections()
        }
        #expect(ends.withLock { $0 } == [false, false])
    }

    @Test func `that were under way when the token expired go on, and the next ones carry a new token`()
        throws
    {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "1" }
        let gate = Gate()
        let upstream = try RawUpstream { request in
            guard request.head.target == "/stream" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
                try gate.pass()
                try wire.send("4\r\nlast\r\n0\r\n\r\n")
                return true
            }
        }
        let sidecar = try Sidecar(provider: provider, upstream: upstream)
        let client = try sidecar.client()
        try client.send("GET", "/stream")
        _ = try client.wire.readHead()
        #expect(try client.wire.readChunk() == Array("first".utf8))
        let count = provider.accessTokens.count
        try provider.request(count + 2)
        #expect(try sidecar.get("/next").status == 200)
        let tokens = upstream.tokens
        #expect(tokens.count == 2 && tokens.first != tokens.last)
        gate.open()
        #expect(try client.wire.readChunk() == Array("last".utf8))
        #expect(try client.wire.readChunk() == nil)
    }

    @Test func `that go round in circles end with 508`() throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        func daemon(_ name: String, to other: String) throws -> BearerdProcess {
            try BearerdProcess(
                configuration: Sidecar.configuration(
                    provider: provider, upstream: "http+unix:\(directory.path(other))",
                    clientSecret: "not-a-secret",
                    directory: directory,
                    .init(
                        route: "host_header: preserve", listen: "unix:\(directory.path(name))",
                        store: "type: memory")),
                in: try TemporaryDirectory())
        }
        let daemons = try [daemon("a", to: "b"), daemon("b", to: "a")]
        let answer = try RawClient(to: .unix(path: directory.path("a"))).request("GET", "/")
        #expect(answer.status == 508 && answer.problem == "loop_detected")
        #expect(daemons.count == 2)
    }

    @Test func `with a Location at the upstream are relative on a Unix listener`() throws {
        let upstream = try RawUpstream()
        let url = upstream.url
        upstream.answer { _ in .response(302, [("Location", "\(url)/v1/next?a=b")]) }
        let directory = try TemporaryDirectory()
        let socket = directory.path("bearerd.sock")
        let sidecar = try Sidecar(
            upstream: upstream, directory: directory,
            .init(
                moreRoutes: "- path: /api\n  upstream: \(url)/v1\n  identity: default\n  strip_prefix: true",
                listen: "unix:\(socket)"))
        let answer = try RawClient(to: .unix(path: socket)).request("GET", "/api/here")
        #expect(answer["Location"] == "/api/next?a=b")
        // Two slashes at the start would name a host; to browsers a backslash is one, and a tab is not there.
        for path in ["//else.test/x", "/\\else.test/x", "/\t/else.test/x"] {
            upstream.answer { _ in .response(302, [("Location", "\(url)\(path)")]) }
            #expect(try RawClient(to: .unix(path: socket)).request("GET", "/")["Location"] == "/.\(path)")
        }
        #expect(sidecar.bearerd.process.isRunning)
    }
}
