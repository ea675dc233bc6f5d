// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Which connections to an upstream of HTTP/2 requests get.
@Suite(.blocking) struct `A pool of connections of HTTP/2` {
    @Test func `a request that may not be sent twice leaves a long idle connection alone`() async throws {
        let upstream = try HTTP2Upstream { _, _, _ in }
        let url = try #require(HTTPURL(upstream.url))
        try await onLoop { multis in
            let pool = HTTP2Pool(
                address: UpstreamAddress(url: url, httpProtocol: .http2), limit: UpstreamLimit(maximum: 10),
                lifetimes: .init(idleForUnrepeatable: .milliseconds(20)), headLimits: HeadLimits(),
                multis: multis)
            pool.discard(try await pool.open(for: RequestForm(), within: patience, with: nil))
            await multis.loop.pause(for: .milliseconds(40))
            let kept = try #require(pool.take(for: RequestForm(), mayRepeat: true))
            pool.discard(kept)
            await multis.loop.pause(for: .milliseconds(40))
            #expect(pool.take(for: RequestForm(), mayRepeat: false) == nil)
            pool.discard(try await pool.open(for: RequestForm(), within: patience, with: nil))
            #expect(pool.take(for: RequestForm(), mayRepeat: false) != nil)
        }
        #expect(upstream.connectionCount == 2)
    }

    @Test func `whoever began with a pool gets connections of it when it is closed, and these end then`()
        async throws
    {
        let upstream = try HTTP2Upstream { _, _, _ in }
        try await onLoop { multis in
            let pool = try pool(for: upstream, multis)
            let before = try await pool.open(for: RequestForm(), within: patience, with: nil)
            begin(before)
            pool.close()
            let first = try await pool.open(for: RequestForm(), within: patience, with: nil)
            let second = try await pool.open(for: RequestForm(), within: patience, with: nil)
            #expect(before.isOpen && upstream.connectionCount == 2)
            for exchange in [before, first, second] { pool.discard(exchange) }
        }
        try upstream.awaitNoConnections()
        #expect(upstream.connectionCount == 2)
    }

