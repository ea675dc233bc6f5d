// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Clients that are slow on purpose get nowhere, cost little, and are in nobody's way.
@Suite(.blocking) struct `Slow clients` {
    private static let count = 200
    private static let timeouts = "timeouts:\n  header: 1s\n  stream_idle: 1s"

    @Test func `with heads that never end are told 408, all of them`() throws {
        let sidecar = try Sidecar(.init(top: Self.timeouts))
        #expect(try sidecar.get().status == 200)
        let slow = try (0..<Self.count).map { _ in try sidecar.client() }
        for (index, client) in slow.enumerated() {
            try client.wire.send("GET /\(index) HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nX-A: ")
        }
        try expectOthersAreServed(by: sidecar)
        for client in slow {
            #expect(try client.wire.readResponse().status == 408)
            #expect(try client.wire.endsCleanly())
        }
        #expect(sidecar.upstream.requests.allSatisfy { $0.head.target == "/other" || $0.head.target == "/" })
        try expectNobodyIsLeft(at: sidecar)
    }

    @Test func `with bodies that stop are let go, and so are their upstream connections`() throws {
        let sidecar = try Sidecar(.init(top: Self.timeouts))
        #expect(try sidecar.get().status == 200)
        let slow = try (0..<Self.count).map { _ in try sidecar.client() }
        for client in slow {
            try client.wire.send(
                "POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 100000\r\n\r\nslow")
        }
        try sidecar.upstream.awaitConnections(Self.count)
        try expectOthersAreServed(by: sidecar)
        for client in slow { #expect(try client.wire.readResponse().status == 408) }
        try expectNobodyIsLeft(at: sidecar)
        // What is idle may be kept; what carried half a request is gone.
        try eventually("the upstream's connections to end") { sidecar.upstream.openConnectionCount <= 2 }
    }

    @Test func `with small bodies do not hold all places at the upstream`() throws {
        let sidecar = try Sidecar(
            .init(top: "workers: 1\nlimits:\n  upstream_connections: 4\ntimeouts:\n  connect: 1s"))
        #expect(try sidecar.get().status == 200)
        let slow = try (0..<20).map { _ in try sidecar.client() }
        for (index, client) in slow.enumerated() {
            try client.wire.send(
                "POST /\(index) HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 8\r\n\r\nslow"
            )
        }
        try sidecar.upstream.awaitConnections(3)
        for _ in 0..<10 { #expect(try sidecar.get("/other").status == 200) }
        #expect(sidecar.upstream.connectionCount <= 4)
        for client in slow { try client.wire.send("body") }
        for client in slow { #expect(try client.wire.readResponse().status == 200) }
        let bodies = sidecar.upstream.requests.filter { $0.head.method == "POST" }.map(\.body)
        #expect(bodies == Array(repeating: Array("slowbody".utf8), count: slow.count))
    }

    /// How a slow client frames its body.
    enum Framing: CaseIterable {
        case length
        case chunks
        case expectedChunks
        /// More than `replay_buffer`, which is 1 KiB.
        case longLength
        case longChunks

        var fields: String {
            switch self {
            case .length: "Content-Length: 8\r\n\r\n"
            case .chunks, .longChunks: "Transfer-Encoding: chunked\r\n\r\n"
            case .expectedChunks: "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
            case .longLength: "Content-Length: 5000\r\n\r\n"
            }
        }

        /// The body in pieces, as they are sent.
        var pieces: [String] {
            switch self {
            case .length: ["s", "l", "o", "w", "body"]
            case .chunks, .expectedChunks: ["1\r\ns\r\n", "1\r\nl\r\n", "6\r\now", "body\r\n0\r\n\r\n"]
            case .longLength: ["s", "low", String(repeating: "x", count: 4996)]
            case .longChunks:
                ["1\r\ns\r\n3\r\nlow\r\n", "1384\r\n", String(repeating: "x", count: 4996) + "\r\n0\r\n\r\n"]
            }
        }

        var body: String {
            switch self {
            case .length, .chunks, .expectedChunks: "slowbody"
            case .longLength, .longChunks: "slow" + String(repeating: "x", count: 4996)
            }
        }
    }

    @Test(arguments: Framing.allCases)
    func `do not hold all places at the upstream, however they frame their bodies`(framing: Framing) throws {
        let sidecar = try Sidecar(
            .init(
                top: "workers: 1\nlimits:\n  upstream_connections: 6\ntimeouts:\n  connect: 10s",
                route: "replay_buffer: 1KiB"))
        #expect(try sidecar.get().status == 200)
        let slow = try (0..<60).map { _ in try sidecar.client() }
        var pieces = framing.pieces
        let last = pieces.removeLast()
        for client in slow {
            try client.wire.send("POST / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n\(framing.fields)")
        }
        // Those that came first have places, and are told to go on by the upstream, which reads their bodies first.
        for piece in pieces { for client in slow { try client.wire.send(piece) } }
        for _ in 0..<10 { #expect(try sidecar.get("/other").status == 200) }
        #expect(sidecar.upstream.connectionCount <= 6)
        for client in slow { try client.wire.send(last) }
        for client in slow {
            let answer = try client.wire.readResponse()
            #expect(answer.status == 200)
            #expect(answer.interim.count <= 1)
        }
        let posts = sidecar.upstream.requests.filter { $0.head.method == "POST" }
        #expect(posts.map(\.text) == Array(repeating: framing.body, count: slow.count))
        #expect(framing != .expectedChunks || posts.count { $0["Expect"] == nil } >= slow.count - 4)
    }

    @Test func `that wait for a 100 get it, though there are few places left`() throws {
        let (sidecar, release) = try crowded()
        defer { release() }
        let client = try sidecar.client()
        for body in ["hello", "again"] {
            try client.send(
                "POST", "/", [("Expect", "100-continue"), ("Content-Length", "\(body.utf8.count)")])
            #expect(try client.wire.readHead()?.status == 100)
            try client.wire.send(body)
            let answer = try client.wire.readResponse()
            #expect(answer.status == 200 && answer.interim.isEmpty)
        }
        let posts = sidecar.upstream.requests.filter { $0.head.method == "POST" }
        #expect(posts.map(\.text) == ["hello", "again"])
        #expect(posts.allSatisfy { $0["Expect"] == nil })
    }

    /// What lasts a minute on the wire is not sent with the token of a minute ago.
    @Test func `have their requests sent with a token that is fresh by then`() throws {
        let provider = try HostileProvider()
        let (sidecar, release) = try crowded(provider: provider)
        defer { release() }
        let client = try sidecar.client()
        try client.send("POST", "/", [("Expect", "100-continue"), ("Content-Length", "5")])
        #expect(try client.wire.readHead()?.status == 100)
        try sidecar.act("refresh")
        try provider.request(2)
        try eventually("the new token") { try sidecar.identityStatus()["generation"].number == 2 }
        try client.wire.send("hello")
        #expect(try client.wire.readResponse().status == 200)
        #expect(sidecar.upstream.tokens.last == provider.accessTokens.last)
    }

    @Test func `that do not read are let go, and hold little memory until then`() throws {
        let (count, size) = (50, 8 << 20)
        let upstream = try RawUpstream { request in
            guard request.head.target == "/large" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                let block = [UInt8](repeating: 7, count: 1 << 16)
                for _ in 0..<(size / block.count) { try wire.send(block) }
                return true
            }
        }
        let sidecar = try Sidecar(
            upstream: upstream, .init(top: "timeouts:\n  stream_idle: 3s\nlimits:\n  connections: 1000"))
        #expect(try sidecar.get().status == 200)
        let before = sidecar.bearerd.residentBytes
        let slow = try (0..<count).map { _ in try sidecar.client(receiveBuffer: 4096) }
        for client in slow { try client.send("GET", "/large") }
        for client in slow { #expect(try client.wire.readHead()?.status == 200) }
        try expectOthersAreServed(by: sidecar)
        let used = (sidecar.bearerd.residentBytes - before) / count
        #expect(used < 256 << 10 || Sanitizer.isOn, "\(used >> 10) KiB for each")
        try expectNobodyIsLeft(at: sidecar)
        for client in slow { #expect(try client.wire.drain() < size) }
    }

    /// bearerd with a place left of four at its upstream, until the others are released.
    private func crowded(
        provider: HostileProvider? = nil
    ) throws -> (sidecar: Sidecar, release: () -> Void) {
        let gate = Gate()
        let sidecar = try Sidecar(
            provider: provider,
            upstream: RawUpstream { $0.head.target == "/held" ? .ok().held(by: gate) : .ok() },
            .init(top: "workers: 1\nlimits:\n  upstream_connections: 4"))
        let held = try (0..<3).map { _ in try sidecar.client() }
        for client in held { try client.send("GET", "/held") }
        try sidecar.upstream.request(3)
        return (
            sidecar,
            {
                gate.open()
                for client in held { client.wire.close() }
            }
        )
    }

    private func expectOthersAreServed(by sidecar: Sidecar) throws {
        let start = ContinuousClock.now
        for _ in 0..<10 { #expect(try sidecar.get("/other").status == 200) }
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    private func expectNobodyIsLeft(at sidecar: Sidecar) throws {
        try eventually("every connection to end") {
            try sidecar.metrics().sum("bearerd_open_connections") == 0
        }
    }
}
