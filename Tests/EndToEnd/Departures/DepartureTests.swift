// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Whoever leaves takes the request along, whatever it waits for.
@Suite(.blocking) struct `A client that goes away` {
    @Test(arguments: DepartureSite.words.keys.sorted(), Departure.allCases)
    func `ends what its upstream is busy with`(target: String, departure: Departure) throws {
        let site = try DepartureSite()
        let client = try site.sidecar.client()
        try client.send("GET", target)
        try site.awaitRequests()
        if let said = DepartureSite.words[target], said.hasSuffix("\n\n") || said.hasSuffix("half") {
            #expect(try client.wire.readHead()?.status == 200)
        }
        departure.carryOut(on: client.wire)
        try site.awaitEnds()
        try site.sidecar.expectDeparture()
        #expect(try site.sidecar.get("/other").text == "ok")
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/1.0"], Departure.allCases)
    func `right behind its request does so too`(version: String, departure: Departure) throws {
        let site = try DepartureSite()
        let kept = try site.sidecar.client()
        #expect(try kept.request("GET", "/other").status == 200)
        for client in [kept, try site.sidecar.client()] {
            try client.wire.send("GET /head \(version)\r\nHost: \(try site.sidecar.bearerd.proxy)\r\n\r\n")
            departure.carryOut(on: client.wire)
        }
        // A request that was reset so early may never have been read.
        if departure != .resetting {
            try site.awaitEnds(2)
            try site.sidecar.expectDeparture(2)
        }
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `has no second request sent on that came with the first`() throws {
        let site = try DepartureSite()
        let client = try site.sidecar.client()
        let request = "GET /head HTTP/1.1\r\nHost: \(try site.sidecar.bearerd.proxy)\r\n\r\n"
        try client.wire.send(request + request)
        try site.awaitRequests()
        client.wire.finishWriting()
        try site.awaitEnds()
        try site.sidecar.expectDeparture()
        #expect(site.begun == 1)
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: Departure.allCases)
    func `is not waited for by a drain that has begun`(departure: Departure) throws {
        let site = try DepartureSite()
        let proxy = try site.sidecar.bearerd.proxy
        let clients = try ["/head", "/events"].map { target in
            let client = try site.sidecar.client()
            try client.send("GET", target)
            return client
        }
        try site.awaitRequests(2)
        site.sidecar.bearerd.process.signal(15)
        try eventually("the drain to begin") { (try? RawClient(to: proxy)) == nil }
        for client in clients { departure.carryOut(on: client.wire) }
        #expect(try site.sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test(arguments: Departure.allCases)
    func `while it waits for a token leaves that to others`(departure: Departure) throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.always { request, provider in provider.goodAnswer(to: request).held(by: gate) }
        let site = try DepartureSite(provider: provider)
        let client = try site.sidecar.client()
        try provider.request(1)
        try client.send("GET", "/head")
        departure.carryOut(on: client.wire)
        try site.sidecar.expectDeparture()
        let other = try site.sidecar.client()
        try other.send("GET", "/other")
        gate.open()
        #expect(try other.wire.readResponse().text == "ok")
        #expect(provider.requests.count == 1 && site.begun == 0)
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: Departure.allCases)
    func `while a 401 has its token refreshed leaves the new one to others`(departure: Departure) throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { $0.head.target == "/other" ? .ok() : .unauthorized },
            .init(top: "workers: 1\n" + DepartureSite.timeouts))
        try sidecar.awaitToken()
        sidecar.provider.always { request, provider in provider.goodAnswer(to: request).held(by: gate) }
        let client = try sidecar.client()
        try client.send("GET", "/")
        try sidecar.provider.request(2)
        departure.carryOut(on: client.wire)
        try sidecar.expectDeparture()
        gate.open()
        try eventually("the refresh to end") { try sidecar.identityStatus()["generation"].number == 2 }
        #expect(try sidecar.get("/other").status == 200)
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/", "/other"])
        #expect(sidecar.upstream.tokens.last == sidecar.provider.accessTokens.last)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: Departure.allCases)
    func `gives up its place among those who wait for a connection`(departure: Departure) throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in .ok().held(by: gate) },
            .init(top: "workers: 1\nlimits: {upstream_connections: 1}\n" + DepartureSite.timeouts))
        let first = try sidecar.client()
        try first.send("GET", "/first")
        try sidecar.upstream.request()
        let leaving = try sidecar.client()
        try leaving.send("GET", "/leaving")
        departure.carryOut(on: leaving.wire)
        try eventually("its line") { sidecar.bearerd.logLines.contains { $0["code"] == "client_gone" } }
        let last = try sidecar.client()
        try last.send("GET", "/last")
        gate.open()
        for client in [first, last] { #expect(try client.wire.readResponse().status == 200) }
        try sidecar.expectDeparture()
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/first", "/last"])
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    /// The TCP connection stands; who keeps silent in the handshake is the upstream.
    @Test(arguments: Departure.allCases)
    func `leaves no attempt to connect behind, nor its place`(departure: Departure) throws {
        let ends = Monitor(0)
        let silent = try RawUpstream(script: { wire in
            _ = try wire.readToEnd()
            ends.withLock { $0 += 1 }
        })
        let sidecar = try Sidecar(
            .init(
                top: "workers: 1\nlimits: {upstream_connections: 1}\n" + DepartureSite.timeouts,
                moreRoutes: """
                    - path: /silent
                      upstream: https://127.0.0.1:\(silent.address.port)
                      identity: none
                    """))
        for count in 1...3 {
            let client = try sidecar.client()
            try client.send("GET", "/silent")
            try silent.awaitConnections(count)
            departure.carryOut(on: client.wire)
            try ends.wait(for: "connection \(count) to end") { $0 >= count ? () : nil }
            try sidecar.expectDeparture(count)
        }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: Departure.allCases)
    func `in the middle of its body ends its upload`(departure: Departure) throws {
        let isThere = Monitor(0)
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            #expect(try wire.read(exactly: 4) == Array("half".utf8))
            isThere.withLock { $0 += 1 }
            #expect(try wire.readToEnd().isEmpty)
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1\n" + DepartureSite.timeouts))
        let client = try sidecar.client()
        try client.wire.send(
            "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 8\r\n\r\nhalf")
        try isThere.wait(for: "half a body") { $0 == 1 ? () : nil }
        departure.carryOut(on: client.wire)
        try upstream.awaitNoConnections()
        try sidecar.expectDeparture()
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    /// An end would be behind the bytes that the client's own kernel still has, and be seen by nobody.
    @Test func `by a reset ends an upload that its upstream does not read`() throws {
        let gate = Gate()
        let upstream = try RawUpstream(script: { wire in
            _ = try wire.readHead()
            try gate.pass()
            _ = try wire.readToEnd()
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1\n" + DepartureSite.timeouts))
        let client = try sidecar.client()
        try client.wire.send(
            "PUT / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\nContent-Length: 1000000000\r\n\r\n")
        let sent = Monitor(0)
        let writer = Background {
            while true {
                try client.wire.send([UInt8](repeating: 120, count: 1 << 16))
                sent.withLock { $0 += 1 << 16 }
            }
        }
        try sent.awaitStandstill(of: "the client")
        client.wire.reset()
        try sidecar.expectDeparture()
        gate.open()
        try upstream.awaitNoConnections()
        #expect(throws: (any Error).self) { try writer.value() }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: [Departure.closing, .halfClosing])
    func `from a Unix socket is noticed too`(departure: Departure) throws {
        let directory = try TemporaryDirectory()
        let site = try DepartureSite(listen: "unix:\(directory.path("data.sock"))")
        for (index, target) in ["/head", "/events"].enumerated() {
            let client = try site.sidecar.client()
            try client.send("GET", target)
            try site.awaitRequests(index + 1)
            departure.carryOut(on: client.wire)
            try site.awaitEnds(index + 1)
            try site.sidecar.expectDeparture(index + 1)
        }
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `resets a tunnel on both sides, and half-closes it as long as it likes`() throws {
        let (gate, isReset) = (Gate(), Gate())
        let upstream = try RawUpstream(script: { wire in
            guard let head = try wire.readHead() else { return }
            try wire.send("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
            if head.target == "/reset" {
                _ = try wire.endsInOrder()
                return isReset.open()
            }
            #expect(try wire.endsCleanly())
            try gate.pass()
            try wire.send("last")
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1\n" + DepartureSite.timeouts))
        let upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket")]
        let halfClosed = try sidecar.client()
        #expect(try halfClosed.request("GET", "/half", upgrade).status == 101)
        halfClosed.wire.finishWriting()
        // Others come and go meanwhile, after the same time of silence.
        let other = try sidecar.client()
        #expect(try other.request("GET", "/reset", upgrade).status == 101)
        other.wire.reset()
        try isReset.pass()
        #expect(try !halfClosed.wire.hasSomething(within: .seconds(1)))
        gate.open()
        #expect(try halfClosed.wire.readToEnd() == Array("last".utf8))
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }
}
