// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPServer
import BearerdTestSupport
import Testing

@Suite(.blocking, .timeLimit(.minutes(10))) struct `A small service` {
    @Test func `answers one request after another on a connection`() async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            let first = try client.request("GET", "/")
            #expect(first.status == 200 && first.text == "ok")
            #expect(try client.request("POST", "/echo", body: "said").text == "said")
            let head = try client.request("HEAD", "/")
            #expect(head.status == 200 && head["Content-Length"] == "2" && head.body.isEmpty)
            let last = try client.request("GET", "/", [("Connection", "close")])
            #expect(last["Connection"] == "close")
            #expect(try client.wire.endsCleanly())
        }
    }

    @Test func `takes a body in chunks, and asks for one that waits to be asked`() async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            let answer = try client.exchange(
                "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
            )
            #expect(answer.text == "abc")
            try client.wire.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.wire.readHead()?.status == 100)
            try client.wire.send("hi")
            #expect(try client.wire.readResponse().text == "hi")
        }
    }

    @Test func `refuses by the head, and reads no body for it`() async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            try client.wire.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
            let answer = try client.wire.readResponse()
            #expect(answer.status == 403 && answer["Connection"] == "close")
            client.wire.finishWriting()
            #expect(try client.wire.endsCleanly())
        }
    }

    @Test(arguments: [
        ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n"
                + String(repeating: "a", count: 65537) + "\r\n", 413
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ])
    func `says what is wrong with a request, and ends the connection`(
        request: String, status: Int
    ) async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            let answer = try client.exchange(request)
            #expect(answer.status == status && answer["Connection"] == "close")
            client.wire.finishWriting()
            #expect(try client.wire.endsCleanly())
        }
    }

    @Test func `streams an answer in chunks, and cuts one that fails`() async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            let whole = try client.request("GET", "/stream")
            #expect(whole["Transfer-Encoding"] == "chunked" && whole.text == "onetwo")
            try client.send("GET", "/cut")
            _ = try client.wire.readHead()
            let rest = String(decoding: try client.wire.readToEnd(), as: UTF8.self)
            #expect(rest == "3\r\none\r\n")
        }
    }

    @Test func `streams to HTTP/1.0 up to the connection's end`() async throws {
        try await ServiceStage.play { stage in
            let client = try stage.client()
            try client.wire.send("GET /stream HTTP/1.0\r\n\r\n")
            #expect(try client.wire.readHead()?["Connection"] == "close")
            #expect(String(decoding: try client.wire.readToEnd(), as: UTF8.self) == "onetwo")
        }
    }

    @Test func `has whoever is silent longest give way`() async throws {
        try await ServiceStage.play(connections: 8) { stage in
            let clients = try (0..<8).map { _ in try stage.client() }
            for client in clients { #expect(try client.request("GET", "/").status == 200) }
            #expect(try stage.client().request("GET", "/").status == 200)
            #expect(try clients[0].wire.endsCleanly())
            #expect(try clients[7].request("GET", "/").status == 200)
        }
    }

    @Test func `keeps room for probes where others wait long`() async throws {
        try await ServiceStage.play(connections: 8) { stage in
            let waiting = try (0..<4).map { _ in try stage.client() }
            for client in waiting { try client.send("GET", "/held") }
            await stage.awaitHeld(4)
            let other = try stage.client()
            #expect(try other.request("GET", "/").status == 503)
            #expect(try other.request("GET", "/probe").status == 204)
            await stage.responder.gate.open()
            for client in waiting { #expect(try client.wire.readResponse().text == "late") }
            #expect(try other.request("GET", "/").status == 200)
        }
    }

    @Test func `ends with what is under way answered, and what is idle closed`() async throws {
        try await ServiceStage.play { stage in
            let (idle, busy) = (try stage.client(), try stage.client())
            #expect(try idle.request("GET", "/").status == 200)
            try busy.send("GET", "/held")
            await stage.awaitHeld(1)
            await stage.service.stop()
            #expect(try idle.wire.endsCleanly())
            await stage.responder.gate.open()
            let answer = try busy.wire.readResponse()
            #expect(answer.text == "late" && answer["Connection"] == "close")
            #expect(try busy.wire.endsCleanly())
        }
    }
}