    @Test func `a connection that shows a replaced certificate of ours gets no more requests`() async throws {
        let upstream = try HTTP2Upstream { _, _, _ in }
        let authority = try TLSAuthority()
        let pairs = try (0..<2).map { try authority.certificate(for: ["client-\($0).test"]) }
        let files = try ReplacedCertificate(pairs[0])
        let own = files.own
        #expect(own.read())
        try await onLoop { multis in
            let pool = HTTP2Pool(
                address: UpstreamAddress(
                    url: try url(upstream.url), transport: Transport(ownCertificate: own),
                    httpProtocol: .http2),
                limit: UpstreamLimit(maximum: 10), lifetimes: .init(), headLimits: HeadLimits(),
                multis: multis)
            let running = try await pool.open(for: RequestForm(), within: patience, with: nil)
            begin(running)
            #expect(own.read())
            pool.discard(try #require(pool.take(for: RequestForm(), mayRepeat: true), "nothing has changed"))
            try files.replace(with: pairs[1])
            #expect(own.read())
            #expect(pool.take(for: RequestForm(), mayRepeat: true) == nil)
            pool.discard(try await pool.open(for: RequestForm(), within: patience, with: nil))
            #expect(pool.take(for: RequestForm(), mayRepeat: true) != nil)
            #expect(running.isOpen, "what is under way ends by itself")
        }
        #expect(upstream.connectionCount == 2)
    }

    /// A pool whose connections are looked at often.
    private func pool(for upstream: HTTP2Upstream, _ multis: CurlMultiSet) throws -> HTTP2Pool {
        HTTP2Pool(
            address: UpstreamAddress(url: try url(upstream.url), httpProtocol: .http2),
            limit: UpstreamLimit(maximum: 10), lifetimes: .init(pulse: .milliseconds(200)),
            headLimits: HeadLimits(), multis: multis)
    }

    private func begin(_ exchange: HTTP2Exchange, length: BodyLength = .none) {
        var head = HTTPRequest(method: .get, target: "/")
        head.fields[.host] = "upstream"
        var form = RequestForm()
        form.length = length
        exchange.begin(&head, as: form)
        flush(exchange.outgoing)
    }

    private func flush(_ sink: some BodySink) { _ = try? sink.flush() }

    private func send(_ bytes: [UInt8], to sink: some BodySink) {
        sink.append(bytes)
        flush(sink)
    }

    /// Has one request answered and another one not, until the connection of both is doubted.
    ///
    /// - Returns: the one without an answer.
    private func unanswered(by pool: HTTP2Pool, on loop: EventLoop) async throws -> HTTP2Exchange {
        let first = try await pool.open(for: RequestForm(), within: patience, with: nil)
        begin(first)
        #expect(try await first.more(within: patience))
        pool.discard(first)
        let second = try #require(pool.take(for: RequestForm(), mayRepeat: true))
        begin(second)
        // It still has room for the next requests, until it is doubted.
        while let other = pool.take(for: RequestForm(), mayRepeat: true) {
            pool.discard(other)
            await loop.pause(for: .milliseconds(50))
        }
        return second
    }

    @Test func `a connection whose upstream is mute gets no more requests, and ends`() async throws {
        let end = Gate()
        let upstream = try HTTP2Upstream { peer, _, stream in
            // Blocks the thread that would answer PINGs.
            if stream.connection == 1, stream.id > 1 { try end.pass() }
            try peer.answer(stream.id)
        }
        defer { end.open() }
        try await onLoop { multis in
            let pool = try pool(for: upstream, multis)
            let second = try await unanswered(by: pool, on: multis.loop)
            let third = try await pool.open(for: RequestForm(), within: patience, with: nil)
            begin(third)
            #expect(try await third.more(within: patience))
            // The end of its connection, and of nothing else.
            #expect(try await !second.more(within: patience))
            #expect(!second.isOpen && third.isOpen && second.loss == .silence)
            pool.discard(second)
            pool.discard(third)
        }
        #expect(upstream.connectionCount == 2)
    }

    @Test func `a full connection whose upstream is mute is found out by a request that finds no room on it`()
        async throws
    {
        let end = Gate()
        let upstream = try HTTP2Upstream(settings: [(0x3, 1)]) { peer, event, stream in
            // Blocks the thread that would answer PINGs.
            if event == .content { return try end.pass() }
            try peer.send(.head([(":status", "200")], stream: stream.id, endsStream: false))
        }
        defer { end.open() }
        try await onLoop { multis in
            let pools = [try pool(for: upstream, multis), try pool(for: upstream, multis)]
            var held: [HTTP2Exchange] = []
            for pool in pools {
                let exchange = try await pool.open(for: RequestForm(), within: patience, with: nil)
                begin(exchange, length: .open)
                #expect(try await exchange.more(within: patience))
                held.append(exchange)
            }
            // Those for their own requests.
            try await eventually(multis.loop, "two PINGs") { upstream.pingCount >= 2 }
            for exchange in held { send([0x78], to: exchange.outgoing) }
            let next = try await pools[0].open(for: RequestForm(), within: patience, with: nil)
            try await eventually(multis.loop, "the end of the one that was asked for") { !held[0].isOpen }
            #expect(held[1].isOpen && held[0].loss == .silence)
            pools[0].discard(next)
            for (pool, exchange) in zip(pools, held) { pool.discard(exchange) }
        }
        #expect(upstream.connectionCount == 3)
    }

    @Test func `a connection whose upstream is mute gets requests where no other can be made`() async throws {
        let end = Gate()
        let upstream = try HTTP2Upstream(admit: { if $0 > 1 { try end.pass() } }) { peer, _, stream in
            if stream.id > 1 { try end.pass() }
            try peer.answer(stream.id)
        }
        defer { end.open() }
        try await onLoop { multis in
            let pool = try pool(for: upstream, multis)
            let second = try await unanswered(by: pool, on: multis.loop)
            let third = try await pool.open(for: RequestForm(), within: .milliseconds(100), with: nil)
            begin(third)
            end.open()
            #expect(try await third.more(within: patience))
            pool.discard(second)
            pool.discard(third)
        }
        #expect(upstream.streams.allSatisfy { $0.connection == 1 })
    }

    @Test func `who waits for room gets a new connection once one that is full takes no more`() async throws {
        let peers = Monitor<[HTTP2Upstream.Peer]>([])
        let upstream = try HTTP2Upstream(settings: [(0x3, 1)]) { peer, _, _ in
            peers.withLock { $0.append(peer) }
        }
        try await onLoop { multis in
            let pool = HTTP2Pool(
                address: UpstreamAddress(url: try url(upstream.url), httpProtocol: .http2),
                limit: UpstreamLimit(maximum: 100), lifetimes: .init(), headLimits: HeadLimits(),
                multis: multis)
            var held: [HTTP2Exchange] = []
            for _ in 0..<20 {
                held.append(try await pool.open(for: RequestForm(), within: patience, with: nil))
                begin(held[held.count - 1])
            }
            try await eventually(multis.loop, "all streams") { peers.withLock { $0.count } == 20 }
            #expect(upstream.connectionCount == 20)
            await #expect(throws: UpstreamError.busy) {
                _ = try await pool.open(for: RequestForm(), within: .milliseconds(1), with: nil)
            }
            var late: HTTP2Exchange?
            let waiting = multis.loop.startTask {
                late = try? await pool.open(for: RequestForm(), within: patience, with: nil)
            }
            try peers.withLock { try $0[0].goAway(lastStream: 1) }
            await waiting.value
            held.append(try #require(late))
            #expect(held.allSatisfy { $0.isOpen })
            for exchange in held { pool.discard(exchange) }
        }
        #expect(upstream.connectionCount == 21)
    }

    @Test func `an upstream that is slow but answers PINGs is waited for`() async throws {
        let answer = Gate()
        let upstream = try HTTP2Upstream { peer, _, stream in
            startThread {
                try? answer.pass()
                try? peer.answer(stream.id)
            }
        }
        try await onLoop { multis in
            let pool = try pool(for: upstream, multis)
            let slow = try await pool.open(for: RequestForm(), within: patience, with: nil)
            begin(slow)
            try await eventually(multis.loop, "a PING") { upstream.pingCount > 0 }
            // Longer than one that answers none is kept.
            for _ in 0..<12 { await multis.loop.pause(for: .milliseconds(200)) }
            let next = try #require(pool.take(for: RequestForm(), mayRepeat: true))
            pool.discard(next)
            answer.open()
            #expect(try await slow.more(within: patience))
            pool.discard(slow)
        }
        #expect(upstream.connectionCount == 1 && upstream.pingCount <= 2)
    }
}
