// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Request and answer are on their way at once, one of them is held up, and then something fails.
@Suite(.blocking) struct `An exchange that fails while its bodies cross` {
    private static let size = 64 << 20

    /// The client is slow to read the answer, and what goes up ends while the answer waits for the client.
    @Test(
        arguments: ["ZZ\r\n", "5\r\nhel"],
        ["Content-Length: \(size)\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n4000000\r\n"])
    func `cuts the answer where the request turns out broken`(rest: String, framing: String) throws {
        let written = Monitor(0)
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                guard head.target == "/crossed" else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                }
                try wire.send("HTTP/1.1 200 OK\r\n\(framing)")
                let block = [UInt8](repeating: 7, count: 1 << 16)
                for _ in 0..<(Self.size / block.count) {
                    try wire.send(block)
                    written.withLock { $0 += block.count }
                }
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client(receiveBuffer: 8192)
        let host = try sidecar.bearerd.proxy
        try client.wire.send(
            "POST /crossed HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        try written.awaitStandstill(of: "the upstream")
        try client.wire.send(rest)
        if rest.hasSuffix("hel") { client.wire.finishWriting() }
        try upstream.awaitNoConnections()
        let head = try #require(try client.wire.readHead())
        #expect(head.status == 200)
        let received = try client.wire.drain()
        #expect(received > 0 && received < Self.size)
        #expect(try sidecar.get().text == "ok")
        #expect(sidecar.bearerd.process.isRunning)
    }

    /// The upstream does not read, and answers while a piece of the request's body waits for it.
    @Test(arguments: ["", "5\r\nhello\r\n"])
    func `has an end where a held-up upload gets a broken answer`(start: String) throws {
        let (headIsThere, isHeldUp, startIsThere, isOver) = (Gate(), Gate(), Gate(), Gate())
        let isAnswered = Monitor(false)
        defer { isOver.open() }
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead()?.target == "/crossed" else {
                return try wire.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
            }
            headIsThere.open()
            try isHeldUp.pass()
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            if start.isEmpty {
                try wire.send(head + "ZZ\r\n")
            } else {
                try wire.send(head + start)
                try startIsThere.pass()
                try wire.send("ZZ\r\n")
            }
            try isOver.pass()  // to close it now, unread as it is, would reset it
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send(
            "POST /crossed HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: \(Self.size)\r\n\r\n"
        )
        let sent = Monitor(0)
        let upload = Background {
            let block = [UInt8](repeating: 7, count: 1 << 16)
            for _ in 0..<(Self.size / block.count) where !isAnswered.withLock({ $0 }) {
                try client.wire.send(block)
                sent.withLock { $0 += block.count }
            }
        }
        try headIsThere.pass()
        try sent.awaitStandstill(of: "the client")
        isHeldUp.open()
        if start.isEmpty {
            let answer = try client.wire.readResponse()
            #expect(answer.status == 502 && answer.problem == "upstream_protocol")
            #expect(answer["Connection"] == "close")
            // Nothing breaks the upload before its client knows the answer.
            isAnswered.withLock { $0 = true }
            try upload.value()
        } else {
            #expect(try client.wire.readHead()?.status == 200)
            #expect(try client.wire.readChunk() == Array("hello".utf8))
            startIsThere.open()
            #expect(try client.wire.readToEnd().isEmpty)
        }
        #expect(try sidecar.get().text == "ok")
        #expect(sidecar.bearerd.process.isRunning)
    }

    /// A tunnel has no place for the rest of a request's head.
    @Test func `makes no tunnel while the request is still being sent`() throws {
        let directory = try TemporaryDirectory()
        let rest = Monitor<[UInt8]?>(nil)
        let upstream = try RawUpstream(unixPath: directory.path("upstream.sock")) { wire in
            guard try wire.read(exactly: 9) == Array("GET /ws H".utf8) else { return }
            try wire.grantWebSocket(sending: "first")
            let bytes = try wire.readToEnd()
            rest.withLock { $0 = bytes }
        }
        let sidecar = try Sidecar(
            upstream: upstream, directory: directory, .init(top: "limits: {header_bytes: 2MiB}"))
        let client = try sidecar.client()
        try client.send(
            "GET", "/ws",
            [
                ("Connection", "Upgrade"), ("Upgrade", "websocket"),
                ("X-Long", String(repeating: "x", count: 1 << 20)),
            ])
        try client.wire.send("for the tunnel")
        let answer = try client.wire.readResponse()
        #expect(answer.status == 502 && answer.problem == "upstream_protocol")
        let received = try rest.wait(for: "the upstream's end") { $0 }
        #expect(received.count < 1 << 20 && received.last == UInt8(ascii: "x"))
        try eventually("the worker to turn") { try sidecar.admin("GET", "/healthz").status == 200 }
        #expect(sidecar.bearerd.process.isRunning)
    }
}
