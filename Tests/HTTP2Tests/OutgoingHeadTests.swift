// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@testable import BearerdHTTP2

/// Heads that nghttp2 was given and has not framed yet.
@Suite struct `HTTP2 heads on their way out` {
    @Test func `each is framed as it was given, however many wait and whatever becomes of the given one`()
        throws
    {
        let peer = try #require(FramePeer())
        let numbers = 0..<40
        for round in 0..<2 {
            let ids = numbers.map { UInt32(2 * ($0 + round * numbers.count) + 1) }
            peer.send(ids.map { .head(FramePeer.get, stream: $0) })
            for (number, id) in zip(numbers, ids) {
                var fields = HTTPFields(
                    ("X-Number", "\(number)"), ("Content-Type", "text/plain"), ("CONNECTION", "close"),
                    ("X-Long", String(repeating: "z", count: number * 350)))
                let stream = try #require(peer.streams[Int32(id)])
                peer.session.respond(200, &fields, hasContent: true, on: stream)
                fields.wipe()
                peer.session.end(stream, trailers: HTTPFields(("Grpc-Status", "\(number)")))
            }
            let frames = peer.takeFrames().filter { $0.kind == .headers }
            let heads = frames.map { peer.fields(of: $0) }
            #expect(
                heads.filter { $0[":status"] != nil }
                    == numbers.map {
                        [
                            ":status": "200", "x-number": "\($0)", "content-type": "text/plain",
                            "x-long": String(repeating: "z", count: $0 * 350),
                        ]
                    })
            #expect(heads.filter { $0[":status"] == nil } == numbers.map { ["grpc-status": "\($0)"] })
        }
    }

    @Test func `a request that is reset before it is framed leaves those behind it whole`() throws {
        let peer = try #require(FramePeer(.client))
        func begin(_ name: String) throws -> HTTP2Stream {
            let head = HTTPRequest(
                method: .get, target: "/", fields: HTTPFields(("Host", "example.com"), ("X-Name", name)))
            return try #require(
                peer.session.request(head, scheme: .http, hasContent: false, takesTrailers: true))
        }
        let first = try begin("first")
        _ = try begin("second")
        peer.session.reset(first, .cancel)
        _ = try begin("third")
        let heads = peer.takeFrames().filter { $0.kind == .headers }.map { peer.fields(of: $0) }
        #expect(heads.map { $0["x-name"] } == ["second", "third"])
        #expect(heads.allSatisfy { $0[":authority"] == "example.com" && $0["te"] == "trailers" })
    }

    /// Answers a stream with a head of so many bytes.
    private func answer(_ id: UInt32, with length: Int, by peer: FramePeer) throws {
        let stream = try #require(peer.streams[Int32(id)])
        let fields = HTTPFields(("X-Long", String(repeating: "z", count: length)))
        peer.session.respond(HTTPResponse(status: 302, fields: fields), hasContent: false, on: stream)
    }

    @Test(arguments: [60_000, 15_000])
    func `of streams that a client resets and reads nothing of, so many wait and no more`(length: Int) throws
    {
        let limits = HTTP2Limits(streams: 4)
        let peer = try #require(FramePeer(limits: limits))
        var (first, rounds): (UInt32, Int) = (1, 0)
        while peer.session.failure == nil, rounds < 40 {
            let ids = (0..<4).map { first + 2 * UInt32($0) }
            peer.send(ids.map { .head(FramePeer.get, stream: $0) })
            guard peer.session.failure == nil else { break }
            for id in ids { try answer(id, with: length, by: peer) }
            peer.now += .milliseconds(100)
            peer.send(ids.map { .reset($0) })
            (first, rounds) = (first + 8, rounds + 1)
        }
        #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        // As many as the streams that are open and as many again, however large.
        #expect(rounds >= 2 && (rounds + 1) * 4 * length > 2 * 4 * limits.head.headerBytes)
        #expect(rounds * 4 * length < 4 * 4 * limits.head.headerBytes)
    }

    @Test func `that a slow client takes are given back, though some wait always`() throws {
        let peer = try #require(FramePeer(limits: HTTP2Limits(streams: 4)))
        var next: UInt32 = 1
        for round in 0..<200 {
            let ids = (0..<3).map { next + 2 * UInt32($0) }
            next += 6
            peer.send(ids.map { .head(FramePeer.get, stream: $0) })
            for id in ids { try answer(id, with: 9000, by: peer) }
            // The last one of each round is framed in the next.
            for _ in 0..<(round == 0 ? 2 : 3) {
                peer.session.produce(upTo: 1)
                _ = peer.session.takeOutput()
            }
            try #require(peer.session.failure == nil)
            #expect(peer.session.outgoing.held <= 8 * HeadMemory.chunkSize)
        }
    }

    @Test func `their memory is given back as soon as it holds none, in any order`() {
        let heads = OutgoingHeads(in: HeadMemory())
        let size = HeadMemory.chunkSize
        let starts = (0..<4).map { _ in
            let start = heads.take(size)
            heads.begin()
            return start
        }
        #expect(heads.held == 4 * size)
        heads.end(at: starts[1])
        #expect(heads.held == 3 * size)
        heads.end(at: starts[3])
        heads.end(at: starts[0] + size)
        #expect(heads.held == 2 * size)
        heads.end(at: starts[2])
        #expect(heads.held == 0)
    }

    @Test func `nothing of them stays in memory that is used again`() {
        let heads = OutgoingHeads(in: HeadMemory())
        let lengths = [5, HeadMemory.chunkSize, 2 * HeadMemory.chunkSize]
        for length in lengths {
            let bytes = heads.take(length)
            for index in 0..<length { bytes[index] = 1 }
            heads.begin()
        }
        for _ in lengths { heads.end(at: nil) }
        for _ in 0..<2 {
            let bytes = heads.take(HeadMemory.chunkSize)
            #expect((0..<5).allSatisfy { bytes[$0] == 0 })
        }
    }
}
