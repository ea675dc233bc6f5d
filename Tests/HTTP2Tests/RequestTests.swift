// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What a server understands of the heads and the content of a client (RFC 9113 §8).
@Suite struct `Requests in HTTP2 frames` {
    private let peer: FramePeer

    init() throws { peer = try #require(FramePeer()) }

    @Test func `a head has its target, and its authority as the first field Host`() throws {
        peer.send(.head(FramePeer.get + [("x-a", "1"), ("x-a", "2")], stream: 1))
        let stream = try #require(peer.streams[1])
        #expect(stream.hasHead && stream.hasEnd && stream.fault == nil)
        #expect(stream.request.method == .get && stream.request.target == "/a?b")
        #expect(stream.request.version == .http2)
        #expect(stream.request.fields[.host] == "example.com")
        #expect(stream.request.fields.values(of: try #require(HTTPFields.Name("x-a"))) == ["1", "2"])
    }

    @Test func `a head of many large fields arrives whole, and nothing of it in the next one`() throws {
        let values = (0..<100).map { String(repeating: "v", count: 90) + String($0) }
        peer.send(.head(FramePeer.get + values.map { ("x-many", $0) }, stream: 1))
        peer.send(.head(FramePeer.get + [("x-few", "1")], stream: 3))
        let name = try #require(HTTPFields.Name("x-many"))
        let (first, second) = (try #require(peer.streams[1]), try #require(peer.streams[3]))
        #expect(first.fault == nil && second.fault == nil)
        #expect(first.request.fields.values(of: name) == values)
        #expect(first.request.fields[.host] == "example.com")
        #expect(second.request.fields.count == 2 && !second.request.fields.contains(name))
    }

    @Test func `a scheme of any length is passed over`() throws {
        for length in [1, 18, 19, 20, 1000] {
            let peer = try #require(FramePeer())
            let scheme = String(repeating: "z", count: length)
            peer.send(
                .head(
                    [
                        (":method", "GET"), (":scheme", scheme), (":authority", "example.com"),
                        (":path", "/a"),
                    ],
                    stream: 1))
            let stream = try #require(peer.streams[1])
            #expect(stream.hasHead && stream.hasEnd && stream.fault == nil)
            #expect(stream.request.target == "/a")
        }
    }

    @Test func `crumbs of a cookie become one field`() throws {
        peer.send(.head(FramePeer.get + [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")], stream: 1))
        #expect(peer.streams[1]?.request.fields.values(of: .cookie) == ["a=1; b=2"])
    }

    @Test func `what no table may hold goes on as such`() throws {
        let block =
            HPACK.encode(FramePeer.get + [("x-open", "1")]) + HPACK.neverIndexed("x-token", "not-a-real-one")
            + HPACK.neverIndexed("cookie", "a=1")
        peer.send(HTTP2Frame(.headers, flags: 0x5, stream: 1, block))
        var request = try #require(peer.streams[1]?.request)
        let sender = try #require(FramePeer(.client))
        let sent = HTTP2Stream()
        let isBegun = sender.session.request(
            &request, on: sent, scheme: .http, hasContent: false, takesTrailers: false, connectProtocol: nil)
        #expect(isBegun)
        let head = try #require(sender.takeFrames().first { $0.kind == .headers })
        #expect(sender.fields(of: head)["x-token"] == "not-a-real-one")
        #expect(sender.reader.neverIndexed.sorted() == [":path", "cookie", "x-token"])
    }

    @Test func `content and trailers come behind the head`() throws {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false), .data("one", stream: 1))
        let stream = try #require(peer.streams[1])
        #expect(stream.hasHead && !stream.hasEnd && stream.readableCount == 3)
        peer.send(.data("two", stream: 1), .head([("x-sum", "6")], stream: 1))
        #expect(stream.hasEnd && peer.content(of: 1) == "onetwo")
        #expect(stream.trailers[try #require(HTTPFields.Name("x-sum"))] == "6")
    }

    @Test(arguments: [
        [("X-Upper", "1")], [("connection", "close")], [("keep-alive", "1")], [("proxy-connection", "x")],
        [("transfer-encoding", "chunked")], [("upgrade", "h2c")], [("te", "gzip")], [("x", "a\r\nb: c")],
        [("x", "a\u{0}b")], [("x", " a")], [(":late", "x")], [("a b", "x")], [(":path", "/again")],
        [("content-length", "1"), ("content-length", "1")], [("content-length", "x")],
    ])
    func `what no message of HTTP2 may have resets the stream, and the connection goes on`(
        fields: [(String, String)]
    ) {
        peer.send(.head(FramePeer.get + fields, stream: 1))
        #expect(peer.streams[1]?.hasHead != true)
        #expect(peer.resetCode() == 0x1)
        peer.send(.head(FramePeer.get, stream: 3))
        #expect(peer.streams[3]?.hasHead == true && peer.session.failure == nil)
    }

    @Test(arguments: [
        [(":method", "GET"), (":scheme", "http"), (":path", "/")],
        [(":scheme", "http"), (":path", "/"), (":authority", "a")],
        [(":method", "GET"), (":path", "/"), (":authority", "a")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/a b")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "http://b/")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "u@a"), (":path", "/")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/"), ("host", "b")],
        [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/#x")],
        [(":method", "G T"), (":scheme", "http"), (":authority", "a"), (":path", "/")],
    ])
    func `a target that two readers could read in two ways is reset or answered as malformed`(
        fields: [(String, String)]
    ) {
        peer.send(.head(fields, stream: 1))
        let isFaulty = peer.streams[1].map { $0.fault?.status == 400 && $0.hasHead } ?? false
        #expect(isFaulty || peer.resetCode() == 0x1)
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [
        ("u@a", "/", nil, "an authority that is no host and port"),
        ("a:x", "/", nil, "an authority that is no host and port"),
        ("a", "/", "b", "the target's authority differs from Host"),
        ("a", "/#x", nil, "a fragment (#) in the target"),
    ])
    func `the rule that a target or its host breaks is named`(
        authority: String, path: String, host: String?, rule: String
    ) {
        let target = [
            (":method", "GET"), (":scheme", "http"), (":authority", authority), (":path", path),
        ]
        peer.send(.head(target + (host.map { [("host", $0)] } ?? []), stream: 1))
        #expect(peer.streams[1]?.fault == .breaking(rule: rule))
    }

    @Test func `Host beside an authority must agree with it, whatever its case`() {
        peer.send(.head(FramePeer.get + [("host", "EXAMPLE.com")], stream: 1))
        #expect(peer.streams[1]?.fault == nil)
        #expect(peer.streams[1]?.request.fields.values(of: .host) == ["example.com"])
    }

    @Test(arguments: [
        ("https", "", ":443", true), ("https", ":443", "", true), ("https", "", ":80", false),
        ("http", "", ":80", true), ("http", "", ":443", false),
    ])
    func `a port that the scheme has by itself may be said`(
        scheme: String, port: String, other: String, agrees: Bool
    ) {
        peer.send(
            .head(
                [
                    (":method", "GET"), (":scheme", scheme), (":authority", "example.com\(port)"),
                    (":path", "/"), ("host", "example.com\(other)"),
                ], stream: 1))
        #expect((peer.streams[1]?.fault == nil) == agrees)
    }

    @Test func `the last byte of a declared length waits for the end of the stream`() throws {
        peer.send(.head(FramePeer.post + [("content-length", "5")], stream: 1, endsStream: false))
        peer.send(.data("hello", stream: 1))
        let stream = try #require(peer.streams[1])
        #expect(stream.readableCount == 4)
        peer.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: 1))
        #expect(stream.readableCount == 5)
    }

    @Test func `more content than declared resets the stream before all that is declared is handed out`()
        throws
    {
        peer.send(.head(FramePeer.post + [("content-length", "5")], stream: 1, endsStream: false))
        peer.send(.data("hello", stream: 1))
        let stream = try #require(peer.streams[1])
        #expect(stream.readableCount == 4)
        peer.send(.data("!", stream: 1))
        #expect(peer.resetCode() == 0x1)
        #expect(!stream.hasEnd && stream.resetCode != nil)
    }

    @Test func `a request that declares no content is handed out at its end alone`() throws {
        peer.send(.head(FramePeer.post + [("content-length", "0")], stream: 1, endsStream: false))
        #expect(peer.streams[1]?.hasHead != true)
        peer.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: 1))
        #expect(peer.streams[1]?.hasHead == true)
    }

    @Test func `a head beyond the limit is answered, and the connection goes on`() {
        peer.send(.head(FramePeer.get, stream: 1))
        let large = [("x", String(repeating: "y", count: 16_000))]
        let block = HPACK.encode(FramePeer.get + large + large + large + large + large)
        let frames = stride(from: 0, to: block.count, by: 16_000).map { start in
            HTTP2Frame(
                start == 0 ? .headers : .continuation,
                flags: (start == 0 ? HTTP2Frame.endStream : 0)
                    | (start + 16_000 >= block.count ? HTTP2Frame.endHeaders : 0),
                stream: 3, Array(block[start..<min(block.count, start + 16_000)]))
        }
        peer.send(frames)
        #expect(peer.streams[3]?.fault == .headTooLarge && peer.session.failure == nil)
    }

    @Test func `a path beyond the limit is answered as such`() {
        let path = "/" + String(repeating: "a", count: 16_384)
        let block = HPACK.encode(FramePeer.get.prefix(3) + [(":path", path)])
        peer.send(
            HTTP2Frame(.headers, flags: HTTP2Frame.endStream, stream: 1, Array(block.prefix(16_000))),
            HTTP2Frame(
                .continuation, flags: HTTP2Frame.endHeaders, stream: 1, Array(block.dropFirst(16_000))))
        #expect(peer.streams[1]?.fault == .targetTooLong)
    }

    @Test func `extended CONNECT is offered, and names its protocol`() {
        peer.send(
            .head(
                [
                    (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
                    (":authority", "example.com"), (":path", "/chat"),
                ], stream: 1, endsStream: false))
        #expect(peer.streams[1]?.connectProtocol == "websocket")
        #expect(peer.streams[1]?.request.target == "/chat" && peer.streams[1]?.fault == nil)
    }
}
