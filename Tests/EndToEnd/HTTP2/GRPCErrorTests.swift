// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Callers of gRPC get errors of bearerd's own as gRPC has them.
@Suite(.blocking) struct `Own errors of gRPC calls` {
    private static let call = [("content-type", "application/grpc"), ("te", "trailers")]

    private func check(_ answer: HTTP2Client.Answer, _ status: String) {
        #expect(answer.status == 200 && answer.head["grpc-status"] == status)
        #expect(answer.head["content-type"] == "application/grpc" && answer.content.isEmpty)
        #expect(answer.head["grpc-message"]?.isEmpty == false && answer.hasEnd && answer.blocks == 1)
    }

    @Test func `are trailers alone, with the status of the table`() throws {
        let sidecar = try Sidecar(
            .init(
                top: "limits: {body_bytes: 1KiB, uri_bytes: 1KiB, header_bytes: 4KiB}",
                route: "methods: [GET, POST]\nallow: [{path: /allowed/**}, {path: /}]",
                moreRoutes: "- path: /gone\n  upstream: http://127.0.0.1:1\n  identity: none"))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        try check(client.request("PUT", "/", Self.call, body: "x"), "12")
        try check(client.request("POST", "/secret", Self.call, body: "x"), "7")
        try check(client.request("POST", "/gone", Self.call, body: "x"), "14")
        let large = try client.begin(
            "POST", "/", [("content-type", "application/grpc+proto"), ("content-length", "5000")],
            endsStream: false)
        try check(client.answer(on: large), "8")
        let wrong = client.fields("POST", "/", Self.call).map {
            $0.0 == ":authority" ? ($0.0, "evil.example") : $0
        }
        try check(client.answer(on: client.begin(wrong)), "7")
        let long = String(repeating: "x", count: 5000)
        try check(client.request("POST", "/" + long, Self.call), "8")
        try check(client.request("POST", "/", [("x-long", long)] + Self.call), "8")
        try sidecar.bearerd.logLine("the line of the upstream that is not there") {
            $0["path"] == "/gone" && $0["status"] == "502" && $0["grpc_status"] == "14"
                && $0["code"] == "upstream_connect"
        }
        #expect(try sidecar.metrics().sum("bearerd_requests_total", #"code="502""#) == 1)
    }

    @Test func `are problems for anything but gRPC over HTTP2`() throws {
        let sidecar = try Sidecar(.init(route: "methods: [GET]"))
        try sidecar.awaitToken()
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for type in ["application/grpc-web", "application/grpcx", "application/json"] {
            #expect(try client.request("POST", "/", [("content-type", type)], body: "x").status == 405)
        }
        let old = try sidecar.client().request("POST", "/", [("Content-Type", "application/grpc")], body: "x")
        #expect(old.status == 405)
    }

    @Test(arguments: [(0x7, 0x7), (0x8, 0x8), (0xB, 0xB), (0xC, 0xC), (0x2, 0x2), (0x1, 0x2)])
    func `are the code by which an upstream breaks its answer off`(code: UInt32, told: UInt32) throws {
        let gate = Gate()
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd else { return }
            try peer.send(
                .head([(":status", "200")], stream: stream.id, endsStream: false),
                .data("part", stream: stream.id))
            try gate.pass()
            try peer.send(.reset(stream.id, code: code))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin("POST", "/h2/call", Self.call)
        try client.wait { $0.answers[call]?.text == "part" }
        gate.open()
        let answer = try client.answer(on: call)
        #expect(!answer.hasEnd && answer.resetCode == told)
    }

    @Test func `are 14 in the trailers where an upstream is lost in the middle of its answer`() throws {
        let gates = [Gate(), Gate()]
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let head = [(":status", "200"), ("content-type", "application/grpc")]
            try peer.send(
                .head(head, stream: stream.id, endsStream: false), .data("part", stream: stream.id))
            try gates[stream.connection - 1].pass()
            peer.close()
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        for (gate, endsStream) in zip(gates, [true, false]) {
            let call = try call(client, endsStream: endsStream)
            gate.open()
            let answer = try client.answer(on: call)
            #expect(answer.trailers["grpc-status"] == "14" && answer.hasEnd, "\(answer)")
        }
    }

    @Test func `never say that a caller is not authenticated`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .json(#"{"error":"invalid_client"}"#, status: 401) }
        let sidecar = try Sidecar(provider: provider)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        try check(client.request("POST", "/", Self.call, body: "x"), "14")
    }

