// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// How streams and connections begin and end, on either side.
@Suite struct `Lives of HTTP2 streams` {
    private static func request(_ method: HTTPMethod = .get) -> HTTPRequest {
        HTTPRequest(
            method: method, target: "/x", fields: HTTPFields(("Host", "example.com"), ("X-Case", "V")))
    }

    private static func client() throws -> (FramePeer, HTTP2Stream) {
        let peer = try #require(FramePeer(.client))
        let stream = try #require(
            peer.session.request(request(.post), scheme: .https, hasContent: true, takesTrailers: true))
        return (peer, stream)
    }

    @Test func `a request goes out with pseudo-fields first and names in lower case`() throws {
        let (peer, _) = try Self.client()
        let head = try #require(peer.takeFrames().first { $0.kind == .headers })
        #expect(
            peer.fields(of: head) == [
                ":method": "POST", ":scheme": "https", ":authority": "example.com", ":path": "/x",
                "te": "trailers", "x-case": "V",
            ])
    }

    @Test func `interim heads come before the final one, trailers behind it`() throws {
        let (peer, stream) = try Self.client()
        _ = peer.takeFrames()
        peer.send(
            .head([(":status", "103"), ("link", "a")], stream: 1, endsStream: false),
            .head([(":status", "200")], stream: 1, endsStream: false), .data("x", stream: 1),
            .head([("grpc-status", "0")], stream: 1))
        #expect(peer.takeStatuses(of: stream) == [103, 200] && stream.hasHead && stream.hasEnd)
        #expect(stream.trailers.count == 1 && peer.content(of: 1) == "x")
    }

    @Test func `a refused stream, and one above GOAWAY's last, are unprocessed; a cancelled one is not`()
        throws
    {
        let (refused, first) = try Self.client()
        _ = refused.takeFrames()
        refused.send(.reset(1, code: 0x7))
        #expect(first.isUnprocessed && first.resetCode == .refusedStream)
        let (left, second) = try Self.client()
        _ = left.takeFrames()
        left.send(HTTP2Frame(.goaway, Array(repeating: 0, count: 8)))
        #expect(second.isUnprocessed && second.isClosed)
        let (cancelled, third) = try Self.client()
        _ = cancelled.takeFrames()
        cancelled.send(.reset(1))
        #expect(!third.isUnprocessed && third.resetCode == .cancel && third.isResetByPeer)
    }

    @Test func `interim heads without end end the stream`() throws {
        let (peer, stream) = try Self.client()
        _ = peer.takeFrames()
        for _ in 0..<40 { peer.send(.head([(":status", "103")], stream: 1, endsStream: false)) }
        #expect(stream.resetCode == .enhanceYourCalm && peer.takeStatuses(of: stream).count <= 32)
    }

    @Test(arguments: ["000", "001", "099"])
    func `a status below 100 is none, and resets the stream`(status: String) throws {
        for endsStream in [true, false] {
            let (peer, stream) = try Self.client()
            _ = peer.takeFrames()
            peer.send(.head([(":status", status)], stream: 1, endsStream: endsStream))
            #expect(stream.resetCode == .protocolError && !stream.hasResponse && !stream.hasHead)
            #expect(peer.resetCode() == HTTP2ErrorCode.protocolError.rawValue)
            #expect(peer.session.failure == nil)
        }
    }

    @Test func `an answer ends its stream, and a stream that the client resets is told`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.get, stream: 1), .head(FramePeer.get, stream: 3))
        let first = try #require(peer.streams[1])
        let second = try #require(peer.streams[3])
        peer.session.send(interim: HTTPResponse(status: 103), on: first)
        peer.session.respond(
            HTTPResponse(status: 204, fields: HTTPFields(("Connection", "close"), ("X-A", "b"))),
            hasContent: false, on: first)
        let frames = peer.takeFrames()
        #expect(frames.map { peer.fields(of: $0) } == [[":status": "103"], [":status": "204", "x-a": "b"]])
        #expect(first.isClosed && first.resetCode == nil)
        peer.send(.reset(3))
        #expect(second.isClosed && second.resetCode == .cancel && second.isResetByPeer)
        #expect(peer.session.streamCount == 0)
    }

    @Test func `a head that is too large to send resets its stream, and one that may come goes out`() throws {
        let large = HTTPResponse(
            status: 200, fields: HTTPFields(("x-a", String(repeating: "y", count: 2 << 20))))
        let peer = try #require(FramePeer())
        for isTrailer in [true, false] {
            let id: UInt32 = isTrailer ? 1 : 3
            peer.send(.head(FramePeer.post, stream: id, endsStream: false))
            let stream = try #require(peer.streams[Int32(id)])
            if isTrailer {
                peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
                peer.session.end(stream, trailers: large.fields)
            } else {
                peer.session.respond(large, hasContent: false, on: stream)
            }
            #expect(peer.resetCode() == HTTP2ErrorCode.internalError.rawValue)
            #expect(stream.isClosed && stream.resetCode == .internalError && peer.session.failure == nil)
        }
        let limits = HTTP2Limits(head: HeadLimits(headerBytes: 4 << 20))
        let generous = try #require(FramePeer(limits: limits))
        generous.send(.head(FramePeer.get, stream: 1))
        let stream = try #require(generous.streams[1])
        generous.session.respond(large, hasContent: false, on: stream)
        let frames = generous.takeFrames()
        #expect(frames.first?.kind == .headers && frames.dropFirst().allSatisfy { $0.kind == .continuation })
        #expect(frames.last?.has(HTTP2Frame.endHeaders) == true && stream.hasSentEnd)
    }

    @Test func `a shutdown lets streams finish and takes no other`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.get, stream: 1))
        peer.session.announceShutdown()
        #expect(peer.takeFrames().map { $0.kind } == [.goaway, .ping])
        peer.send(.head(FramePeer.get, stream: 3))
        #expect(peer.streams[3]?.hasHead == true)
        peer.session.shutDown()
        let goaway = try #require(peer.takeFrames().first)
        peer.send(HTTP2Frame(.ping, flags: HTTP2Frame.acknowledgement, Array(repeating: 0, count: 8)))
        #expect(peer.session.pongs == 1)
        #expect(goaway.number() == 3 && goaway.number(at: 4) == 0)
        peer.send(.head(FramePeer.get, stream: 5))
        #expect(peer.streams[5] == nil)
        for id in [Int32(1), 3] {
            let stream = try #require(peer.streams[id])
            peer.session.respond(HTTPResponse(status: 200), hasContent: false, on: stream)
        }
        _ = peer.takeFrames()
        #expect(peer.session.isOver && peer.session.failure == nil)
    }

    @Test func `a client may begin streams behind its GOAWAY, which forbids us alone to do so`() throws {
        for isWhole in [true, false] {
            let peer = try #require(FramePeer())
            let frames = [
                HTTP2Frame(.goaway, Array(repeating: 0, count: 8)), .head(FramePeer.get, stream: 1),
            ]
            if isWhole { peer.send(frames) } else { for frame in frames { peer.send(frame) } }
            #expect(peer.streams[1]?.hasHead == true && peer.session.peerIsLeaving)
            peer.send(bytes: Array(HTTP2Frame(.goaway, Array(repeating: 0, count: 20)).bytes))
            peer.send(.head(FramePeer.get, stream: 3))
            #expect(peer.streams[3]?.hasHead == true)
            #expect(!peer.session.isOver && peer.session.failure == nil)
        }
    }

    @Test func `a GOAWAY that comes byte by byte is none for nghttp2 either, and a short one is a fault`()
        throws
    {
        let peer = try #require(FramePeer())
        let frames = [HTTP2Frame(.goaway, Array(repeating: 0, count: 8)), .head(FramePeer.get, stream: 1)]
        for byte in frames.flatMap(\.bytes) { peer.send(bytes: [byte]) }
        #expect(peer.streams[1]?.hasHead == true)
        let short = try #require(FramePeer())
        short.send(HTTP2Frame(.goaway, Array(repeating: 0, count: 7)))
        #expect(short.goawayCode() == HTTP2ErrorCode.frameSizeError.rawValue)
    }

    @Test func `a connection that is gone closes every stream`() throws {
        let (peer, stream) = try Self.client()
        peer.session.abandon()
        #expect(stream.isClosed && stream.resetCode == .cancel && peer.session.isOver)
    }
}
