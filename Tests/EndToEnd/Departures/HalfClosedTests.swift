// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A client may end its direction and still want its answer, as `nc -N` does.
@Suite(.blocking) struct `A half-closed client` {
    private static let patient = "timeouts: {half_closed: 1m}"
    private static let body = String(repeating: "all of it, byte for byte. ", count: 100_000)

    @Test(arguments: ["", "Transfer-Encoding: chunked"])
    func `gets all of an answer that comes in time`(framing: String) throws {
        let gate = Gate()
        let answer =
            framing.isEmpty
            ? "Content-Length: \(Self.body.utf8.count)\r\n\r\n\(Self.body)"
            : "\(framing)\r\n\r\n\(String(Self.body.utf8.count, radix: 16))\r\n\(Self.body)\r\n0\r\n\r\n"
        let upstream = try RawUpstream { _ in .raw("HTTP/1.1 200 OK\r\n\(answer)").held(by: gate) }
        let sidecar = try Sidecar(upstream: upstream, .init(top: Self.patient))
        for body in [nil, "hello"] {
            let client = try sidecar.client()
            try client.send(body == nil ? "GET" : "POST", "/", body: body)
            client.wire.finishWriting()
            try upstream.request()
            gate.open()
            #expect(try client.wire.readResponse().text == Self.body)
            #expect(try client.wire.endsCleanly())
        }
        #expect(!sidecar.bearerd.log.contains("client_gone"))
    }

    /// The time-out is that of a stall, not of the whole answer.
    @Test func `gets an answer that goes on for longer than it may be silent`() throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
            for _ in 0..<12 where try !wire.hasSomething(within: .milliseconds(500)) { try wire.send("x") }
            _ = try wire.readToEnd()
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "timeouts: {half_closed: 4s}"))
        let client = try sidecar.client()
        try client.send("GET", "/")
        client.wire.finishWriting()
        let answer = try client.wire.readResponse()
        #expect(answer.text == "xxxxxxxxxxxx" && answer.isComplete)
    }

    @Test func `that reads slowly gets all of it too`() throws {
        let upstream = try RawUpstream { _ in .ok(String(repeating: "x", count: 8 << 20)) }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "timeouts: {half_closed: 4s}"))
        let client = try sidecar.client(receiveBuffer: 4096)
        try client.send("GET", "/")
        client.wire.finishWriting()
        #expect(try client.wire.readHead()?.status == 200)
        var count = 0
        let (start, pace) = (ContinuousClock.now, Gate())
        while ContinuousClock.now - start < .seconds(6) {
            count += try client.wire.readSome().count
            try? pace.pass(within: .milliseconds(50))
        }
        #expect(try client.wire.drain() + count == 8 << 20)
    }

    @Test func `is waited for where that is turned off, a reset counts all the same`() throws {
        let gate = Gate()
        let site = try DepartureSite(top: "timeouts: {half_closed: 0}")
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in .ok("late").held(by: gate) },
            .init(top: "timeouts: {half_closed: 0}"))
        let waiting = try sidecar.client()
        try waiting.send("GET", "/")
        waiting.wire.finishWriting()
        let leaving = try site.sidecar.client()
        try leaving.send("GET", "/head")
        try site.awaitRequests()
        leaving.wire.reset()
        try site.awaitEnds()
        #expect(try !waiting.wire.hasSomething(within: .seconds(3)))
        gate.open()
        #expect(try waiting.wire.readResponse().text == "late")
    }
}
