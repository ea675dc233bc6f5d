// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// An answer that comes event by event, each when the test says so.
private final class Feed: Sendable {
    private enum Step {
        case bytes(String)
        case end
        case reset
    }

    private let steps = Monitor<[Step]>([])
    private let authority: TLSAuthority?
    let upstream: RawUpstream
    /// What its route says beside the upstream.
    let route: String

    /// - Parameters:
    ///   - framing: the field that says how the answer is framed; empty for one that ends with the connection.
    ///   - authority: makes the upstream's certificate; nil for plain text.
    init(framing: String = "Transfer-Encoding: chunked", authority: TLSAuthority? = nil) throws {
        self.authority = authority
        route = authority.map { "ca_file: \($0.certificateFile)" } ?? ""
        upstream = try RawUpstream(tls: authority?.server()) { [steps] wire in
            while let head = try wire.readHead() {
                guard head.target == "/events" else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                let line = framing.isEmpty ? "" : framing + "\r\n"
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\(line)\r\n")
                try Self.follow(steps, on: wire)
                if framing.isEmpty { return wire.close() }
            }
        }
    }

    /// Sends events until one is the last.
    private static func follow(_ steps: Monitor<[Step]>, on wire: Wire) throws {
        while true {
            switch try steps.wait(for: "an event", { $0.isEmpty ? nil : $0.removeFirst() }) {
            case .bytes(let bytes): try wire.send(bytes)
            case .end: return
            case .reset: return wire.reset()
            }
        }
    }

    func send(_ bytes: String) { steps.withLock { $0.append(.bytes(bytes)) } }

    /// Tells that the answer has been sent.
    func end() { steps.withLock { $0.append(.end) } }

    func reset() { steps.withLock { $0.append(.reset) } }

    static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }
}

/// Events arrive one by one, for as long as the stream lasts.
@Suite(.blocking) struct `Event streams` {
    private static func begin(_ sidecar: Sidecar) throws -> RawClient {
        let client = try sidecar.client()
        try client.send("GET", "/events")
        #expect(try client.wire.readHead()?.status == 200)
        return client
    }

    /// Sends an event and waits until the client has it.
    private static func pass(_ text: String, through feed: Feed, to client: RawClient) throws {
        feed.send(Feed.chunk(text))
        #expect(try client.wire.readChunk() == Array(text.utf8))
    }

    /// Sends a few events one by one, so that more of them are waited for without a task.
    private static func passSome(through feed: Feed, to client: RawClient) throws {
        for number in 0..<5 { try pass("data: \(number)\n\n", through: feed, to: client) }
    }

    @Test(arguments: [false, true])
    func `each event arrives before the next one is sent, however it is chunked`(isSecure: Bool) throws {
        let feed = try Feed(authority: isSecure ? TLSAuthority() : nil)
        let sidecar = try Sidecar(upstream: feed.upstream, .init(route: feed.route))
        let client = try Self.begin(sidecar)
        for number in 0..<20 { try Self.pass("data: \(number)\n\n", through: feed, to: client) }
        // Two at once, one in three parts, a large one in between, and one with the end.
        feed.send(Feed.chunk("data: a\n\n") + Feed.chunk("data: b\n\n") + "9\r\ndat")
        #expect(try client.wire.readChunk() == Array("data: a\n\n".utf8))
        #expect(try client.wire.readChunk() == Array("data: b\n\n".utf8))
        #expect(try client.wire.readChunk() == Array("dat".utf8))
        feed.send("a: c\n")
        #expect(try client.wire.readChunk() == Array("a: c\n".utf8))
        feed.send("\n\r\n")
        #expect(try client.wire.readChunk() == Array("\n".utf8))
        let large = String(repeating: "0123456789abcdef", count: 20_000)
        feed.send(Feed.chunk(large))
        var received: [UInt8] = []
        while received.count < large.utf8.count { received += try #require(try client.wire.readChunk()) }
        #expect(received == Array(large.utf8))
        try Self.pass("data: d\n\n", through: feed, to: client)
        try Self.pass("data: e\n\n", through: feed, to: client)
        feed.send(Feed.chunk("data: f\n\n") + "0\r\n\r\n")
        feed.end()
        #expect(try client.wire.readChunk() == Array("data: f\n\n".utf8))
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().isEmpty)
        // The connection serves the next request.
        #expect(try client.request("GET", "/other").status == 200)
    }

    @Test func `events arrive one by one over HTTP/2`() throws {
        let feed = try Feed()
        let sidecar = try Sidecar(upstream: feed.upstream)
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/events")
        #expect(try client.head(on: stream)[":status"] == "200")
        var sent = ""
        for number in 0..<20 {
            let event = "data: \(number)\n\n"
            sent += event
            feed.send(Feed.chunk(event))
            try client.wait { $0.answers[stream]?.text == sent }
        }
        feed.send("0\r\n\r\n")
        feed.end()
        #expect(try client.answer(on: stream).hasEnd)
    }

