// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What `grpc-status: 16` of an upstream says of the token.
@Suite(.blocking) struct `A gRPC call whose token is refused` {
    private static let fields = [
        ("Content-Type", "application/grpc"), ("TE", "trailers"), ("Connection", "TE"),
    ]

    private func answer(
        _ peer: HTTP2Upstream.Peer, _ stream: HTTP2Upstream.Stream, unless token: String?
    ) throws {
        guard stream["authorization"] == "Bearer \(token ?? "")" else {
            return try peer.answer(
                stream.id, 200, [("content-type", "application/grpc"), ("grpc-status", "16")])
        }
        try Self.send(stream.text, endingWith: "0", on: stream, by: peer)
    }

    /// Sends a message, and behind it the call's status.
    private static func send(
        _ text: String, endingWith status: String, on stream: HTTP2Upstream.Stream,
        by peer: HTTP2Upstream.Peer
    ) throws {
        try peer.send(
            .head(
                [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                endsStream: false), .data(text, stream: stream.id),
            .head([("grpc-status", status)], stream: stream.id))
    }

    @Test func `is sent once more with another token, where the answer is nothing but that`() throws {
        let good = Monitor<String?>(nil)
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try answer(peer, stream, unless: good.withLock { $0 })
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        sidecar.provider.always { _, provider in
            let tokens = provider.tokens()
            good.withLock { $0 = provider.accessTokens.count >= 2 ? provider.accessTokens.last : nil }
            return tokens
        }
        let called = try sidecar.client().request("POST", "/h2/call", Self.fields, body: "message")
        #expect(called.status == 200 && called.text == "message" && called.trailers.map(\.value) == ["0"])
        #expect(upstream.streams.map(\.text) == ["message", "message"])
        #expect(sidecar.provider.accessTokens.count == 2)
    }

    @Test func `is sent once more while its messages are still coming, and the rest of them follow`() throws {
        let good = Monitor<String?>(nil)
        let upstream = try HTTP2Upstream { peer, event, stream in
            if event == .content, stream["authorization"] != "Bearer \(good.withLock { $0 } ?? "")" {
                return try peer.answer(
                    stream.id, 200, [("content-type", "application/grpc"), ("grpc-status", "16")])
            }
            if stream.hasEnd { try answer(peer, stream, unless: good.withLock { $0 }) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        sidecar.provider.always { _, provider in
            let tokens = provider.tokens()
            good.withLock { $0 = provider.accessTokens.count >= 2 ? provider.accessTokens.last : nil }
            return tokens
        }
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")], endsStream: false)
        try client.send(.data("first ", stream: call))
        try upstream.stream("the repetition") { $0.id == 3 && $0.text == "first " }
        try client.send(.data("second", stream: call, endsStream: true))
        let called = try client.answer(on: call)
        #expect(called.text == "first second" && called.trailers == ["grpc-status": "0"])
        #expect(upstream.streams.map(\.text) == ["first ", "first second"])
        #expect(sidecar.provider.accessTokens.count == 2)
    }

    @Test func `at the end of its messages marks the token alone, and the next call has another`() throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            if stream.hasEnd { try Self.send("one", endingWith: "16", on: stream, by: peer) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let answer = try sidecar.client().request("POST", "/h2/call", Self.fields, body: "message")
        #expect(answer.text == "one" && answer.trailers.map(\.value) == ["16"])
        try eventually("the mark") { try sidecar.state() == "authorization_error" }
        #expect(upstream.streams.count == 1 && sidecar.provider.accessTokens.count == 1)
    }

    @Test func `marks the token when the trailers come, though the client goes on`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if event == .head { try Self.send("one", endingWith: "16", on: stream, by: peer) }
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")], endsStream: false)
        try eventually("the mark") { try sidecar.state() == "authorization_error" }
        let answer = try client.answer(on: call)
        #expect(answer.text == "one" && answer.trailers == ["grpc-status": "16"])
        #expect(upstream.streams.count == 1 && sidecar.provider.accessTokens.count == 1)
    }

    @Test func `behind a declared length has its status told`() throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd else { return }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc"), ("content-length", "3")],
                    stream: stream.id, endsStream: false), .data("one", stream: stream.id),
                .head([("grpc-status", "16")], stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let answer = try HTTP2Client(to: sidecar.bearerd.proxy).request(
            "POST", "/h2/call", [("content-type", "application/grpc"), ("te", "trailers")], body: "message")
        #expect(answer.text == "one" && answer.trailers == ["grpc-status": "16"])
        try eventually("the mark") { try sidecar.state() == "authorization_error" }
    }

    @Test func `behind a head that came alone marks the token, and the next call has another`() throws {
        let peers = Monitor<[HTTP2Upstream.Peer]>([])
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            peers.withLock { $0.append(peer) }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                    endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        try client.send("POST", "/h2/call", Self.fields + [("Content-Length", "0")])
        #expect(try client.wire.readHead()?.status == 200)
        try #require(peers.withLock { $0.first }).send(.head([("grpc-status", "16")], stream: 1))
        #expect(try client.wire.readChunk() == nil)
        #expect(try client.wire.readTrailers().map(\.value) == ["16"])
        try eventually("the mark") { try sidecar.state() == "authorization_error" }
        #expect(upstream.streams.count == 1 && sidecar.provider.accessTokens.count == 1)
    }

    @Test(arguments: ["14", "16"])
    func `or whose upstream is away, again and again, is told as a route that fails`(status: String) throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.send(
                .head(
                    [(":status", "200"), ("content-type", "application/grpc")], stream: stream.id,
                    endsStream: false), .data("one", stream: stream.id),
                .head([("grpc-status", status)], stream: stream.id))
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let client = try sidecar.client()
        for _ in 0..<10 {
            #expect(try client.request("POST", "/h2/call", Self.fields, body: "x").status == 200)
        }
        let warning = try sidecar.bearerd.logLine("the warning") { $0.message == "the route fails" }
        #expect(warning["route"] == "/h2" && warning["reason"]?.contains("grpc-status \(status)") == true)
    }

