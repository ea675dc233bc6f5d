// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// What a peer does wrong, and what it costs.
@Suite struct `Faults of an HTTP2 peer` {
    private static func client(isGreeted: Bool = true) throws -> FramePeer {
        try #require(FramePeer(.client, isGreeted: isGreeted))
    }

    private static func begin(_ peer: FramePeer, _ method: HTTPMethod = .get) -> HTTP2Stream? {
        let head = HTTPRequest(method: method, target: "/", fields: HTTPFields(("Host", "example.com")))
        return peer.session.request(
            head, scheme: .https, hasContent: method == .post, takesTrailers: false)
    }

    private static let promise = HTTP2Frame(
        .pushPromise, flags: HTTP2Frame.endHeaders, stream: 1,
        [0, 0, 0, 2] + HPACK.encode([(":method", "GET"), (":path", "/")]))

    /// It has had our SETTINGS before the request, acknowledged or not.
    @Test(arguments: [true, false], [true, false])
    func `an upstream that pushes is told so`(hasAcknowledged: Bool, isShutDown: Bool) throws {
        let peer = try Self.client(isGreeted: hasAcknowledged)
        if !hasAcknowledged { peer.send(.settings()) }
        _ = Self.begin(peer)
        if isShutDown { peer.session.shutDown() }
        _ = peer.takeFrames()
        peer.send(Self.promise)
        #expect(peer.session.failure == .protocolError && peer.goawayCode() == 0x1)
    }

    /// RFC 9113 section 6.9.2; of a WINDOW_UPDATE it is the stream's own fault.
    @Test(arguments: [true, false])
    func `SETTINGS that make a window too large end the connection, and a WINDOW_UPDATE its stream`(
        isServer: Bool
    ) throws {
        for isOfSettings in [true, false] {
            let peer = try #require(isServer ? FramePeer() : Self.client())
            if isServer {
                peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
            } else {
                _ = Self.begin(peer, .post)
            }
            _ = peer.takeFrames()
            peer.send(.windowUpdate(0x7FFF_FFFF - 65_535, stream: 1))
            // The largest that there is, and as large again behind a smaller one.
            peer.send(.settings([(4, 1000), (4, 65_535)]))
            #expect(!peer.takeFrames().contains { $0.kind == .goaway || $0.kind == .resetStream })
            peer.send(isOfSettings ? .settings([(3, 7), (4, 65_536)]) : .windowUpdate(1, stream: 1))
            let frames = peer.takeFrames()
            let end = try #require(frames.first { $0.kind == (isOfSettings ? .goaway : .resetStream) })
            #expect(end.number(at: isOfSettings ? 4 : 0) == 0x3)
            #expect(peer.session.failure == (isOfSettings ? .flowControlError : nil))
        }
    }

    /// RFC 9113 section 6.5.3: each value counts, in the order in which they stand.
    @Test(arguments: [true, false])
    func `a bad value in SETTINGS ends the connection, though the same frame has a good one behind it`(
        isServer: Bool
    ) throws {
        var cases: [(id: UInt16, bad: UInt32, good: UInt32, code: UInt32)] = [
            (2, 2, 0, 0x1), (4, 0x8000_0000, 65_535, 0x3), (5, 16_383, 16_384, 0x1),
            (5, 1 << 24, 16_384, 0x1),
            (8, 2, 1, 0x1), (9, 2, 1, 0x1),
        ]
        if !isServer { cases.append((2, 1, 0, 0x1)) }
        for (id, bad, good, code) in cases {
            let frame = HTTP2Frame.settings([(id, bad), (3, 7), (id, good)]).bytes
            for length in [1, 4, frame.count] {
                let peer = try #require(isServer ? FramePeer() : Self.client())
                for start in stride(from: 0, to: frame.count, by: length) {
                    peer.send(bytes: Array(frame[start..<min(start + length, frame.count)]))
                }
                #expect(peer.goawayCode() == code, "\(id): \(bad)")
            }
        }
        let peer = try #require(isServer ? FramePeer() : Self.client())
        peer.send(.settings([(5, 16_384), (4, 0), (0xFF, .max), (5, 0xFF_FFFF), (4, 0x7FFF_FFFF), (2, 0)]))
        #expect(peer.session.failure == nil && peer.goawayCode() == nil)
    }

