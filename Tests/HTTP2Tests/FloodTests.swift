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

    @Test(arguments: 0..<9)
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

    @Test func `empty DATA without an end is a flood`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for _ in 0..<1000 { peer.send(HTTP2Frame(.data, stream: 1)) }
        #expect(peer.goawayCode() == Self.calm)
    }

    @Test func `empty DATA is a flood on a stream that is over, too`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false), .reset(1))
        for _ in 0..<1000 { peer.send(HTTP2Frame(.data, stream: 1)) }
        #expect(peer.goawayCode() == Self.calm)
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
}