    @Test func `is no call at all where the request is not of gRPC`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard stream.hasEnd else { return }
            try peer.answer(stream.id, 200, [("grpc-status", "16")])
        }
        let sidecar = try HTTP2Route.sidecar(upstream)
        let answer = try sidecar.client().request(
            "POST", "/h2/", [("Content-Type", "application/grpc-web")], body: "x")
        #expect(answer.status == 200 && answer["grpc-status"] == "16" && upstream.streams.count == 1)
    }

    private static let http1Head = "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n"

    @Test(arguments: [
        "grpc-status: 16\r\nContent-Length: 0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTrailer: grpc-status\r\n\r\n0\r\ngrpc-status: 16\r\n\r\n",
    ])
    func `is sent once more to an upstream of HTTP1, too`(refusal: String) throws {
        let upstream = try RawUpstream { request in
            guard request["Authorization"]?.contains("access-1.") == true else {
                return .raw(
                    Self.http1Head + "Transfer-Encoding: chunked\r\n\r\n"
                        + "3\r\none\r\n0\r\ngrpc-status: 0\r\n\r\n")
            }
            return .raw(Self.http1Head + refusal)
        }
        let sidecar = try Sidecar(upstream: upstream)
        let answer = try HTTP2Client(to: sidecar.bearerd.proxy).request(
            "POST", "/call", [("content-type", "application/grpc"), ("te", "trailers")], body: "message")
        #expect(answer.text == "one" && answer.trailers == ["grpc-status": "0"])
        #expect(upstream.requests.map(\.text) == ["message", "message"])
        #expect(sidecar.provider.accessTokens.count == 2)
    }

    @Test func `at the end of messages over HTTP1 marks the token`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                Self.http1Head + "Transfer-Encoding: chunked\r\n\r\n"
                    + "3\r\none\r\n0\r\ngrpc-status: 16\r\n\r\n")
        }
        let sidecar = try Sidecar(upstream: upstream)
        let answer = try HTTP2Client(to: sidecar.bearerd.proxy).request(
            "POST", "/call", [("content-type", "application/grpc"), ("te", "trailers")], body: "message")
        #expect(answer.text == "one" && answer.trailers == ["grpc-status": "16"])
        try eventually("the mark") { try sidecar.state() == "authorization_error" }
        #expect(upstream.requests.count == 1)
    }
}
