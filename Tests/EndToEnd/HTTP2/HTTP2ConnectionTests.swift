// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// How a connection comes to HTTP/2, and how it ends.
@Suite(.blocking) struct `An HTTP2 connection` {
    @Test func `is known by its preface on a Unix socket too, and in pieces`() throws {
        let directory = try TemporaryDirectory()
        let sidecar = try Sidecar(directory: directory, .init(listen: "unix:\(directory.path("s"))"))
        try sidecar.awaitToken()
        let wire = try Wire(to: sidecar.bearerd.proxy)
        let client = HTTP2Client(wire, authority: "localhost")
        let greeting = HTTP2Frame.preface + HTTP2Frame.settings().bytes
        for byte in greeting { try wire.send([byte]) }
        #expect(try client.request("GET", "/").status == 200)
        // gRPC's C library says so, without the slash at the beginning.
        let path = String(directory.path("s").dropFirst()).replacing("/", with: "%2F")
        for (authority, status) in [(path, 200), (path + "x", 421)] {
            let call = HTTP2Client(try Wire(to: sidecar.bearerd.proxy), authority: authority)
            try call.wire.send(greeting)
            #expect(try call.request("GET", "/").status == status)
        }
    }

    @Test func `is agreed on by ALPN over TLS, where HTTP1 is served beside it`() throws {
        let site = try SecureSite()
        try site.sidecar.awaitToken()
        let client = try HTTP2Client(
            to: site.sidecar.bearerd.proxy, over: site.tls(protocols: ["h2", "http/1.1"]))
        #expect(try client.request("GET", "/").status == 200)
        for old in ["http/1.1", "http/1.0"] {
            #expect(try site.get("/", [], site.tls(protocols: [old])).status == 200)
        }
        #expect(try site.get("/", [], site.tls()).status == 200)
    }

    @Test func `is not had where protocols say so, in the clear and over TLS`() throws {
        let sidecar = try Sidecar(.init(listen: "{address: 127.0.0.1:0, protocols: [http1]}"))
        try sidecar.awaitToken()
        let wire = try Wire(to: sidecar.bearerd.proxy)
        try wire.send(HTTP2Frame.preface)
        #expect(try wire.readResponse().status == 505)
        #expect(try sidecar.get().status == 200)
        let site = try SecureSite(listen: "{address: 127.0.0.1:0, protocols: [http1]}")
        try site.sidecar.awaitToken()
        #expect(try site.get("/", [], site.tls(protocols: ["h2", "http/1.1"])).status == 200)
        #expect(throws: (any Error).self) { try site.client(site.tls(protocols: ["h2"])) }
    }

    @Test func `is all that there is where protocols say so`() throws {
        let sidecar = try Sidecar(.init(listen: "[{address: 127.0.0.1:0, protocols: [h2]}]"))
        try sidecar.awaitToken()
        #expect(try sidecar.get().status == 505)
        #expect(try HTTP2Client(to: sidecar.bearerd.proxy).request("GET", "/").status == 200)
    }

