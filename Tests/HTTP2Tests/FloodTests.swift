// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What costs a client nothing and a server something ends the connection, and what honest clients send does not.
@Suite struct `Floods of HTTP2 frames` {
    private static let calm: UInt32 = 0xB

    private static let floods: [(String, @Sendable (UInt32) -> [HTTP2Frame])] = [
        ("PING", { _ in [HTTP2Frame(.ping, Array(repeating: 0, count: 8))] }),
        ("SETTINGS", { _ in [.settings()] }),
        ("empty SETTINGS with values", { _ in [.settings([(4, 65_535)])] }),
        ("WINDOW_UPDATE", { _ in [.windowUpdate(1)] }),
        ("PRIORITY", { number in [HTTP2Frame(.priority, stream: number * 2 + 1, [0, 0, 0, 0, 15])] }),
        (
            "PING that answers none",
            { _ in [HTTP2Frame(.ping, flags: 0x1, Array(repeating: 0, count: 8))] }
        ),
        ("unknown frames", { _ in [HTTP2Frame(type: 0x77)] }),
        (
            "rapid resets",
            { number in
                [.head(FramePeer.get, stream: number * 2 + 1), .reset(number * 2 + 1)]
            }
        ),
        (
            "resets that are made by a window beyond its bound",
            { number in
                [
                    .head(FramePeer.get, stream: number * 2 + 1),
                    .windowUpdate(0x7FFF_FFFF, stream: number * 2 + 1),
                ]
            }
        ),
        (
            "resets that are made by malformed heads",
            { number in
                [.head(FramePeer.get + [("connection", "x")], stream: number * 2 + 1)]
            }
        ),
    ]

    @Test(arguments: floods.indices)
    func `a flood ends the connection, told by ENHANCE_YOUR_CALM`(index: Int) throws {
        let (name, frames) = Self.floods[index]
        let peer = try #require(FramePeer())
        var code: UInt32?
        for number in 0..<UInt32(5000) where code == nil {
            peer.send(frames(number))
            code = peer.goawayCode()
        }
        #expect(code == Self.calm, "\(name)")
        #expect(peer.session.isOver, "\(name)")
    }

    /// More streams than a table for the permitted ones would hold, in one read and before our SETTINGS are acknowledged.
    @Test(arguments: [1, 100, 1000], [true, false])
    func `a flood of unended heads in one read ends the connection`(limit: Int, isWellFormed: Bool) throws {
        var limits = HTTP2Limits()
        limits.streams = limit
        let peer = try #require(FramePeer(limits: limits, isGreeted: false))
        let heads = (0..<6000).map { number in
            HTTP2Frame.head(
                isWellFormed ? FramePeer.post : [], stream: UInt32(2 * number + 1), endsStream: false)
        }
        peer.send(bytes: HTTP2Frame.preface + ([.settings()] + heads).flatMap(\.bytes))
        #expect(peer.goawayCode() == Self.calm)
        #expect(peer.session.isOver)
    }

    @Test func `empty DATA without an end is a flood`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for _ in 0..<1000 { peer.send(HTTP2Frame(.data, stream: 1)) }
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `a stream that the client has ended takes nothing more`() throws {
        for end in [
            [HTTP2Frame.head(FramePeer.post, stream: 1, endsStream: false), .reset(1)],
            [HTTP2Frame.head(FramePeer.get, stream: 1)],
        ] {
            for late in [HTTP2Frame(.data, stream: 1), .data("x", stream: 1), .head([("x", "y")], stream: 1)]
            {
                let peer = try #require(FramePeer())
                peer.send(end + [late])
                #expect(peer.goawayCode() == HTTP2ErrorCode.streamClosed.rawValue)
            }
        }
    }

    @Test func `nothing but CONTINUATION comes inside a head, whatever may come on its stream`() throws {
        let block = HPACK.encode(FramePeer.get)
        let ended = HTTP2Frame(.headers, flags: HTTP2Frame.endStream, stream: 1, block)
        let next = HTTP2Frame(.headers, flags: HTTP2Frame.endStream, stream: 3, block)
        for frames in [
            [ended, .data("x", stream: 1)], [ended, .head([("x", "y")], stream: 1)],
            [.head(FramePeer.get, stream: 1), next, .head([("x", "y")], stream: 1)],
            [.head(FramePeer.get, stream: 1), next, .data("x", stream: 1)],
            [ended, HTTP2Frame(.ping, Array(repeating: 0, count: 8))], [ended, HTTP2Frame(type: 0x77)],
        ] {
            for isWhole in [true, false] {
                let peer = try #require(FramePeer())
                if isWhole { peer.send(frames) } else { for frame in frames { peer.send(frame) } }
                #expect(peer.goawayCode() == HTTP2ErrorCode.protocolError.rawValue)
            }
        }
    }

