// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

@Suite(.blocking) struct `The limit of upstream connections` {
    private let upstream: RawUpstream
    private let address: UpstreamAddress

    init() throws {
        upstream = try RawUpstream()
        address = try upstream.address()
    }

    @Test func `beyond the limit a request waits in vain and is told so`() async throws {
        let limit = UpstreamLimit(maximum: 1)
        try await onLoop { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            let held = try await pool.open(within: patience)
            let error = await failure { () async throws(UpstreamError) in
                _ = try await pool.open(within: .milliseconds(50))
            }
            #expect(error == .busy)
            pool.discard(held)
            pool.discard(try await pool.open(within: patience))
        }
        #expect(limit.openCount == 0)
    }

    @Test func `a waiter gets the connection that comes free, in the order of waiting`() async throws {
        let limit = UpstreamLimit(maximum: 1)
        let client = try ClientLoop()
        defer { client.stop() }
        let order = try await client.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            let held = try await pool.open(within: patience)
            let visits = Visits(pool: pool, connection: held)
            let waiting = [visits.start(1, on: multis.loop), visits.start(2, on: multis.loop)]
            // Both wait before the connection comes free: their jobs are ahead of this one's.
            await multis.loop.pause(for: .milliseconds(5))
            pool.giveBack(held)
            for task in waiting { await task.value }
            return visits.order
        }
        #expect(order == [1, 2])
        #expect(upstream.connectionCount == 1)
    }

    @Test func `a waiter gets no connection over which more has come than the answer`() async throws {
        let (isAnswered, hasSpoken) = (Gate(), Gate())
        let upstream = try RawUpstream { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            try isAnswered.pass()
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
            hasSpoken.open()
            _ = try wire.readToEnd()
        }
        let (address, limit) = (try upstream.address(), UpstreamLimit(maximum: 1))
        let client = try ClientLoop()
        defer { client.stop() }
        let isAnother = try await client.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            let held = try await pool.open(within: patience)
            _ = try await held.exchange()
            let visits = Visits(pool: pool, connection: held)
            let waiting = visits.start(1, on: multis.loop)
            await multis.loop.pause(for: .milliseconds(5))
            // The loop stands still meanwhile, and no event tells of it.
            isAnswered.open()
            try hasSpoken.pass()
            pool.giveBack(held)
            await waiting.value
            return visits.order == [1] && visits.connections.allSatisfy { $0 !== held }
        }
        #expect(isAnother)
    }

    @Test func `an idle connection of one worker makes room for another's request`() async throws {
        let limit = UpstreamLimit(maximum: 1)
        let (first, second) = (try ClientLoop(name: "first"), try ClientLoop(name: "second"))
        defer {
            first.stop()
            second.stop()
        }
        let keeper = PoolKeeper(first)
        try await keeper.fill(address, limit)
        let answer = try await second.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            return try await pool.open(within: patience).exchange()
        }
        #expect(answer.hasSuffix("hello"))
        #expect(try await keeper.idleCount == 0)
        #expect(limit.openCount <= 1)
    }

    @Test func `a cancelled request stops waiting`() async throws {
        let limit = UpstreamLimit(maximum: 1)
        let client = try ClientLoop()
        defer { client.stop() }
        try await client.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            let held = try await pool.open(within: patience)
            let visits = Visits(pool: pool, connection: held)
            let task = visits.start(1, on: multis.loop)
            await multis.loop.pause(for: .milliseconds(5))
            task.cancel()
            await task.value
            #expect(visits.errors == [.cancelled])
            pool.discard(held)
        }
        #expect(limit.openCount == 0)
    }

    @Test func `a limit that is raised serves who waits, and one that is lowered takes back what is idle`()
        async throws
    {
        let limit = UpstreamLimit(maximum: 1)
        let client = try ClientLoop()
        defer { client.stop() }
        try await client.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            let held = try await pool.open(within: patience)
            let visits = Visits(pool: pool, connection: held)
            let waiting = visits.start(1, on: multis.loop)
            await multis.loop.pause(for: .milliseconds(5))
            limit.change(maximum: 2)
            await waiting.value
            #expect(visits.order == [1] && limit.openCount == 2)
            pool.giveBack(held)
            #expect(pool.connections.idle == 2)
            limit.change(maximum: 1)
            await multis.loop.pause(for: .milliseconds(5))
            #expect(pool.connections.idle == 1 && limit.openCount == 1)
            pool.close()
        }
        #expect(limit.openCount == 0)
    }

    @Test func `two workers under one limit never exceed it and serve everybody`() async throws {
        let limit = UpstreamLimit(maximum: 3)
        let clients = [try ClientLoop(name: "first"), try ClientLoop(name: "second")]
        defer { clients.forEach { $0.stop() } }
        let served = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in clients {
                group.addTask {
                    try await client.run { multis in
                        let pool = UpstreamPool(address: address, limit: limit, multis: multis)
                        let crowd = Crowd(pool: pool, limit: limit)
                        await crowd.run(20, each: 10, on: multis.loop)
                        pool.close()
                        #expect(crowd.errors.isEmpty)
                        #expect(crowd.highest <= 3)
                        return crowd.served
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(served == 400)
        #expect(limit.openCount == 0)
    }
}

/// Requests that each take a connection, and give it back at once.
///
/// `@unchecked Sendable`: everything in it is touched on one loop's thread, on which all its tasks run.
private final class Visits: @unchecked Sendable {
    private let pool: UpstreamPool
    private(set) var order: [Int] = []
    private(set) var connections: [UpstreamConnection] = []
    private(set) var errors: [UpstreamError] = []

    init(pool: UpstreamPool, connection: UpstreamConnection) {
        self.pool = pool
    }

    func start(_ number: Int, on loop: EventLoop) -> Task<Void, Never> {
        Task(executorPreference: loop) { await self.visit(number) }
    }

    private nonisolated(nonsending) func visit(_ number: Int) async {
        do throws(UpstreamError) {
            let connection = try await pool.open(within: patience)
            order.append(number)
            connections.append(connection)
            pool.giveBack(connection)
        } catch {
            errors.append(error)
        }
    }
}

/// Many requests at once, each with an exchange.
///
/// `@unchecked Sendable`: everything in it is touched on one loop's thread, on which all its tasks run.
private final class Crowd: @unchecked Sendable {
    private let pool: UpstreamPool
    private let limit: UpstreamLimit
    private(set) var served = 0
    private(set) var highest = 0
    private(set) var errors: [any Error] = []

    init(pool: UpstreamPool, limit: UpstreamLimit) {
        self.pool = pool
        self.limit = limit
    }

    func run(_ count: Int, each repeats: Int, on loop: EventLoop) async {
        let tasks = (0..<count).map { _ in
            Task(executorPreference: loop) { await self.visit(repeats) }
        }
        for task in tasks { await task.value }
    }

    private func visit(_ repeats: Int) async {
        for _ in 0..<repeats {
            do {
                let connection =
                    if let idle = pool.take(mayRepeat: true) { idle } else {
                        try await pool.open(within: patience)
                    }
                highest = max(highest, limit.openCount)
                _ = try await connection.exchange()
                served += 1
                pool.giveBack(connection)
            } catch {
                errors.append(error)
            }
        }
    }
}

/// A pool that lives on its loop beyond one call.
///
/// `@unchecked Sendable`: the pool is touched on its loop's thread alone.
private final class PoolKeeper: @unchecked Sendable {
    private let client: ClientLoop
    private var pool: UpstreamPool?

    init(_ client: ClientLoop) {
        self.client = client
    }

    func fill(_ address: UpstreamAddress, _ limit: UpstreamLimit) async throws {
        try await client.run { multis in
            let pool = UpstreamPool(address: address, limit: limit, multis: multis)
            pool.giveBack(try await pool.open(within: patience))
            self.pool = pool
        }
    }

    var idleCount: Int? {
        get async throws { try await client.run { _ in self.pool?.connections.idle } }
    }
}