    @Test func `that does not get beyond half a preface ends`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts: {header: 300ms}"))
        let first = try Wire(to: sidecar.bearerd.proxy)
        try first.send("PRI * HTTP")
        #expect(try first.readResponse().status == 408)
        let second = HTTP2Client(try Wire(to: sidecar.bearerd.proxy), authority: "x")
        try second.wire.send(Array(HTTP2Frame.preface.prefix(20)))
        #expect(try second.goawayCode() != nil)
        try second.awaitEnd()
        let third = try HTTP2Client(to: sidecar.bearerd.proxy)
        // Nothing may come between the parts of a head, the acknowledgement of SETTINGS neither.
        try third.roundTrip()
        try third.send(HTTP2Frame(.headers, stream: 1, HPACK.encode(third.fields("GET", "/"))))
        #expect(try third.goawayCode() == 0xB)
    }

    @Test func `that breaks the protocol at once gets SETTINGS before GOAWAY`() throws {
        let sidecar = try Sidecar()
        let greeting = HTTP2Frame.preface + HTTP2Frame.settings().bytes
        let breaches = [
            greeting + HTTP2Frame(.priority, stream: 0, [0, 0, 0, 0, 15]).bytes,
            greeting + (0..<100).flatMap { _ in HTTP2Frame.settings().bytes },
        ]
        for breach in breaches {
            let client = HTTP2Client(try Wire(to: sidecar.bearerd.proxy), authority: "x")
            try client.wire.send(breach)
            #expect(try client.goawayCode() != nil)
            #expect(client.frames.first?.kind == .settings)
        }
    }

    @Test func `that is idle for too long gets GOAWAY first`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts: {idle: 500ms}"))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try client.request("GET", "/").status == 200)
        let goaway = try #require(try client.goaway())
        #expect(goaway.number() == 1 && goaway.number(at: 4) == 0)
        try client.awaitEnd()
    }

    @Test(arguments: [true, false])
    func `whose client says GOAWAY serves what it sends behind that, and ends in order`(
        hasStream: Bool
    ) throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let before =
            hasStream ? [HTTP2Frame.head(client.fields("GET", "/"), stream: client.takeStream())] : []
        let stream = client.takeStream()
        try client.send(
            before + [
                HTTP2Frame(.goaway, Array(repeating: 0, count: 8)),
                .head(client.fields("GET", "/"), stream: stream),
            ])
        #expect(try client.answer(on: stream).status == 200)
        #expect(try client.goawayCode() == 0)
        try client.awaitEnd()
        #expect(client.frames.last { $0.kind == .goaway }?.number() == stream)
    }

    @Test func `is of the protocols of its listener, though another has the same address`() throws {
        for protocols in [["http1", "h2"], ["h2", "http1"]] {
            let listeners = protocols.map { "{address: 127.0.0.1:0, protocols: [\($0)]}" }
            let sidecar = try Sidecar(.init(listen: "[\(listeners.joined(separator: ", "))]"))
            try sidecar.awaitToken()
            for (index, name) in protocols.enumerated() {
                let client = try RawClient(to: sidecar.bearerd.address(of: .proxy, index))
                #expect(try client.request("GET", "/").status == (name == "http1" ? 200 : 505))
            }
        }
    }

    @Test func `finishes its streams in a drain, and then ends`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in
                try gate.pass()
                return .ok("late")
            })
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/")
        try sidecar.upstream.request()
        sidecar.bearerd.process.signal(15)
        try client.wait { $0.frames.contains { $0.kind == .goaway } }
        #expect(client.frames.last { $0.kind == .goaway }?.number(at: 4) == 0)
        gate.open()
        #expect(try client.answer(on: stream).text == "late")
        try client.awaitEnd()
        guard case .exited(0) = try sidecar.bearerd.process.waitForEnd() else {
            Issue.record("the drain did not end well")
            return
        }
    }

    @Test func `ends soon on a listener that speaks HTTP2 no more, whether its client answers PING or not`()
        throws
    {
        let sidecar = try Sidecar(.init(listen: "{address: 127.0.0.1:0, protocols: [http1, h2]}"))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        client.answersPings = false
        #expect(try client.request("GET", "/").status == 200)
        try sidecar.reload(to: .init(listen: "{address: 127.0.0.1:0, protocols: [http1]}"))
        #expect(try client.request("GET", "/").status == 200)
        try client.awaitEnd()
    }

    @Test func `that nobody uses is no reason for a drain to wait`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        client.answersPings = false
        #expect(try client.request("GET", "/").status == 200)
        guard case .exited(0) = try sidecar.bearerd.terminate() else {
            Issue.record("the drain did not end well")
            return
        }
    }

    @Test func `ends in a drain once its client has read everything, though that does not close it`() throws {
        let isPrompt = try isOnce(within: .milliseconds(1500)) { begin in
            let sidecar = try Sidecar()
            try sidecar.awaitToken()
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            #expect(try client.request("GET", "/").status == 200)
            begin()
            sidecar.bearerd.process.signal(15)
            // Its answers to PINGs go out meanwhile, and its end does not.
            try client.awaitEnd()
            _ = try sidecar.bearerd.process.waitForEnd()
        }
        #expect(isPrompt)
    }

    @Test func `offers what limits say, and refuses streams beyond it`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in
                try gate.pass()
                return .ok()
            }, .init(top: "limits: {streams: 2}"))
        try sidecar.awaitToken()
        let client = HTTP2Client(
            try Wire(to: sidecar.bearerd.proxy), authority: "\(try sidecar.bearerd.proxy)")
        let heads = (0..<3).map { _ in
            HTTP2Frame.head(client.fields("GET", "/"), stream: client.takeStream())
        }
        try client.wire.send(
            HTTP2Frame.preface + HTTP2Frame.settings().bytes + heads.flatMap(\.bytes))
        #expect(try client.resetCode(of: 5) == 0x7)
        let settings = try #require(client.frames.first { $0.kind == .settings })
        let values = stride(from: 0, to: settings.payload.count, by: 6).map { offset in
            (
                Int(settings.payload[offset]) << 8 | Int(settings.payload[offset + 1]),
                settings.number(at: offset + 2)
            )
        }
        #expect(values.contains { $0 == (3, 2) } && values.contains { $0 == (8, 1) })
        gate.open()
        #expect(try client.answer(on: 1).status == 200 && client.answer(on: 3).status == 200)
    }

    @Test func `goes on by the next configuration`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let large = [("x-large", String(repeating: "v", count: 3000))]
        let long = "/?" + String(repeating: "x", count: 60)
        #expect(try client.request("GET", long, large).status == 200)
        try sidecar.reload(to: .init(route: "methods: [PUT]"))
        #expect(try client.request("GET", "/").status == 405)
        try sidecar.reload(to: .init(top: "limits: {header_bytes: 2KiB, uri_bytes: 50}"))
        try client.wait { $0.setting(6) == 2048 }
        #expect(try client.request("GET", "/", large).status == 431)
        #expect(try client.request("GET", long).status == 414)
        #expect(try client.request("GET", "/").status == 200)
        try sidecar.reload(to: .init())
        #expect(try client.request("GET", long, large).status == 200)
    }

    @Test func `may have no more streams at once than a reload leaves it`() throws {
        let gates = ["/first": Gate(), "/later": Gate()]
        let sidecar = try Sidecar(
            upstream: RawUpstream { request in
                try gates[request.head.target]?.pass()
                return .ok()
            })
        defer { gates["/later"]?.open() }
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let streams = try (0..<3).map { _ in try client.begin("GET", "/first") }
        for _ in streams { try sidecar.upstream.request() }
        try sidecar.reload(to: .init(top: "limits: {streams: 2}"))
        try client.wait { $0.setting(3) == 2 }
        gates["/first"]?.open()
        for stream in streams { #expect(try client.answer(on: stream).status == 200) }
        for _ in 0..<3 { try client.begin("GET", "/later") }
        #expect(try client.goawayCode() == 0x1)
    }

    @Test func `ends with its listener, and with its protocol there`() throws {
        for listen in ["{address: 127.0.0.1:0, protocols: [http1]}", "127.0.0.2:0"] {
            let sidecar = try Sidecar()
            try sidecar.awaitToken()
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            #expect(try client.request("GET", "/").status == 200)
            try sidecar.reload(to: .init(listen: listen))
            #expect(try client.request("GET", "/").status == 200)
            #expect(try client.goawayCode() == 0)
            try client.awaitEnd()
        }
    }

    @Test func `takes the place of HTTP1 with the next answer`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        try sidecar.reload(to: .init(listen: "{address: 127.0.0.1:0, protocols: [h2]}"))
        let last = try client.request("GET", "/")
        #expect(last.status == 200 && last["Connection"] == "close")
    }
}
