// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@Suite(.blocking) struct `A pool of upstream connections` {
    /// Runs a test with a pool of its own.
    private func onPool<Result: Sendable>(
        to upstream: RawUpstream, _ limit: UpstreamLimit = UpstreamLimit(maximum: 10),
        lifetimes: UpstreamPool.Lifetimes = .init(), over transport: Transport = Transport(),
        _ body: @escaping @Sendable (UpstreamPool, EventLoop) async throws -> Result
    ) async throws -> Result {
        let address = try upstream.address(transport)
        return try await onLoop { multis in
            let pool = UpstreamPool(address: address, limit: limit, lifetimes: lifetimes, multis: multis)
            return try await body(pool, multis.loop)
        }
    }

    /// A connection that has carried an exchange, and waits for another.
    private func idleConnection(of pool: UpstreamPool) async throws -> UpstreamConnection {
        let connection = try await pool.open(within: patience)
        _ = try await connection.exchange()
        pool.giveBack(connection)
        return connection
    }

    @Test func `the connection that became idle last is used first`() async throws {
        let upstream = try RawUpstream()
        let (isLast, served, idle) = try await onPool(to: upstream) { pool, _ in
            let first = try await pool.open(within: patience)
            let second = try await pool.open(within: patience)
            for connection in [first, second] {
                _ = try await connection.exchange()
                pool.giveBack(connection)
            }
            let taken = pool.take(mayRepeat: false)
            return (taken === second, taken?.requestsServed, pool.connections.idle)
        }
        #expect(isLast)
        #expect(served == 1)
        #expect(idle == 1)
    }

    @Test func `its connections are counted by what they do`() async throws {
        let upstream = try RawUpstream()
        let counts = try await onPool(to: upstream) { pool, _ in
            var counts: [UpstreamConnections] = []
            let (first, second) = (
                try await pool.open(within: patience), try await pool.open(within: patience)
            )
            counts.append(pool.connections)
            _ = try await first.exchange()
            pool.giveBack(first)
            counts.append(pool.connections)
            pool.discard(second)
            counts.append(pool.connections)
            let taken = try #require(pool.take(mayRepeat: true))
            counts.append(pool.connections)
            pool.end(taken, isRequestWhole: false)
            return counts + [pool.connections]
        }
        #expect(counts.map(\.active) == [2, 1, 0, 1, 0])
        #expect(counts.map(\.idle) == [0, 1, 1, 0, 0])
        #expect(counts.allSatisfy { $0.connecting == 0 })
    }

    @Test func `an idle connection that the upstream ends is closed at once`() async throws {
        let upstream = try RawUpstream()
        let limit = UpstreamLimit(maximum: 10)
        try await onPool(to: upstream, limit) { pool, loop in
            _ = try await idleConnection(of: pool)
            upstream.closeConnections()
            try await eventually(loop, "the idle connection to go") { pool.connections.idle == 0 }
            #expect(pool.take(mayRepeat: true) == nil)
        }
        #expect(limit.openCount == 0)
    }

    @Test func `a request that may not be sent twice sees an end of which no event has told yet`()
        async throws
    {
        let upstream = try RawUpstream()
        let taken = try await onPool(to: upstream) { pool, _ in
            _ = try await idleConnection(of: pool)
            // The loop stands still meanwhile.
            upstream.closeConnections()
            try upstream.awaitNoConnections()
            return pool.take(mayRepeat: false) != nil
        }
        #expect(!taken)
    }

    @Test
    func `an upstream that closes right after its answers is learned, and what it is given stays bounded`()
        async throws
    {
        let upstream = try RawUpstream()
        let limit = UpstreamLimit(maximum: 100)
        try await onPool(to: upstream, limit) { pool, loop in
            _ = try await idleConnection(of: pool)
            upstream.closeConnections()
            try await eventually(loop, "the idle connection to go") { pool.connections.idle == 0 }
            for _ in 0..<50 {
                #expect(pool.take(mayRepeat: false) == nil)
                pool.giveBack(try await pool.open(within: patience))
            }
            #expect(pool.connections.idle <= 9)
            #expect(pool.take(mayRepeat: true) != nil)
        }
    }

    @Test func `an idle connection over which the upstream speaks unasked is closed`() async throws {
        let isIdle = Gate()
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            try isIdle.pass()
            try wire.send("HTTP/1.1 408 Request Timeout\r\n\r\n")
            _ = try wire.readToEnd()
        }
        try await onPool(to: upstream) { pool, loop in
            _ = try await idleConnection(of: pool)
            isIdle.open()
            try await eventually(loop, "the talkative connection to go") { pool.connections.idle == 0 }
        }
    }

    @Test func `a TLS connection outlives its session tickets and ends with its peer`() async throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server())
        let reused = try await onPool(
            to: upstream, over: Transport(trust: TrustStore(file: authority.certificateFile))
        ) { pool, loop in
            var connection = try await pool.open(within: patience)
            let first = connection
            for _ in 0..<5 {
                _ = try await connection.exchange()
                pool.giveBack(connection)
                connection = try #require(pool.take(mayRepeat: false))
            }
            pool.giveBack(connection)
            upstream.closeConnections()
            try await eventually(loop, "the idle TLS connection to go") { pool.connections.idle == 0 }
            return connection === first
        }
        #expect(reused)
        #expect(upstream.connectionCount == 1)
    }

    @Test func `a request that may not be sent twice leaves a long idle connection alone`() async throws {
        let upstream = try RawUpstream()
        try await onPool(to: upstream, lifetimes: .init(idleForUnrepeatable: .milliseconds(20))) {
            pool, loop in
            let connection = try await pool.open(within: patience)
            pool.giveBack(connection)
            await loop.pause(for: .milliseconds(40))
            #expect(pool.take(mayRepeat: false) == nil)
            #expect(pool.take(mayRepeat: true) === connection)
        }
    }

    @Test(arguments: [
        UpstreamPool.Lifetimes(idle: .milliseconds(30)),
        UpstreamPool.Lifetimes(age: .milliseconds(30)),
        UpstreamPool.Lifetimes(idle: .zero, age: .milliseconds(30)),
    ])
    func `idle time and age end a connection without any traffic`(
        lifetimes: UpstreamPool.Lifetimes
    ) async throws {
        let upstream = try RawUpstream()
        let limit = UpstreamLimit(maximum: 10)
        try await onPool(to: upstream, limit, lifetimes: lifetimes) { pool, loop in
            pool.giveBack(try await pool.open(within: patience))
            #expect(pool.connections.idle == 1)
            try await eventually(loop, "the connection to expire") { pool.connections.idle == 0 }
        }
        #expect(limit.openCount == 0)
        try upstream.awaitNoConnections()
    }

    @Test func `a connection past its age is not kept`() async throws {
        let upstream = try RawUpstream()
        try await onPool(to: upstream, lifetimes: .init(age: .milliseconds(20))) { pool, loop in
            let connection = try await pool.open(within: patience)
            await loop.pause(for: .milliseconds(40))
            pool.giveBack(connection)
            #expect(pool.connections.idle == 0)
        }
    }

    @Test func `a closed pool keeps nothing`() async throws {
        let upstream = try RawUpstream()
        let limit = UpstreamLimit(maximum: 10)
        try await onPool(to: upstream, limit) { pool, _ in
            let busy = try await pool.open(within: patience)
            pool.giveBack(try await pool.open(within: patience))
            pool.close()
            #expect(pool.connections.idle == 0)
            pool.giveBack(busy)
            #expect(pool.connections.idle == 0)
        }
        #expect(limit.openCount == 0)
        try upstream.awaitNoConnections()
    }

    @Test func `an upstream that refuses costs no place under the limit`() async throws {
        let (socket, refusing) = try Socket.refusing()
        let address = UpstreamAddress(url: try url("http://\(refusing)"))
        let limit = UpstreamLimit(maximum: 1)
        try await onLoop { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            for _ in 0..<3 {
                let error = await failure { () async throws(UpstreamError) in
                    _ = try await pool.open(within: patience)
                }
                #expect(error == .connectionRefused)
            }
        }
        #expect(limit.openCount == 0)
        withExtendedLifetime(socket) {}
    }
}
