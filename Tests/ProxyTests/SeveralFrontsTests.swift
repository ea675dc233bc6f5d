// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdRouting
import Synchronization
import Testing

@testable import BearerdObservability
@testable import BearerdProxy

/// Clients of two kinds, each with a forwarder of its own: one connection carries one exchange, or several at a time.
@Suite(.timeLimit(.minutes(10)))
struct `Two forwarders of one worker` {
    private typealias Streams = Forwarder<FakeStream, FakeKinds>
    private typealias StreamExchange = Exchange<FakeStream, FakeKinds>

    /// The lines of the access log.
    private final class Lines: LineSink {
        private let text = Mutex("")

        func write(_ lines: [UInt8]) { text.withLock { $0 += String(decoding: lines, as: UTF8.self) } }

        var all: [Substring] { text.withLock { $0 }.split(separator: "\n") }
    }

    /// A connection with as many streams as there are targets, each of which has begun a request.
    private func streams(
        _ targets: [String], of forwarder: Streams, on stage: isolated FakeStage
    ) throws -> [StreamExchange] {
        let routing = try #require(forwarder.worker.routing[FakeStage.listener])
        let exchanges = targets.map { target in
            let stream = FakeStream()
            stream.ask(.get, target)
            return forwarder.makeExchange(for: stream, on: routing)
        }
        forwarder.clients.forEachExchange = { body in exchanges.forEach(body) }
        return exchanges
    }

    private func start(
        _ exchanges: [StreamExchange], by forwarder: Streams, on stage: isolated FakeStage
    ) -> [Task<Void, Never>] {
        exchanges.map { exchange in stage.loop.startTask { await forwarder.serve(exchange) } }
    }

    @Test func `serve their clients side by side, over the same connections`() async throws {
        let other = try TestRoute("/other", to: "http://other.example").prepared()
        try await FakeStage.play { stage in
            stage.use(2, routes: [stage.route, other])
            let forwarder = Streams(loop: stage.loop, worker: stage.worker)
            let exchanges = try self.streams(["/a", "/other/b"], of: forwarder, on: stage)
            stage.pools[1].exchange.answers = [FakeAnswer(length: .open, pieces: ["b"], isWhole: false)]
            let tasks = self.start(exchanges, by: forwarder, on: stage)
            await stage.settle()
            // The first stream waits for its answer, the second for the rest of it.
            #expect(exchanges[1].client.outgoing.text == "b" && exchanges[0].client.answers.isEmpty)
            stage.pool.exchange.answer(FakeAnswer(length: .exact(1), pieces: ["a"]))
            await tasks[0].value
            #expect(exchanges[0].client.outgoing.text == "a" && exchanges[0].client.outgoing.hasEnd)
            #expect(!exchanges[1].client.outgoing.hasEnd)
            // Its connection is the next one's, of a client of the other kind.
            stage.pool.kept = 1
            stage.client.ask(.get, "/c")
            stage.upstream.answers = [FakeAnswer(length: .exact(1), pieces: ["c"])]
            await stage.run()
            #expect(stage.client.outgoing.text == "c" && stage.pool.kept == 0)
            stage.pools[1].exchange.incoming.end()
            await tasks[1].value
            #expect(exchanges[1].client.outgoing.hasEnd)
        }
    }

