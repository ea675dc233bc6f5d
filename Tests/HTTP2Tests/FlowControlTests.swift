// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Who holds whom back (RFC 9113 §5.2).
@Suite struct `Windows of HTTP2 streams` {
    private let peer: FramePeer

    init() throws { peer = try #require(FramePeer()) }

    private func upload(_ count: Int) {
        var rest = count
        while rest > 0 {
            peer.send(HTTP2Frame(.data, stream: 1, Array(repeating: 0, count: min(rest, 16_384))))
            rest -= 16_384
        }
    }

    @Test func `a stream's window opens by what is consumed, and by nothing else`() throws {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        upload(65_535)
        let stream = try #require(peer.streams[1])
        #expect(stream.keptCount == 65_535)
        #expect(!peer.takeFrames().contains { $0.kind == .windowUpdate && $0.stream == 1 })
        peer.session.consume(65_535, of: stream)
        let opened = peer.takeFrames().filter { $0.kind == .windowUpdate && $0.stream == 1 }
        #expect(opened.map { $0.number() } == [65_535])
    }

    @Test func `a stream that nobody reads keeps no other from its content`() throws {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for number in 0..<UInt32(40) {
            let id = 3 + 2 * number
            peer.send(.head(FramePeer.post, stream: id, endsStream: false))
            upload(id == 3 ? 65_535 : 0)
            for _ in 0..<3 { peer.send(HTTP2Frame(.data, stream: id, Array(repeating: 0, count: 16_384))) }
            _ = peer.takeFrames()
        }
        #expect(peer.session.failure == nil)
        #expect(peer.streams[81]?.keptCount == 3 * 16_384)
    }

    @Test func `whoever sends beyond the window is told so`() {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        upload(65_536 + 16_384)
        let frames = peer.takeFrames()
        #expect(
            frames.contains { ($0.kind == .resetStream || $0.kind == .goaway) && $0.payload.contains(0x3) })
    }

    @Test func `content waits for the peer's window, and trailers for the content`() throws {
        peer.send(.settings([(4, 10)]), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        peer.session.send(Array("0123456789abc".utf8).span, on: stream)
        peer.session.end(stream, trailers: HTTPFields(("grpc-status", "0")))
        let first = peer.takeFrames().filter { $0.stream == 1 }
        #expect(first.map(\.kind) == [.headers, .data] && first.last?.payload.count == 10)
        #expect(stream.unsentCount == 3 && peer.session.window(of: stream) == 0)
        peer.send(.windowUpdate(100, stream: 1))
        let rest = peer.takeFrames()
        #expect(rest.map(\.kind) == [.data, .headers] && rest.last?.has(HTTP2Frame.endStream) == true)
        #expect(stream.hasSentEnd && stream.isClosed && stream.resetCode == nil)
    }

    @Test func `what is produced at once is bounded`() throws {
        peer.send(.settings([(4, 1 << 30)]), .windowUpdate(1 << 30), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        peer.session.send([UInt8](repeating: 0, count: 1 << 20).span, on: stream)
        peer.session.produce(upTo: 65_536)
        #expect((65_536...90_000).contains(peer.session.output.count))
        #expect(peer.takeFrames().reduce(0) { $0 + ($1.kind == .data ? $1.payload.count : 0) } == 1 << 20)
    }
}

extension HTTPFields {
    init(_ fields: (String, String)...) {
        self.init()
        for (name, value) in fields { if let name = Name(name) { append(name, value) } }
    }
}