    /// An upstream that answers each call with a head and one message, and says nothing more.
    private func beginning(_ more: [(String, String)] = []) throws -> HTTP2Upstream {
        try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let head = [(":status", "200"), ("content-type", "application/grpc")] + more
            try peer.send(
                .head(head, stream: stream.id, endsStream: false), .data("part", stream: stream.id))
        }
    }

    /// Begins a call, and waits for the first message of its answer.
    private func call(_ client: HTTP2Client, endsStream: Bool) throws -> UInt32 {
        let call = try client.begin("POST", "/h2/call", Self.call, endsStream: endsStream)
        try client.wait { $0.answers[call]?.text == "part" }
        return call
    }

    @Test func `end an answer that has begun by trailers`() throws {
        let upstream = try beginning()
        let limited = try HTTP2Route.sidecar(upstream, top: "limits: {body_bytes: 1KiB}")
        let sending = try HTTP2Client(to: limited.bearerd.proxy)
        let large = try call(sending, endsStream: false)
        try sending.send(.data(String(repeating: "x", count: 2000), stream: large))
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 400ms}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let silent = try call(client, endsStream: true)
        for (answer, status, key) in [
            (try sending.answer(on: large), "8", "body_bytes"),
            (try client.answer(on: silent), "4", "stream_idle"),
        ] {
            #expect(answer.hasEnd && answer.text == "part" && answer.trailers["grpc-status"] == status)
            #expect(answer.trailers["grpc-message"]?.contains(key) == true, "\(answer.trailers)")
        }
        try sidecar.bearerd.logLine("the line of the call that fell silent") {
            $0["path"] == "/h2/call" && $0["status"] == "200" && $0["grpc_status"] == "4"
                && $0["code"] == "truncated"
        }
        try upstream.stream("the end of both upstream") { $0.resetCode == 0x8 }
        withExtendedLifetime(limited) {}
    }

    @Test func `cut an answer whose client takes nothing, or that has a declared length`() throws {
        let upstream = try beginning([("content-length", "100")])
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 400ms}")
        let declaring = try HTTP2Client(to: sidecar.bearerd.proxy)
        let answer = try declaring.answer(on: call(declaring, endsStream: true))
        #expect(!answer.hasEnd && answer.resetCode == 0x2)
        // Its windows are shut from the beginning.
        let shut = try HTTP2Client(to: sidecar.bearerd.proxy, settings: [(4, 0)])
        let waiting = try shut.begin("POST", "/h2/call", Self.call, endsStream: false)
        #expect(try shut.answer(on: waiting).resetCode == 0x8)
    }

    @Test func `blame the side that owes content, where both are silent`() throws {
        let upstream = try beginning()
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 400ms}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let open = try (0..<20).map { _ in try call(client, endsStream: false) }
        for call in open {
            let answer = try client.answer(on: call)
            #expect(answer.trailers["grpc-status"] == "4")
            #expect(answer.trailers["grpc-message"]?.contains("Nothing of the body") == true)
        }
        let failures = "bearerd_upstream_failures_total"
        #expect(try sidecar.metrics().sum(failures) == 0)
        _ = try client.answer(on: call(client, endsStream: true))
        try eventually("the upstream's failure") { try sidecar.metrics().sum(failures) == 1 }
    }

    @Test(arguments: [("", "12", "route_gone"), ("methods: [GET]", "7", "access_gone")])
    func `end a call whose route a reload takes away, or the access to it`(
        rules: String, status: String, code: String
    ) throws {
        let upstream = try beginning()
        let top = "shutdown: {stream_close_delay: 50ms}"
        let sidecar = try HTTP2Route.sidecar(upstream, top: top)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let calls = try [true, false].map { try call(client, endsStream: $0) }
        let route =
            "- {path: /h2, upstream: '\(upstream.url)', upstream_protocol: h2, identity: default, \(rules)}"
        try sidecar.reload(
            to: .init(top: "workers: 1\n\(top)", moreRoutes: rules.isEmpty ? "" : route))
        for call in calls {
            let answer = try client.answer(on: call)
            #expect(answer.hasEnd && answer.trailers["grpc-status"] == status, "\(answer)")
            #expect(answer.trailers["grpc-message"]?.contains("eload") == true)
        }
        try sidecar.bearerd.logLine("the call's line") {
            $0["path"] == "/h2/call" && $0["code"] == code && $0["grpc_status"] == status
        }
    }

    @Test func `end what a drain does not wait for any longer`() throws {
        let upstream = try beginning()
        let sidecar = try HTTP2Route.sidecar(upstream, top: "shutdown: {grace: 300ms}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try call(client, endsStream: false)
        sidecar.bearerd.process.signal(15)
        let answer = try client.answer(on: call)
        #expect(answer.hasEnd && answer.trailers["grpc-status"] == "14", "\(answer)")
    }
}