    @Test func `count and log as one`() async throws {
        let lines = Lines()
        try await FakeStage.play { stage in
            let listener = ListenerPolicy(key: FakeStage.listener, hosts: HostList(["front.example"]))
            stage.worker.use(
                RoutingSnapshot(
                    version: 2, routes: [stage.route], access: AccessPolicy(), listeners: [listener],
                    accessLog: lines))
            let forwarder = Streams(loop: stage.loop, worker: stage.worker)
            let exchange = try self.streams(["/a"], of: forwarder, on: stage)[0]
            stage.upstream.answers = [FakeAnswer(status: 201), FakeAnswer(status: 202)]
            await forwarder.serve(exchange)
            stage.client.ask(.get, "/b")
            await stage.run()
            exchange.client.ask(.get, "/c")
            exchange.client.request.fields[.host] = "elsewhere.example"
            await forwarder.serve(exchange)
            let metrics = stage.worker.metricsSnapshot()
            #expect(metrics.routes["/"]?.statuses.map(\.status) == [201, 202])
            #expect(metrics.routes[WorkerMetrics.noRoute]?.statuses.map(\.status) == [421])
            #expect(metrics.denied[.host] == 1)
            stage.worker.recorder.flush()
            // A time or a port may have these digits, too.
            #expect(lines.all.count == 3 && lines.all.count { $0.contains(/status"?[:=]421/) } == 1)
        }
    }

    @Test func `go by one snapshot, and each ends the streams of its own clients`() async throws {
        let other = try TestRoute("/other", to: "http://other.example").prepared()
        try await FakeStage.play { stage in
            let forwarder = Streams(loop: stage.loop, worker: stage.worker)
            let exchange = try self.streams(["/a"], of: forwarder, on: stage)[0]
            stage.upstream.answers = [
                FakeAnswer(
                    fields: [.contentType: "text/event-stream"], length: .open, pieces: ["a"], isWhole: false)
            ]
            let task = self.start([exchange], by: forwarder, on: stage)[0]
            await stage.settle()
            #expect(forwarder.openStreams == ["/": 1] && stage.forwarder.openStreams.isEmpty)
            stage.use(2, routes: [other])
            forwarder.useSnapshot()
            // The other one's clients have nothing to do with it.
            stage.forwarder.clients.forEachExchange = { body in body(stage.exchange) }
            #expect(!stage.forwarder.judgeAgain() && !stage.forwarder.endStreams(revokedBy: 2))
            await stage.settle()
            #expect(exchange.client.isOpen)
            #expect(forwarder.judgeAgain() && !forwarder.endStreams(revokedBy: 2))
            await task.value
            #expect(!exchange.client.isOpen && exchange.record.abortReason == .routeGone)
            // Both serve by the new snapshot.
            let next = try self.streams(["/a"], of: forwarder, on: stage)[0]
            await forwarder.serve(next)
            stage.client.ask(.get, "/b")
            await stage.run()
            #expect(next.client.answers.map(\.status) == [404] && stage.client.answers.map(\.status) == [404])
        }
    }

    @Test func `leave the rest of one request unread, and end a connection, as two things`() async throws {
        try await FakeStage.play { stage in
            let forwarder = Streams(loop: stage.loop, worker: stage.worker)
            let routing = try #require(stage.worker.routing[FakeStage.listener])
            let stream = FakeStream()
            let exchange = forwarder.makeExchange(for: stream, on: routing)
            stream.ask(.post, "/", length: .exact(9), pieces: ["abc"], isWhole: false)
            let task = self.start([exchange], by: forwarder, on: stage)[0]
            await stage.settle()
            stage.upstream.answer(FakeAnswer(status: 413))
            await task.value
            #expect(stream.answers.map(\.status) == [413] && stream.isLeftUnread && !stream.endsConnection)
            stage.worker.isDraining = true
            let last = try self.streams(["/last"], of: forwarder, on: stage)[0]
            stage.upstream.answers = [FakeAnswer()]
            await forwarder.serve(last)
            #expect(last.client.endsConnection && !last.client.isLeftUnread)
        }
    }

    @Test func `end their clients' connections together`() async throws {
        try await FakeStage.play { stage in
            let forwarder = Streams(loop: stage.loop, worker: stage.worker)
            let exchange = try self.streams(["/a"], of: forwarder, on: stage)[0]
            #expect(!forwarder.endsConnection(of: exchange))
            stage.worker.isDraining = true
            #expect(forwarder.endsConnection(of: exchange))
            #expect(stage.forwarder.endsConnection(of: stage.exchange))
        }
    }
}
