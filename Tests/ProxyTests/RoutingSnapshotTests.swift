// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdObservability
import Testing

@testable import BearerdProxy

@Suite(.timeLimit(.minutes(10)))
struct `A snapshot that takes the place of another` {
    /// A route to an upstream of its own.
    private func route(_ path: String, host: String = "other.example") throws -> PreparedRoute {
        try TestRoute(path, to: "http://\(host)").prepared()
    }

    private func ask(_ stage: isolated FakeStage, _ target: String, of pool: FakePool) async {
        stage.client.ask(.get, target)
        pool.exchange.answers = [FakeAnswer(length: .exact(1), pieces: ["a"])]
        await stage.run()
    }

    @Test func `leaves a request with what it began with`() async throws {
        let other = try route("/")
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/x")
            stage.upstream.answers = [FakeAnswer(length: .open, pieces: ["a"], isWhole: false)]
            let task = stage.start()
            await stage.settle()
            stage.use(2, routes: [other])
            stage.upstream.incoming.arrive("b")
            stage.upstream.incoming.end()
            await task.value
            #expect(stage.client.outgoing.text == "ab" && stage.client.outgoing.hasEnd)
            #expect(stage.pool.ended == [true] && stage.pool.isClosed)
            #expect(stage.client.persists)
        }
    }

    @Test func `serves the next request of a kept connection`() async throws {
        let other = try route("/")
        try await FakeStage.play { stage in
            await self.ask(stage, "/", of: stage.pool)
            stage.use(2, routes: [other])
            await self.ask(stage, "/y", of: stage.pools[1])
            #expect(stage.pools[1].exchange.heads.map(\.target) == ["/y"])
            #expect(stage.pools[1].exchange.heads.first?.fields[.host] == "other.example")
            stage.use(3, routes: [])
            stage.client.ask(.get, "/")
            await stage.run()
            #expect(stage.client.answers.last?.status == 404)
        }
    }

    @Test func `keeps the connections to an upstream that stays, and ends those to one that goes`()
        async throws
    {
        let other = try route("/other")
        try await FakeStage.play { stage in
            stage.use(2, routes: [other, stage.route])
            #expect(stage.pools.count == 2 && !stage.pool.isClosed)
            await self.ask(stage, "/", of: stage.pool)
            stage.use(3, routes: [other])
            #expect(stage.pool.isClosed && !stage.pools[1].isClosed)
        }
    }

    @Test func `counts on where a route of the same name was`() async throws {
        let other = try route("/other")
        try await FakeStage.play { stage in
            await self.ask(stage, "/", of: stage.pool)
            stage.use(2, routes: [other])
            await self.ask(stage, "/other", of: stage.pools[1])
            #expect(stage.served("/") == 1 && stage.served("/other") == 1)
            stage.use(3, routes: [stage.route])
            await self.ask(stage, "/", of: stage.pools[2])
            #expect(stage.served("/") == 2 && stage.served("/other") == 1)
        }
    }

    @Test func `has a connection end with its next answer when its listener is gone`() async throws {
        try await FakeStage.play { stage in
            await self.ask(stage, "/", of: stage.pool)
            #expect(stage.client.persists)
            stage.use(2, routes: [stage.route], at: ListenerKey(FakeStage.listener.address, ordinal: 1))
            await self.ask(stage, "/", of: stage.pool)
            #expect(stage.client.answers.map(\.status) == [200, 200] && !stage.client.persists)
        }
    }

    @Test func `judges a host anew that the one before let in`() async throws {
        try await FakeStage.play { stage in
            await self.ask(stage, "/", of: stage.pool)
            stage.use(2, routes: [stage.route], hosts: ["elsewhere.example"])
            stage.client.ask(.get, "/")
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [200, 421])
        }
    }

    @Test func `counts connections of a route that is gone until they end`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/x")
            stage.upstream.answers = [FakeAnswer(length: .open, pieces: ["a"], isWhole: false)]
            let task = stage.start()
            await stage.settle()
            stage.use(2, routes: [])
            #expect(stage.activeConnections("/") == 1)
            stage.upstream.incoming.end()
            await task.value
            #expect(stage.activeConnections("/") == 0)
        }
    }
}

extension FakeStage {
    /// How many requests a route has answered with 200.
    fileprivate func served(_ route: String) -> Int? {
        worker.metricsSnapshot().routes[route]?.statuses.first { $0.status == 200 }?.count
    }

    fileprivate func activeConnections(_ route: String) -> Int? {
        worker.metricsSnapshot().routes[route]?.upstreamConnections[.active]
    }
}
