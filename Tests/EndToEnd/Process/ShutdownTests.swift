// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Signals: SIGTERM and SIGINT drain, a second one stops at once.
@Suite(.blocking) struct `Shutdown` {
    @Test(arguments: [SIGTERM, SIGINT]) func `of an idle daemon is at once and clean`(signal: Int32) throws {
        let sidecar = try Sidecar()
        let idle = try sidecar.client()
        #expect(try idle.request("GET", "/").status == 200)
        let start = ContinuousClock.now
        sidecar.bearerd.process.signal(signal)
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try idle.wire.endsCleanly())
    }

    @Test func `lets a request in flight finish, and closes its connection`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .ok("late").held(by: gate) })
        let proxy = try sidecar.bearerd.proxy
        let client = try sidecar.client()
        try client.send("GET", "/")
        try sidecar.upstream.request()
        sidecar.bearerd.process.signal(SIGTERM)
        try eventually("new connections to be refused") { (try? RawClient(to: proxy)) == nil }
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        #expect(sidecar.bearerd.process.isRunning)
        gate.open()
        let answer = try client.wire.readResponse()
        #expect(answer.text == "late" && answer["Connection"]?.lowercased() == "close")
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `serves requests on kept connections meanwhile, with Connection close`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream { request in
                request.head.target == "/slow" ? .ok().held(by: gate) : .ok()
            }, .init(top: "shutdown:\n  delay: 2s"))
        let kept = try sidecar.client()
        #expect(try kept.request("GET", "/").status == 200)
        let slow = try sidecar.client()
        try slow.send("GET", "/slow")
        try sidecar.upstream.request(2)
        sidecar.bearerd.process.signal(SIGTERM)
        try eventually("readiness to end") { try sidecar.admin("GET", "/readyz").status == 503 }
        #expect(try sidecar.get("/new").status == 200, "during the delay it serves as before")
        #expect(try kept.request("GET", "/").status == 200)
        gate.open()
        #expect(try slow.wire.readResponse().status == 200)
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `says each second what it waits for`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream { _ in .ok("late").held(by: gate) },
            .init(top: "shutdown:\n  delay: 1500ms"))
        let client = try sidecar.client()
        try client.send("GET", "/")
        try sidecar.upstream.request()
        sidecar.bearerd.process.signal(SIGTERM)
        try sidecar.bearerd.logLine("the delay") {
            $0.message == "draining: still serving, for shutdown.delay"
        }
        let line = try sidecar.bearerd.logLine("the wait") {
            $0.message == "draining: waiting for connections of clients"
        }
        #expect(line["connections"] == "1" && line["route"] == "/", "\(line.json)")
        #expect((line["remaining_seconds"].flatMap { Int($0) } ?? 99) <= 30, "\(line.json)")
        #expect(line["hint"] == nil, "nobody is there who could press keys")
        let count = { sidecar.bearerd.logLines.filter { $0.message.hasPrefix("draining: waiting") }.count }
        try eventually("it to be said again") { count() >= 2 }
        gate.open()
        #expect(try client.wire.readResponse().text == "late")
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `names the identities whose token requests it waits for`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        // What the configuration alone brings again is not waited for.
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let asking = try RawClient(to: sidecar.bearerd.admin)
        try asking.send("POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        try provider.request(2)
        sidecar.bearerd.process.signal(SIGTERM)
        let line = try sidecar.bearerd.logLine("the wait") {
            $0.message == "draining: waiting for token requests, and for storing what they bring"
        }
        #expect(line["identity"] == "default" && line["remaining_seconds"] != nil, "\(line.json)")
        gate.open()
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
    }

    @Test func `on a terminal tells how to end it at once`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        let upstream = try RawUpstream { _ in .ok().held(by: gate) }
        let directory = try TemporaryDirectory()
        let socket = directory.path("s")
        let file = try directory.write(
            "c.yaml",
            Sidecar.configuration(
                provider: provider, upstream: upstream.url, clientSecret: "s-" + randomText(),
                directory: directory, .init(listen: "unix:\(socket)")))
        let daemon = try TerminalProgram(["run", "-c", file])
        try daemon.shows("\u{1B}[32mnotice\u{1B}[0m")
        try daemon.shows("started")
        let client = try RawClient(to: .unix(path: socket))
        try client.send("GET", "/")
        try upstream.request()
        try daemon.interrupt()
        try daemon.shows("Ctrl-C ends it at once")
        try daemon.interrupt()
        #expect(try daemon.waitForEnd() == .exited(1))
    }

    @Test func `exits 1 when the grace ends before the requests do`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: try RawUpstream { _ in .ok().held(by: gate) }, .init(top: "shutdown:\n  grace: 300ms"))
        defer { gate.open() }
        let client = try sidecar.client()
        try client.send("GET", "/")
        try sidecar.upstream.request()
        #expect(try sidecar.bearerd.terminate() == .exited(1))
    }

    /// Whatever carries the request: the client can still be told, and nobody else is blamed.
    @Test(arguments: [false, true])
    func `answers and records what the grace cuts off, before it says that it has stopped`(
        isHTTP2: Bool
    ) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            if stream[":path"] == "/h2/warm" { try peer.answer(stream.id) }
        }
        let directory = try TemporaryDirectory()
        let audit = directory.path("audit.log")
        let sidecar = try HTTP2Route.sidecar(
            upstream, top: "shutdown: {grace: 300ms}\naudit: {file: \(audit)}")
        // A request on a kept connection could be sent once more.
        #expect(try sidecar.get("/h2/warm").status == 200)
        var status: () throws -> String? = { nil }
        if isHTTP2 {
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            let stream = try client.begin("GET", "/h2/silent")
            status = { try client.head(on: stream)[":status"] }
        } else {
            let client = try sidecar.client()
            try client.send("GET", "/h2/silent")
            status = { try client.wire.readHead().map { String($0.status) } }
        }
        try upstream.stream("the request") { $0[":path"] == "/h2/silent" }
        sidecar.bearerd.process.signal(SIGTERM)
        #expect(try status() == "503")
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(1))
        let lines = sidecar.bearerd.logLines
        let request = try #require(lines.lastIndex { $0["path"] == "/h2/silent" })
        #expect(
            lines[request]["code"] == "draining" && lines[request]["status"] == "503",
            "\(lines[request].json)")
        #expect(try #require(lines.lastIndex { $0.message == "stopped" }) > request)
        #expect(!lines.contains { $0.message == "the upstream fails" })
        #expect(upstream.streams.count { $0[":path"] == "/h2/silent" } == 1)
        #expect(
            String(decoding: TemporaryDirectory.contents(of: audit), as: UTF8.self).contains("/h2/silent"))
    }

    @Test func `says of an answer and of a tunnel that the grace cuts off that it was the drain`() throws {
        let gate = Gate()
        defer { gate.open() }
        let upstream = try RawUpstream { request in
            Reply { wire in
                if request.head.target == "/tunnel" {
                    try wire.grantWebSocket()
                } else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
                }
                try gate.pass()
                return false
            }
        }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "shutdown: {grace: 300ms}"))
        let clients = [try sidecar.client(), try sidecar.client()]
        try clients[0].send("GET", "/half")
        try clients[1].send("GET", "/tunnel", HTTP2Route.webSocket)
        #expect(try clients.map { try $0.wire.readHead()?.status } == [200, 101])
        #expect(try sidecar.bearerd.terminate() == .exited(1))
        let lines = sidecar.bearerd.logLines
        for (path, status) in [("/half", "200"), ("/tunnel", "101")] {
            let line = try #require(lines.last { $0["path"] == path })
            #expect(line["code"] == "draining" && line["status"] == status, "\(line.json)")
        }
        #expect(!lines.contains { $0.message == "the upstream fails" })
    }

    @Test func `answers those who wait for a token when the grace ends, and sends nothing for them`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let sidecar = try Sidecar(provider: provider, .init(top: "shutdown: {grace: 1s}"))
        defer { gate.open() }
        let client = try sidecar.client()
        try client.send("POST", "/waits", body: "x")
        try provider.request(1)
        try eventually("the client to be accepted") {
            try sidecar.metrics().sum("bearerd_open_connections") >= 1
        }
        sidecar.bearerd.process.signal(SIGTERM)
        #expect(try client.wire.readResponse().problem == "draining")
        gate.open()
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(1))
        let line = try #require(sidecar.bearerd.logLines.last { $0["path"] == "/waits" })
        #expect(line["code"] == "draining", "\(line.json)")
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `exits 1 at once at the second signal`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .ok().held(by: gate) })
        defer { gate.open() }
        let proxy = try sidecar.bearerd.proxy
        let client = try sidecar.client()
        try client.send("GET", "/")
        try sidecar.upstream.request()
        sidecar.bearerd.process.signal(SIGTERM)
        try eventually("the drain to begin") { (try? RawClient(to: proxy)) == nil }
        let second = ContinuousClock.now
        #expect(try sidecar.bearerd.terminate() == .exited(1))
        #expect(ContinuousClock.now - second < .seconds(20))
    }

    @Test func `leaves no answer half sent to many busy clients`() throws {
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .ok(String(repeating: "x", count: 5000)) })
        let started = Monitor(0)
        let clients = (0..<8).map { _ in
            Background { () -> Int in
                var served = 0
                while let client = try? sidecar.client() {
                    while true {
                        do { try client.send("GET", "/") } catch { break }
                        guard let answer = try? client.wire.readResponse() else { break }
                        #expect(answer.isComplete && answer.status == 200)
                        served += 1
                        started.withLock { $0 += 1 }
                        if answer["Connection"] != nil { break }
                    }
                }
                return served
            }
        }
        try started.wait(for: "some traffic") { $0 > 100 ? () : nil }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        for client in clients { #expect(try client.value() > 0) }
    }
}
