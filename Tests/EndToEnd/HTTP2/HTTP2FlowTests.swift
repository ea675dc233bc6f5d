// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Who is slow holds up nobody but itself, and nothing is kept that nobody has room for.
@Suite(.blocking) struct `The flow of HTTP2 streams` {
    @Test func `a large body goes up and comes back whole`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        sidecar.upstream.answer { request in .response(200, [], String(decoding: request.body, as: UTF8.self))
        }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/", endsStream: false)
        let text = String(repeating: "0123456789abcdef", count: 1000)
        var window = 65_535
        for number in 0..<200 {
            if window < text.utf8.count {
                let seen = client.frames.count
                try client.wait {
                    $0.frames[seen...].contains { $0.kind == .windowUpdate && $0.stream == stream }
                }
                window += client.frames[seen...].reduce(0) { sum, frame in
                    frame.kind == .windowUpdate && frame.stream == stream ? sum + Int(frame.number()) : sum
                }
            }
            window -= text.utf8.count
            try client.send(.data(text, stream: stream, endsStream: number == 199))
        }
        let answer = try client.answer(on: stream)
        #expect(answer.status == 200 && answer.content.count == 200 * text.utf8.count)
    }

    @Test func `what a client's window kept back is not told as sent`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        sidecar.upstream.answer { _ in .ok(String(repeating: "x", count: 90_000)) }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/")
        try client.wait { $0.answers[stream]?.content.count == 65_535 }
        try client.send(.reset(stream))
        let line = try sidecar.bearerd.logLine("the end") { $0["code"] == "client_gone" }
        #expect(line["bytes_out"] == "65535", "\(line.json)")
    }

    @Test func `a large answer comes whole over TLS, too`() throws {
        let site = try SecureSite()
        try site.sidecar.awaitToken()
        site.sidecar.upstream.answer { _ in .ok(String(repeating: "x", count: 1 << 20)) }
        let client = try HTTP2Client(to: site.sidecar.bearerd.proxy, over: site.tls(protocols: ["h2"]))
        for _ in 0..<3 { #expect(try client.request("GET", "/").content.count == 1 << 20) }
    }

    @Test func `an upstream that does not read stops the client at its window`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream(script: { wire in
                _ = try wire.readHead()
                try gate.pass()
                _ = try wire.drain()
            }))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/", endsStream: false)
        let piece = [UInt8](repeating: 0x78, count: 16_000)
        var sent = 0
        var window = 65_535
        // The kernel's buffers take some megabytes; bearerd itself no more than the window and 64 KiB.
        while sent < 64 << 20 {
            if window >= piece.count {
                try client.send(HTTP2Frame(.data, stream: stream, piece))
                sent += piece.count
                window -= piece.count
                continue
            }
            let seen = client.frames.count
            try client.roundTrip()
            try client.roundTrip()
            let opened = client.frames[seen...].filter { $0.kind == .windowUpdate && $0.stream == stream }
            guard !opened.isEmpty else { break }
            window += opened.reduce(0) { $0 + Int($1.number()) }
        }
        #expect(sent < 32 << 20)
        // Another stream of the connection does not wait for it.
        #expect(try client.request("TRACE", "/").status == 405)
        gate.open()
    }

    @Test func `a client that takes nothing stops the upstream, and its neighbours go on`() throws {
        let written = Monitor(0)
        let sidecar = try Sidecar(
            upstream: RawUpstream { request in
                guard request.head.target == "/large" else { return .response(204) }
                return Reply { wire in
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                    let piece = [UInt8](repeating: 0x78, count: 100_000)
                    for _ in 0..<1000 {
                        try wire.send(piece)
                        written.withLock { $0 += piece.count }
                    }
                    return true
                }
            })
        try sidecar.awaitToken()
        let before = sidecar.bearerd.anonymousBytes
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/large")
        try client.wait { $0.answers[stream]?.content.count == 65_535 }
        for _ in 0..<50 { #expect(try client.request("GET", "/small").status == 204) }
        #expect(client.answers[stream]?.content.count == 65_535)
        #expect(written.withLock { $0 } < 50_000_000)
        #expect(sidecar.bearerd.anonymousBytes - before < 16 << 20)
    }

    @Test func `a hundred slow streams are held to their windows`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 1"))
        try sidecar.awaitToken()
        sidecar.upstream.answer {
            $0.head.target == "/small" ? .response(204) : .ok(String(repeating: "x", count: 4_000_000))
        }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.request("GET", "/small").status == 204)
        let before = sidecar.bearerd.anonymousBytes
        try client.send(.windowUpdate(1 << 30))
        let streams = try (0..<99).map { _ in try client.begin("GET", "/") }
        try client.wait { client in
            streams.allSatisfy { (client.answers[$0]?.content.count ?? 0) == 65_535 }
        }
        // Each stream may hold 64 KiB beyond what the client was ready to take, its upstream's buffer included; what a request
        // needs beside its content is less than that.
        #expect(sidecar.bearerd.anonymousBytes - before < 100 * (128 << 10))
    }

    @Test func `small answers that a client has no room for all together are reset in time`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 1\ntimeouts: {stream_idle: 500ms}"))
        try sidecar.awaitToken()
        sidecar.upstream.answer { _ in .ok(String(repeating: "x", count: 64_000)) }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let large = try client.begin("GET", "/")
        try client.wait { $0.answers[large]?.isOver == true }
        // Each has room in what is left, but not all of them: together, so that none has been sent when the next is answered.
        let streams = (0..<30).map { _ in client.takeStream() }
        try client.send(
            streams.map { .head(client.fields("TRACE", "/"), stream: $0, endsStream: true) })
        try client.wait { client in streams.allSatisfy { client.answers[$0]?.isOver == true } }
        #expect(streams.contains { client.answers[$0]?.resetCode == nil })
        #expect(streams.contains { client.answers[$0]?.resetCode == 0x8 })
    }

    @Test func `an answer with a window of its own waits for its turn on the connection`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 1\ntimeouts: {stream_idle: 3s, header: 1s}"))
        try sidecar.awaitToken()
        sidecar.upstream.answer { _ in .ok(String(repeating: "x", count: 100_000)) }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy, settings: [(4, 1 << 20)])
        let streams = try (0..<6).map { _ in try client.begin("GET", "/") }
        try client.wait { client in
            streams.reduce(0) { $0 + (client.answers[$1]?.content.count ?? 0) } == 65_535
        }
        for _ in 0..<4 {
            try HTTP2Route.awaitHeadTimeout(of: sidecar)
            try client.send(.windowUpdate(1))
        }
        try client.send(.windowUpdate(1 << 20))
        try client.wait { client in streams.allSatisfy { client.answers[$0]?.isOver == true } }
        let answers = streams.compactMap { client.answers[$0] }
        #expect(answers.allSatisfy { $0.resetCode == nil && $0.content.count == 100_000 })
    }

    @Test(arguments: ["", "X-Sum: 7\r\n"])
    func `the end of an answer needs no room`(trailers: String) throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in
                Reply { wire in
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n")
                    try wire.send([UInt8](repeating: 0x78, count: 65_535) + Array("\r\n".utf8))
                    try gate.pass()
                    try wire.send("0\r\n\(trailers)\r\n")
                    return true
                }
            })
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/", [("te", "trailers")])
        try client.wait { $0.answers[stream]?.content.count == 65_535 }
        gate.open()
        try client.wait { $0.answers[stream]?.isOver == true }
        let answer = try #require(client.answers[stream])
        #expect(answer.hasEnd && answer.resetCode == nil && answer.content.count == 65_535)
        #expect(answer.trailers == (trailers.isEmpty ? [:] : ["x-sum": "7"]))
    }

    @Test func `the status of a call without messages needs no room`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            let isLarge = stream[":path"] == "/h2/large"
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                    endsStream: false))
            if isLarge {
                peer.send(100_000, on: stream.id)
            } else {
                try peer.send(.head([("grpc-status", "5")], stream: stream.id))
            }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy, settings: [(4, 1 << 20)])
        let large = try client.begin("GET", "/h2/large")
        try client.wait { $0.answers[large]?.content.count == 65_535 }
        let call = try client.begin(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")])
        try client.wait { $0.answers[call]?.isOver == true }
        #expect(client.answers[call]?.trailers == ["grpc-status": "5"])
        #expect(client.answers[call]?.resetCode == nil)
    }

    @Test func `a stream that is reset ends its upstream request, and is logged as gone`() throws {
        let sidecar = try Sidecar(
            upstream: RawUpstream { request in
                guard request.head.target == "/wait" else { return .ok() }
                return Reply { wire in
                    _ = try wire.readSome()
                    return false
                }
            })
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/wait")
        try sidecar.upstream.request()
        try client.send(.reset(stream))
        try sidecar.bearerd.logLine("the line of one that has gone") {
            $0["path"] == "/wait" && $0["status"] == "499" && $0["code"] == "client_gone"
        }
        try sidecar.upstream.awaitNoConnections()
        #expect(try client.request("GET", "/").status == 200)
        try client.begin("GET", "/wait")
        try sidecar.upstream.request(3)
        client.wire.reset()
        try sidecar.upstream.awaitNoConnections()
    }

    @Test func `bodies pass both ways at once`() throws {
        let sidecar = try Sidecar(
            upstream: RawUpstream(script: { wire in
                guard try wire.readHead() != nil else { return }
                try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while let chunk = try wire.readChunk() {
                    try wire.send(
                        "\(String(chunk.count, radix: 16))\r\n\(String(decoding: chunk, as: UTF8.self))\r\n")
                }
                _ = try wire.readTrailers()
                try wire.send("0\r\n\r\n")
            }))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("POST", "/", endsStream: false)
        var expected = ""
        for number in 0..<20 {
            try client.send(.data("piece \(number);", stream: stream))
            expected += "piece \(number);"
            try client.wait(opening: true) { $0.answers[stream]?.text == expected }
        }
        try client.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: stream))
        #expect(try client.answer(on: stream).text == expected)
    }

    @Test func `an answer that breaks off is a reset stream`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        sidecar.upstream.answer { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", thenClose: true)
        }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let answer = try client.request("GET", "/")
        #expect(answer.status == 200 && answer.resetCode == 0x2 && !answer.hasEnd)
    }

    @Test(arguments: [true, false])
    func `a gRPC stream lives as long as either side says something`(clientSpeaks: Bool) throws {
        let peers = Monitor<[HTTP2Upstream.Peer]>([])
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            // Before the head, by which the client knows that it is there.
            peers.withLock { $0.append(peer) }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                    endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 600ms}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin(
            "POST", "/h2/watch", [("content-type", "application/grpc"), ("te", "trailers")], endsStream: false
        )
        #expect(try client.head(on: stream)[":status"] == "200")
        let peer = try #require(peers.withLock { $0.first })
        // Each message follows the one before as soon as that has passed, until silence would have ended the stream.
        let begun = ContinuousClock.now
        var count = 0
        while begun.duration(to: .now) < .milliseconds(2000) {
            count += 1
            let seen = count
            if clientSpeaks {
                try client.send(.data("m", stream: stream))
                try upstream.stream("message \(seen)") { $0.content.count == seen }
            } else {
                try peer.send(.data("m", stream: 1))
                try client.wait { $0.answers[stream]?.content.count == seen }
            }
        }
        #expect(client.answers[stream]?.isOver == false && upstream.streams.first?.resetCode == nil)
        // And then it ends: nothing passes any more.
        #expect(try client.answer(on: stream).trailers["grpc-status"] == "4")
    }
}
