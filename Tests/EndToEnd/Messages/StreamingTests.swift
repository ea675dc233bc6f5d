// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Bodies stream both ways, with back-pressure and bounded memory.
@Suite(.blocking) struct `Bodies are streamed` {
    @Test func `bodies with Content-Length and in chunks arrive unchanged both ways`() throws {
        let upstream = try RawUpstream { request in
            Reply { wire in
                if request.head.target == "/chunked" {
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for start in stride(from: 0, to: request.body.count, by: 10_000) {
                        let chunk = Array(request.body[start..<min(start + 10_000, request.body.count)])
                        try wire.send(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10])
                    }
                    try wire.send("0\r\n\r\n")
                } else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
                    try wire.send(request.body)
                }
                return true
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let host = try sidecar.bearerd.proxy
        for target in ["/length", "/chunked"] {
            for inChunks in [false, true] {
                let wire = try sidecar.client().wire
                let writer = Background {
                    let framing = inChunks ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
                    try wire.send("POST \(target) HTTP/1.1\r\nHost: \(host)\r\n\(framing)\r\n\r\n")
                    if inChunks {
                        try wire.send("10;ext=1\r\n")
                        try wire.send(Array(body[..<16]) + [13, 10])
                        try wire.send("\(String(body.count - 16, radix: 16))\r\n")
                        try wire.send(Array(body[16...]) + [13, 10])
                        try wire.send("0\r\n\r\n")
                    } else {
                        try wire.send(body)
                    }
                }
                let answer = try wire.readResponse()
                try writer.value()
                #expect(answer.body == body && answer.isComplete, "\(target) in chunks: \(inChunks)")
            }
        }
        #expect(upstream.requests.allSatisfy { $0.body == body })
        #expect(upstream.requests.map { $0["Content-Length"] == nil } == [false, true, false, true])
    }

    @Test func `server-sent events are forwarded at once`() throws {
        let next = Gate()
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                try wire.send("9\r\ndata: 1\n\n\r\n")
                try next.pass()
                try wire.send("9\r\ndata: 2\n\n\r\n0\r\n\r\n")
                return true
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("GET", "/events")
        let head = try #require(try client.wire.readHead())
        #expect(head["Content-Type"] == "text/event-stream")
        #expect(try client.wire.readChunk() == Array("data: 1\n\n".utf8))
        next.open()
        #expect(try client.wire.readChunk() == Array("data: 2\n\n".utf8))
    }

    @Test func `an upload is forwarded as it comes, and an answer may come before its end`() throws {
        let upstream = try RawUpstream(script: { wire in
            _ = try wire.readHead()
            _ = try wire.read(exactly: 5)
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
            _ = try wire.read(exactly: 5)
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.wire.send(
            "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 10\r\n\r\nhello")
        #expect(try client.wire.readResponse().text == "yes")
    }

    @Test func `an answer without a length ends with its connection`() throws {
        let upstream = try RawUpstream { _ in .raw("HTTP/1.1 200 OK\r\n\r\nuntil the end", thenClose: true) }
        let answer = try Sidecar(upstream: upstream).get()
        #expect(answer.text == "until the end" && answer.isComplete)
        #expect(answer["Transfer-Encoding"] == "chunked" || answer["Connection"] == "close")
    }

    @Test func `a slow reader holds the upstream back`() throws {
        let written = Monitor(0)
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n")
                let block = [UInt8](repeating: 7, count: 1 << 16)
                for _ in 0..<1024 {
                    try wire.send(block)
                    written.withLock { $0 += block.count }
                }
                return true
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client(receiveBuffer: 8192)
        try client.send("GET", "/")
        _ = try client.wire.readHead()
        // The upstream's writes stop once every buffer on the way is full: well before the end.
        try written.awaitStandstill(of: "the upstream")
        #expect(written.withLock { $0 } < 48 << 20)
        #expect(try client.wire.read(exactly: 64 << 20).last == 7)
    }

    @Test func `a gigabyte up and a gigabyte down at once take less than 8 MiB of memory`() throws {
        let total = 1 << 30
        let upstream = try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                if head.method == "GET" {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                    let block = [UInt8](repeating: 1, count: 1 << 18)
                    for _ in 0..<(total / block.count) { try wire.send(block) }
                } else if head["Content-Length"] == "\(total)" {
                    var received = 0
                    while received < total {
                        let count = try wire.readSome().count
                        if count == 0 { return }
                        received += count
                    }
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nContent-Length: \(String(received).count)\r\n\r\n\(received)")
                } else {
                    _ = try wire.readBody(of: head)
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        // The first requests warm up what is allocated once.
        for _ in 0..<8 { #expect(try sidecar.client().request("POST", "/", body: "warm").status == 200) }
        let before = sidecar.bearerd.residentBytes
        let download = Background {
            let client = try sidecar.client()
            try client.send("GET", "/", [("Connection", "close")])
            _ = try client.wire.readHead()
            return try client.wire.drain()
        }
        let upload = Background {
            let client = try sidecar.client()
            let head =
                "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: \(total)\r\n\r\n"
            try client.wire.send(head)
            let block = [UInt8](repeating: 2, count: 1 << 18)
            for _ in 0..<(total / block.count) { try client.wire.send(block) }
            return try client.wire.readResponse().text
        }
        var peak = 0
        try eventually("both transfers to end") {
            peak = max(peak, sidecar.bearerd.residentBytes)
            return upload.isFinished && download.isFinished
        }
        #expect(try download.value() == total)
        #expect(try upload.value() == "\(total)")
        #expect(
            before > 0 && peak - before < 8 << 20, "grew by \((peak - before) >> 10) KiB from \(before >> 10)"
        )
    }

    @Test func `memory that a burst needed is given back when it is over`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .ok().held(by: gate) })
        let body = String(repeating: "x", count: 60_000)
        let clients = try (0..<100).map { _ in try sidecar.client() }
        for client in clients { try client.send("POST", "/", body: body) }
        try sidecar.upstream.request(clients.count)
        let peak = sidecar.bearerd.residentBytes
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        try eventually("memory to be given back") { sidecar.bearerd.residentBytes < peak - (4 << 20) }
    }
}