    @Test func `a stream below one that was begun cannot begin any more`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.get, stream: 1), .head(FramePeer.get, stream: 7))
        peer.send(.head(FramePeer.get, stream: 5))
        #expect(peer.goawayCode() == HTTP2ErrorCode.protocolError.rawValue)
    }

    @Test func `PRIORITY belongs to a stream`() throws {
        let peer = try #require(FramePeer())
        peer.send(HTTP2Frame(.priority, stream: 0, [0, 0, 0, 0, 15]))
        #expect(peer.goawayCode() == HTTP2ErrorCode.protocolError.rawValue)
    }

    @Test func `what comes late on a stream that we have reset is forgiven, and without end a flood`() throws
    {
        for late in [HTTP2Frame(.data, stream: 1, [0]), HTTP2Frame(.data, stream: 1)] {
            let peer = try #require(FramePeer())
            peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
            let stream = try #require(peer.streams[1])
            peer.session.reset(stream, .cancel)
            #expect(peer.resetCode() == HTTP2ErrorCode.cancel.rawValue)
            for _ in 0..<50 { peer.send(late) }
            #expect(peer.session.failure == nil)
            for _ in 0..<40_000 where peer.session.failure == nil { peer.send(late) }
            #expect(peer.goawayCode() == Self.calm)
        }
    }

    @Test func `the rest of a head that comes late counts as much as its beginning`() throws {
        let peer = try #require(FramePeer())
        let rest = HTTP2Frame(.continuation, stream: 1, Array(repeating: 0x82, count: 16 * 1024))
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        peer.session.reset(try #require(peer.streams[1]), .cancel)
        #expect(peer.resetCode() == HTTP2ErrorCode.cancel.rawValue)
        for _ in 0..<200 where peer.session.failure == nil {
            peer.send(HTTP2Frame(.headers, stream: 1, HPACK.encode(FramePeer.get)), rest, rest)
            peer.send(HTTP2Frame(.continuation, flags: 0x4, stream: 1))
        }
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `streams that never end are forgotten, and those after them are not`() throws {
        let peer = try #require(FramePeer())
        for number in 0..<UInt32(900) {
            peer.send(.head(FramePeer.post, stream: number * 2 + 1, endsStream: false))
            peer.session.reset(try #require(peer.streams[Int32(number) * 2 + 1]), .cancel)
            #expect(peer.goawayCode() == nil)
        }
        peer.send(.data("x", stream: 1), .data("x", stream: 1799, endsStream: true))
        #expect(peer.session.failure == nil)
        peer.send(.data("x", stream: 1799))
        #expect(peer.goawayCode() == HTTP2ErrorCode.streamClosed.rawValue)
    }

    @Test func `a stream that lives long is not forgotten among many that were ended`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for number in 1...UInt32(900) {
            peer.send(.head(FramePeer.post, stream: number * 2 + 1, endsStream: false))
            peer.session.reset(try #require(peer.streams[Int32(number) * 2 + 1]), .noError)
            _ = peer.takeFrames()
        }
        for _ in 0..<5000 { peer.send(.data("x", stream: 1)) }
        #expect(peer.session.failure == nil && peer.streams[1]?.receivedCount == 5000)
    }

    @Test func `DATA of nothing but padding is as empty`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for _ in 0..<1000 { peer.send(HTTP2Frame(.data, flags: HTTP2Frame.padded, stream: 1, [2, 0, 0])) }
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `CONTINUATION without end ends the connection`() throws {
        let peer = try #require(FramePeer())
        peer.send(HTTP2Frame(.headers, stream: 1, HPACK.encode(FramePeer.get)))
        for _ in 0..<100 { peer.send(HTTP2Frame(.continuation, stream: 1)) }
        #expect(peer.session.failure == .enhanceYourCalm && peer.goawayCode() == Self.calm)
    }

    @Test func `a small block that decodes to megabytes ends the connection`() throws {
        let peer = try #require(FramePeer())
        let entry = HPACK.indexed("x", String(repeating: "y", count: 4000))
        // The newest entry of the table (RFC 7541 §6.1).
        let references = [UInt8](repeating: 0xBE, count: 4000)
        peer.send(
            HTTP2Frame(
                .headers, flags: HTTP2Frame.endHeaders, stream: 1,
                HPACK.encode(FramePeer.get) + entry + references))
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `a PING a second is nobody's flood`() throws {
        let peer = try #require(FramePeer())
        for _ in 0..<5000 {
            peer.now += .seconds(1)
            peer.send(HTTP2Frame(.ping, Array(repeating: 0, count: 8)))
            #expect(peer.takeFrames().count == 1)
        }
        #expect(peer.session.failure == nil)
    }

    @Test func `whoever takes a large answer may open its window often`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(.init(status: 200), hasContent: true, on: stream)
        let piece = [UInt8](repeating: 0, count: 16_384)
        for _ in 0..<2000 {
            peer.session.send(piece.span, on: stream)
            let count = peer.takeFrames().reduce(0) { $0 + ($1.kind == .data ? $1.payload.count : 0) }
            peer.send(.windowUpdate(UInt32(count)), .windowUpdate(UInt32(count), stream: 1))
        }
        #expect(peer.session.failure == nil && stream.sentCount == 2000 * 16_384)
    }

    /// Go's server sends two frames for each read of a request's content.
    @Test func `whoever reads in small pieces may open windows as often`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(.init(status: 200), hasContent: true, on: stream)
        let piece = [UInt8](repeating: 0, count: 16_384)
        let read = HTTP2Frame.windowUpdate(4).bytes + HTTP2Frame.windowUpdate(4, stream: 1).bytes
        for _ in 0..<4 {
            peer.session.send(piece.span, on: stream)
            _ = peer.takeFrames()
            peer.send(bytes: (0..<piece.count / 4).flatMap { _ in read })
        }
        #expect(peer.session.failure == nil && stream.sentCount == 4 * 16_384)
        peer.send(bytes: (0..<3000).flatMap { _ in read })
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `many small frames of one window may come late`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        peer.session.reset(try #require(peer.streams[1]), .cancel)
        for _ in 0..<4000 { peer.send(HTTP2Frame(.data, stream: 1, Array(repeating: 0, count: 15))) }
        #expect(peer.session.failure == nil)
    }

    @Test func `streams beyond the limit are refused until SETTINGS are acknowledged`() throws {
        let peer = try #require(FramePeer(limits: HTTP2Limits(streams: 2), isGreeted: false))
        peer.send(bytes: HTTP2Frame.preface)
        peer.send(.settings())
        for number in 0..<UInt32(3) { peer.send(.head(FramePeer.get, stream: number * 2 + 1)) }
        #expect(peer.resetCode() == 0x7 && peer.session.failure == nil)
        #expect(peer.streams[5]?.hasHead != true)
    }

    @Test func `what is not the preface ends the connection`() throws {
        let peer = try #require(FramePeer(isGreeted: false))
        peer.send(bytes: Array("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".utf8))
        #expect(peer.goawayCode() == 0x1 && peer.session.isOver)
    }

    @Test func `SETTINGS come before the GOAWAY of a connection that fails at once`() throws {
        let server = try #require(FramePeer(isGreeted: false))
        server.send(bytes: HTTP2Frame.preface)
        server.send(.settings(), HTTP2Frame(.priority, stream: 0, [0, 0, 0, 0, 15]))
        #expect(server.takeFrames().filter { $0.kind != .windowUpdate }.map(\.kind) == [.settings, .goaway])
        let client = try #require(FramePeer(.client, isGreeted: false))
        client.send(HTTP2Frame(.priority, stream: 0, [0, 0, 0, 0, 15]))
        let sent = client.session.output
        #expect(sent.starts(with: HTTP2Frame.preface))
        var frames = Array(sent.dropFirst(HTTP2Frame.preface.count))
        #expect(HTTP2Frame.take(from: &frames)?.kind == .settings)
    }

    @Test func `an empty frame, a PRIORITY_UPDATE and a reset for each call are no flood`() throws {
        let peer = try #require(FramePeer())
        for number in 0..<UInt32(2000) {
            let id = number * 2 + 1
            peer.send(
                .head(FramePeer.post, stream: id, endsStream: false), HTTP2Frame(type: 0x10, [0, 0, 0, 1]),
                .data("message", stream: id), HTTP2Frame(.data, stream: id))
            let stream = try #require(
                peer.streams[Int32(id)], "call \(number): \(String(describing: peer.session.failure))")
            peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
            peer.session.send("answer".utf8.span, on: stream)
            _ = peer.takeFrames()
            peer.send(.reset(id))
            try #require(peer.session.failure == nil, "call \(number)")
        }
    }

    @Test func `an upstream may reset each stream that we begin, and no more`() throws {
        let peer = try #require(FramePeer(.client))
        for number in 0..<UInt32(2000) {
            _ = try #require(
                peer.session.request(
                    HTTPRequest(method: .post, target: "/", fields: HTTPFields(("Host", "example.com"))),
                    scheme: .http, hasContent: true, takesTrailers: false))
            _ = peer.takeFrames()
            peer.send(.head([(":status", "400")], stream: number * 2 + 1), .reset(number * 2 + 1, code: 0))
            try #require(peer.session.failure == nil, "stream \(number)")
        }
        for _ in 0..<2000 where peer.session.failure == nil { peer.send(.reset(1)) }
        #expect(peer.session.failure == .enhanceYourCalm)
    }

    private func request(_ peer: FramePeer) throws -> HTTP2Stream {
        try #require(
            peer.session.request(
                HTTPRequest(method: .post, target: "/", fields: HTTPFields(("Host", "example.com"))),
                scheme: .http, hasContent: false, takesTrailers: false))
    }

    @Test func `an upstream whose calls are cancelled may not have known, call after call`() throws {
        let peer = try #require(FramePeer(.client))
        let piece = [UInt8](repeating: 0, count: 16_000)
        for number in 0..<3000 {
            let stream = try request(peer)
            let id = UInt32(stream.id)
            _ = peer.takeFrames()
            peer.session.reset(stream, .cancel)
            #expect(peer.resetCode() == HTTP2ErrorCode.cancel.rawValue)
            peer.send(.head([(":status", "200")], stream: id, endsStream: false))
            for _ in 0..<4 { peer.send(HTTP2Frame(.data, stream: id, piece)) }
            peer.send(number % 2 == 0 ? .reset(id, code: 8) : .head([("grpc-status", "1")], stream: id))
            try #require(peer.session.failure == nil, "call \(number)")
        }
    }

    @Test(arguments: [1, 16_000])
    func `content without end on a stream that we have reset is a flood, whoever sends it`(size: Int) throws {
        let piece = [UInt8](repeating: 0, count: size)
        for role in [HTTP2Session.Role.client, .server] {
            let peer = try #require(FramePeer(role))
            if role == .server { peer.send(.head(FramePeer.post, stream: 1, endsStream: false)) }
            let stream = role == .server ? try #require(peer.streams[1]) : try request(peer)
            _ = peer.takeFrames()
            peer.session.reset(stream, .cancel)
            _ = peer.takeFrames()
            var sent = 0
            while sent < 40_000, peer.session.failure == nil {
                peer.send(HTTP2Frame(.data, stream: 1, piece))
                sent += 1
            }
            #expect(peer.goawayCode() == Self.calm)
            #expect(sent * size < 1 << 20)
        }
    }

    @Test func `frames behind the end of an answer are late, however many come at once`() throws {
        for isWhole in [true, false] {
            let peer = try #require(FramePeer(.client))
            _ = try request(peer)
            _ = peer.takeFrames()
            let end = HTTP2Frame.head([(":status", "200")], stream: 1)
            let frames = [end] + Array(repeating: HTTP2Frame(.data, stream: 1, [0]), count: 4000)
            if isWhole { peer.send(frames) } else { for frame in frames { peer.send(frame) } }
            #expect(peer.goawayCode() == Self.calm)
        }
    }

    @Test func `a budget is as full for frames that come at once as for those that come alone`() throws {
        for isWhole in [true, false] {
            let peer = try #require(FramePeer())
            let head = HTTP2Frame.head(FramePeer.post, stream: 1, endsStream: false)
            // The head earns two more than the budget holds, and so none.
            let frames = [head] + Array(repeating: HTTP2Frame(.data, stream: 1), count: 100)
            if isWhole { peer.send(frames) } else { for frame in frames { peer.send(frame) } }
            #expect(peer.session.failure == nil)
            peer.send(HTTP2Frame(.data, stream: 1))
            #expect(peer.goawayCode() == Self.calm)
        }
    }
}
