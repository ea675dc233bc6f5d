// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdSystem
import BearerdTestSupport
import CBearerdNghttp2
import Glibc
import Testing

@testable import BearerdHTTP2

@Suite struct `Pools of HTTP2 streams` {
    private let pool = StreamPool(atMost: 2)

    private func closedStream() -> HTTP2Stream {
        let stream = HTTP2Stream(id: 7)
        stream.isClosed = true
        return stream
    }

    @Test func `a stream that is over serves again, as good as new`() {
        var given = [closedStream()]
        let identity = ObjectIdentifier(given[0])
        given[0].append(received: [1, 2, 3].span)
        given[0].append(unsent: [4, 5].span)
        var framed = ByteBlock()
        given[0].takeUnsent(1, into: &framed)
        given[0].hasHead = true
        given[0].resetCode = .cancel
        given[0].declaredLength = 5
        given[0].connectProtocol = "websocket"
        given[0].fault = .malformed
        given[0].trailerFields[.server] = "a"
        given[0].onChange = {}
        pool.give(&given)
        #expect(given.isEmpty && pool.count == 1)
        let stream = pool.take(id: 9)
        #expect(ObjectIdentifier(stream) == identity && pool.count == 0)
        #expect(framed.count == 1 && framed.bytes[0] == 4)
        #expect(stream.id == 9 && !stream.isClosed && !stream.hasHead && stream.resetCode == nil)
        #expect(stream.keptCount == 0 && stream.unsentCount == 0)
        #expect(stream.receivedCount == 0 && stream.sentCount == 0 && stream.declaredLength == nil)
        #expect(stream.connectProtocol == nil && stream.fault == nil && stream.onChange == nil)
        #expect(!stream.hasTrailers && !stream.hasResponse && !stream.hasTrailersToSend)
    }

    @Test func `a stream that is open, told as changed or known to somebody else is not kept`() {
        let known = closedStream()
        let touched = closedStream()
        touched.isTouched = true
        var given = [HTTP2Stream(id: 1), known]
        pool.give(&given)
        #expect(given.isEmpty && pool.count == 0)
        given = [touched]
        pool.give(&given)
        #expect(pool.count == 0 && known.id == 7)
    }

    @Test func `no more are kept than it may keep`() {
        var given = [closedStream(), closedStream(), closedStream()]
        pool.give(&given)
        #expect(pool.count == 2)
    }

    @Test func `memory that sessions have given back is overwritten, and given up when nobody needs it`()
        throws
    {
        let peer = try #require(FramePeer(pool: pool))
        func serve(_ stream: UInt32) throws {
            peer.send(.head(FramePeer.get, stream: stream))
            peer.session.respond(
                HTTPResponse(status: 204), hasContent: false, on: try #require(peer.streams[Int32(stream)]))
            #expect(peer.takeFrames().contains { $0.kind == .headers })
            peer.forgetStreams()
        }
        try serve(1)
        #expect(pool.keptMemory > 0 || Sanitizer.isOn)
        pool.empty()
        #expect(pool.keptMemory == 0 && pool.count == 0)
        try serve(3)

        let blocks = try #require(bearerd_blocks_new())
        defer { bearerd_blocks_free(blocks) }
        let block = try #require(bearerd_block_take(100, blocks))
        memset(block, 0x73, 100)
        bearerd_block_give(block, blocks)
        guard bearerd_blocks_kept(blocks) > 0 else { return }
        let again = try #require(bearerd_block_take(100, blocks))
        let bytes = UnsafeRawBufferPointer(start: again, count: 100)
        #expect(again == block && !bytes.contains(0x73))
        bearerd_block_give(again, blocks)
    }

    @Test func `nothing of a head is left in the memory that is kept`() {
        var head = HTTPRequest(method: .get, target: "/?token=secret")
        head.fields[.authorization] = "Bearer secret"
        var given = [closedStream()]
        given[0].swapRequest(with: &head)
        given[0].isAnnounced = true
        pool.give(&given)
        let kept = pool.take(id: 9).request
        #expect(kept.fields.isEmpty && kept.targetBytes.allSatisfy { $0 == 0 })
        #expect(!kept.fields.block.bytes.isEmpty && kept.fields.block.bytes.allSatisfy { $0 == 0 })
    }

    @Test func `nothing of a client's request is in the request of the next one`() throws {
        let peer = try #require(FramePeer(pool: pool))
        peer.send(
            .head(FramePeer.post + [("x-secret", "1"), ("cookie", "a=1")], stream: 1, endsStream: false),
            .data("12345", stream: 1), .head([("x-sum", "5")], stream: 1))
        peer.session.respond(HTTPResponse(status: 200), hasContent: false, on: try #require(peer.streams[1]))
        _ = peer.takeFrames()
        peer.forgetStreams()
        #expect(pool.count == 1)
        peer.send(.head(FramePeer.get, stream: 3))
        #expect(pool.count == 0)
        let next = try #require(peer.streams[3])
        #expect(
            next.request.fields.count == 1 && next.request.method == .get && next.request.target == "/a?b")
        #expect(next.keptCount == 0 && !next.hasTrailers && next.declaredLength == nil)
    }
}
