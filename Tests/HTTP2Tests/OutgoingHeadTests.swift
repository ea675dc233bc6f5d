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

    @Test func `nothing of them stays in memory that is used again`() {
        let heads = OutgoingHeads(in: HeadMemory())
        let lengths = [5, HeadMemory.chunkSize, 2 * HeadMemory.chunkSize]
        for length in lengths {
            let bytes = heads.take(length)
            for index in 0..<length { bytes[index] = 1 }
            heads.begin()
        }
        for _ in lengths { heads.end() }
        for _ in 0..<2 {
            let bytes = heads.take(HeadMemory.chunkSize)
            #expect((0..<5).allSatisfy { bytes[$0] == 0 })
        }
    }
}
