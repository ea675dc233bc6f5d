// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Heads and farewells that cost a client little and a server much end the connection, however each of them is answered.
@Suite struct `Floods of HTTP2 heads and farewells` {
    private let peer: FramePeer

    init() throws { peer = try #require(FramePeer()) }

    /// Answers a stream with its end, and lets go of it.
    private func answer(_ id: UInt32, _ status: Int = 200) throws {
        let stream = try #require(peer.streams[Int32(id)])
        peer.session.respond(HTTPResponse(status: status), hasContent: false, on: stream)
        try #require(peer.goawayCode() == nil)
    }

    /// A request in so many CONTINUATION frames behind HEADERS, each of which has `size` bytes of it.
    private func head(in count: Int, of size: Int, on stream: UInt32) -> [HTTP2Frame] {
        let rest = (0..<count).map { number in
            HTTP2Frame(
                .continuation, flags: number == count - 1 ? HTTP2Frame.endHeaders : 0, stream: stream,
                size == 0 ? [] : HPACK.encode([("x", String(repeating: "y", count: size))]))
        }
        return [
            HTTP2Frame(
                .headers, flags: HTTP2Frame.endStream, stream: stream, HPACK.encode(FramePeer.get))
        ] + rest
    }

    @Test func `CONTINUATION with nothing in it, head after head, is one`() throws {
        var count: UInt32 = 0
        while count < 100, peer.session.failure == nil {
            peer.send(head(in: 10, of: 0, on: count * 2 + 1))
            count += 1
            if peer.session.failure == nil { try answer(count * 2 - 1) }
        }
        #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        #expect(count > 20)
    }

    @Test(arguments: [(1, 0), (3, 2000)])
    func `CONTINUATION for what is large, or once a head, is none`(count: Int, size: Int) throws {
        for number in 0..<UInt32(1000) {
            peer.send(head(in: count, of: size, on: number * 2 + 1))
            try answer(number * 2 + 1)
        }
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [1 << 14, 1 << 14 + 1])
    func `CONTINUATION may be as large as any frame, and no larger`(size: Int) throws {
        // Six bytes are the field's name and the two lengths.
        let block = HPACK.encode([("x", String(repeating: "y", count: size - 6))])
        try #require(block.count == size)
        let head = head(in: 0, of: 0, on: 1)
        peer.send(head + [HTTP2Frame(.continuation, flags: HTTP2Frame.endHeaders, stream: 1, block)])
        let code = size > 1 << 14 ? HTTP2ErrorCode.frameSizeError.rawValue : nil
        #expect(peer.goawayCode() == code)
    }

    @Test func `a larger limit for heads holds for open connections, and so do more CONTINUATION frames`()
        throws
    {
        let many = head(in: 30, of: 8000, on: 1)
        peer.session.use(HTTP2Limits(head: HeadLimits(headerBytes: 512 * 1024)))
        peer.send(many)
        try answer(1)
        peer.session.use(HTTP2Limits())
        peer.send(head(in: 50, of: 8000, on: 3))
        #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    }

    @Test func `heads behind our GOAWAY are one, and some that had not heard of it are none`() throws {
        let large = HPACK.encode(FramePeer.get + [("x", String(repeating: "y", count: 16_000))])
        peer.send(.head(FramePeer.get, stream: 1))
        peer.session.shutDown()
        #expect(peer.takeFrames().map(\.kind) == [.goaway])
        for number in 1...UInt32(50) { peer.send(.head(FramePeer.get, stream: number * 2 + 1)) }
        #expect(peer.session.failure == nil && peer.streams.count == 1)
        var count: UInt32 = 51
        while count < 1000, peer.session.failure == nil {
            peer.send(
                HTTP2Frame(
                    .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: count * 2 + 1,
                    large))
            count += 1
        }
        #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue && count < 100)
    }

    @Test func `heads behind our GOAWAY that come slowly leave nothing behind, whatever their number`() throws
    {
        peer.send(.head(FramePeer.get, stream: 1))
        peer.session.shutDown()
        #expect(peer.takeFrames().map(\.kind) == [.goaway])
        for number in 1...UInt32(6000) {
            peer.now += .milliseconds(20)
            let stream = number * 2 + 1
            peer.send(.head(FramePeer.post, stream: stream, endsStream: false))
            peer.send(.data("x", stream: stream))
        }
        #expect(peer.session.failure == nil && peer.streams.count == 1)
        try answer(1, 200)
        #expect(peer.session.failure == nil)
    }

    @Test func `GOAWAY beside a stream that goes on, again and again, is one`() throws {
        peer.send(.head(FramePeer.get, stream: 1))
        let goaway = HTTP2Frame(.goaway, Array(repeating: 0, count: 8))
        peer.send(goaway, goaway)
        #expect(peer.session.failure == nil)
        for _ in 0..<1000 where peer.session.failure == nil { peer.send(goaway) }
        #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
    }

    @Test func `heads just below a bomb are one, and the first hundred are answered`() throws {
        let get = HPACK.encode(FramePeer.get)
        let entry = HPACK.indexed("x", String(repeating: "y", count: 4000))
        // The newest entry of the table (RFC 7541 §6.1).
        let references = [UInt8](repeating: 0xBE, count: 60)
        var count: UInt32 = 0
        while count < 1000, peer.session.failure == nil {
            let stream = count * 2 + 1
            peer.send(
                HTTP2Frame(
                    .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: stream,
                    get + (count == 0 ? entry : []) + references))
            guard peer.session.failure == nil else { break }
            #expect(peer.streams[Int32(stream)]?.fault == .headTooLarge)
            try answer(stream, 431)
            count += 1
        }
        #expect(
            100...110 ~= count && peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue, "\(count)")
    }

    @Test func `heads that are a little too large are none`() throws {
        let head = HPACK.encode(FramePeer.get + [("cookie", String(repeating: "c", count: 9000))])
        let small = try #require(FramePeer(limits: HTTP2Limits(head: HeadLimits(headerBytes: 8192))))
        for number in 0..<UInt32(1000) {
            let stream = number * 2 + 1
            small.send(
                HTTP2Frame(
                    .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: stream, head))
            let answered = try #require(small.streams[Int32(stream)])
            #expect(answered.fault == .headTooLarge)
            small.session.respond(HTTPResponse(status: 431), hasContent: false, on: answered)
            _ = small.takeFrames()
        }
        #expect(small.session.failure == nil)
    }
}