    @Test(arguments: [false, true])
    func `an answer that ends with its connection arrives event by event`(isSecure: Bool) throws {
        let feed = try Feed(framing: "", authority: isSecure ? TLSAuthority() : nil)
        let sidecar = try Sidecar(upstream: feed.upstream, .init(route: feed.route))
        let client = try Self.begin(sidecar)
        for number in 0..<20 {
            feed.send("data: \(number)\n\n")
            #expect(try client.wire.readChunk() == Array("data: \(number)\n\n".utf8))
        }
        feed.end()
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().isEmpty)
        #expect(try client.request("GET", "/other").status == 200)
    }

    @Test(arguments: [false, true])
    func `an answer with a length arrives event by event`(isSecure: Bool) throws {
        let events = (0..<20).map { "data: \($0)\n\n" }
        let feed = try Feed(
            framing: "Content-Length: \(events.joined().utf8.count)",
            authority: isSecure ? TLSAuthority() : nil)
        let sidecar = try Sidecar(upstream: feed.upstream, .init(route: feed.route))
        let client = try Self.begin(sidecar)
        for event in events {
            feed.send(event)
            #expect(try client.wire.read(exactly: event.utf8.count) == Array(event.utf8))
        }
        feed.end()
        #expect(try client.request("GET", "/other").status == 200)
        #expect(feed.upstream.connectionCount == 1)
    }

    @Test(arguments: [false, true])
    func `a client that does not read gets all of it later`(isSecure: Bool) throws {
        let feed = try Feed(authority: isSecure ? TLSAuthority() : nil)
        // However long this machine takes for all the looks below.
        let sidecar = try Sidecar(
            upstream: feed.upstream,
            .init(top: "workers: 1\ntimeouts:\n  stream_idle: 1h", route: feed.route))
        let other = try sidecar.client()
        let client = try sidecar.client(receiveBuffer: 4096)
        try client.send("GET", "/events")
        let event = String(repeating: "0123456789abcde\n", count: 250)
        let count = 2000
        for _ in 0..<count {
            feed.send(Feed.chunk(event))
            // One at a time: meanwhile the worker has had a look at it.
            #expect(try other.request("GET", "/other").status == 200)
        }
        feed.send("0\r\n\r\n")
        feed.end()
        let answer = try client.wire.readResponse()
        #expect(answer.isComplete && answer.body.count == count * event.utf8.count)
        #expect(answer.text == String(repeating: event, count: count))
    }

    @Test(arguments: [false, true])
    func `a stream that breaks off between two events is cut for its client`(isSecure: Bool) throws {
        let feed = try Feed(authority: isSecure ? TLSAuthority() : nil)
        let sidecar = try Sidecar(upstream: feed.upstream, .init(route: feed.route))
        let client = try Self.begin(sidecar)
        try Self.passSome(through: feed, to: client)
        feed.reset()
        #expect(throws: (any Error).self) { _ = try client.wire.readChunk() }
        #expect(try sidecar.get("/other").status == 200)
    }

    @Test func `an event that is no chunk cuts the stream`() throws {
        let feed = try Feed()
        let sidecar = try Sidecar(upstream: feed.upstream)
        let client = try Self.begin(sidecar)
        try Self.passSome(through: feed, to: client)
        feed.send("no chunk\r\n")
        #expect(throws: (any Error).self) { _ = try client.wire.readChunk() }
    }

    @Test func `silence after some events cuts the stream, and each event begins it anew`() throws {
        let feed = try Feed()
        let sidecar = try Sidecar(upstream: feed.upstream, .init(top: "timeouts:\n  stream_idle: 2s"))
        let pace = try sidecar.client()
        let client = try Self.begin(sidecar)
        for number in 0..<8 {
            try Self.pass("data: \(number)\n\n", through: feed, to: client)
            #expect(try !pace.wire.hasSomething(within: .milliseconds(400)))
        }
        #expect(throws: (any Error).self) { _ = try client.wire.readChunk() }
    }

    @Test func `a client that leaves ends the stream at its upstream`() throws {
        let feed = try Feed()
        let sidecar = try Sidecar(upstream: feed.upstream)
        let client = try Self.begin(sidecar)
        try Self.passSome(through: feed, to: client)
        client.wire.reset()
        try eventually("the upstream's connection to end") {
            feed.send(Feed.chunk("data: gone\n\n"))
            return feed.upstream.openConnectionCount == 0
        }
    }

    @Test(arguments: [
        ("", "host: other.example", "route_gone"),
        ("access: {key: fake-key-two}", "", "access_gone"),
    ])
    func `a reload that takes a stream away ends it between two events`(
        top: String, route: String, code: String
    ) throws {
        let feed = try Feed()
        let delay = "shutdown: {stream_close_delay: 50ms}\n"
        let sidecar = try Sidecar(upstream: feed.upstream, .init(top: delay))
        let client = try Self.begin(sidecar)
        try Self.passSome(through: feed, to: client)
        try sidecar.reload(to: .init(top: delay + top, route: route))
        #expect(throws: (any Error).self) { _ = try client.wire.readChunk() }
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == code }
    }

    @Test func `a stream goes on while the daemon drains, and the daemon ends with it`() throws {
        let feed = try Feed()
        let sidecar = try Sidecar(upstream: feed.upstream)
        let client = try Self.begin(sidecar)
        try Self.passSome(through: feed, to: client)
        sidecar.bearerd.process.signal(SIGTERM)
        try sidecar.bearerd.logLine("the drain") { $0.message == "draining" }
        try Self.passSome(through: feed, to: client)
        feed.send("0\r\n\r\n")
        feed.end()
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().isEmpty)
        #expect(try client.wire.endsCleanly())
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }
}