    @Test func `the largest window that SETTINGS may give is given`() throws {
        let peer = try #require(FramePeer())
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        peer.session.send([UInt8](repeating: 0, count: 65_535).span, on: stream)
        _ = peer.takeFrames()
        // Negative first, then as large as may be.
        peer.send(.settings([(4, 0)]), .settings([(4, 0x7FFF_FFFF)]), .windowUpdate(1 << 20))
        #expect(peer.session.failure == nil && peer.session.window(of: stream) == 1 << 20)
    }

    @Test func `a client that reads nothing cannot have us remember refusals without end`() throws {
        let peer = try #require(FramePeer(limits: HTTP2Limits(streams: 2), isGreeted: false))
        peer.send(bytes: HTTP2Frame.preface)
        peer.send(.settings())
        var count: UInt32 = 0
        while peer.session.failure == nil, count < 50_000 {
            peer.send((0..<100).map { .head(FramePeer.get, stream: 2 * (count + $0) + 1) })
            count += 100
        }
        #expect(peer.session.failure == .enhanceYourCalm && (1000..<10_000).contains(count))
    }

    @Test func `a request that has not been framed when its connection is lost was seen by nobody`() throws {
        let peer = try Self.client()
        let sent = try #require(Self.begin(peer, .post))
        _ = peer.takeFrames()
        let unsent = try #require(Self.begin(peer, .post))
        peer.session.abandon()
        #expect(unsent.isUnprocessed && unsent.isClosed && !sent.isUnprocessed && sent.isClosed)
        let held = try Self.client()
        held.send(.settings([(3, 0)]))
        let waiting = try #require(Self.begin(held, .post))
        #expect(!held.takeFrames().contains { $0.kind == .headers })
        held.send(Self.promise)
        #expect(held.session.failure == .protocolError && waiting.isUnprocessed)
    }

    @Test func `what is wrong with an answer is named`() throws {
        let ok = (":status", "200")
        let forbidden = "a field, a length or an order of frames that HTTP/2 forbids (RFC 9113 §8.1)"
        func answers(_ fields: (String, String)..., count: Int = 1) -> [HTTP2Frame] {
            Array(repeating: .head(fields, stream: 1, endsStream: false), count: count)
        }
        for (frames, rule) in [
            (answers((":status", "099")), "a status below 100"),
            (answers((":status", "102"), count: 33), "interim heads (1xx) without end"),
            (answers(ok, ("connection", "close")), forbidden), (answers((":status", "101")), forbidden),
            (answers(ok, ("content-length", "1")) + [.data("xx", stream: 1)], forbidden),
        ] {
            let peer = try Self.client()
            let stream = try #require(Self.begin(peer))
            _ = peer.takeFrames()
            peer.send(frames)
            #expect(peer.resetCode() != nil && peer.session.failure == nil)
            #expect(stream.fault == .breaking(rule: rule))
        }
    }

    @Test(arguments: [true, false])
    func `a message whose trailers are too large is never whole`(isServer: Bool) throws {
        let limits = HTTP2Limits(head: HeadLimits(headerBytes: 4096))
        let peer = try #require(FramePeer(isServer ? .server : .client, limits: limits))
        if !isServer { _ = Self.begin(peer) }
        _ = peer.takeFrames()
        let trailers = [("x-first", "1"), ("x-large", String(repeating: "y", count: 8000))]
        peer.send(
            .head(isServer ? FramePeer.post : [(":status", "200")], stream: 1, endsStream: false),
            .data("x", stream: 1), .head(trailers, stream: 1))
        let stream = try #require(peer.streams[1])
        #expect(stream.hasEnd && stream.fault == .trailersTooLarge && !stream.isWhole(but: 1))
    }
}
