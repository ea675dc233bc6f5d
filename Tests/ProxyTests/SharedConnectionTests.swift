// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdObservability
import Testing

@testable import BearerdProxy

/// An upstream that is spoken to on one connection for all, beside one with a connection for each exchange.
@Suite(.timeLimit(.minutes(10)))
struct `Exchanges on one upstream connection` {
    /// A stage with a route to each kind of upstream, and as many clients of the shared one as there are targets.
    private func play(
        _ targets: [String],
        _ act:
            @escaping @Sendable (isolated FakeStage, [Exchange<FakeClient, FakeKinds>]) async throws -> Void
    ) async throws {
        let shared = try TestRoute("/shared", to: "http://\(PoolShelf.streamingHost)").prepared()
        try await FakeStage.play { stage in
            stage.use(2, routes: [stage.route, shared])
            let routing = try #require(stage.worker.routing[FakeStage.listener])
            let exchanges = targets.map { target in
                let client = FakeClient()
                client.ask(.post, target, length: .exact(4), pieces: ["data"])
                return stage.forwarder.makeExchange(for: client, on: routing)
            }
            try await act(stage, exchanges)
        }
    }

    @Test func `share one window, writer and reader, and end apart`() async throws {
        try await play(["/shared/a", "/shared/b"]) { stage, exchanges in
            let connection = stage.connection
            connection.window.room = 6
            let tasks = exchanges.map { exchange in
                stage.loop.startTask { await stage.forwarder.serve(exchange) }
            }
            await stage.settle()
            // The first has sent all, the second what was left of the window, and waits for the peer.
            #expect(connection.streams.map(\.outgoing.text) == ["data", "da"])
            #expect(connection.window.room == 0)
            // The reader is the connection's, not the stream's: the second is answered while it sends.
            connection.streams[1].answer(FakeAnswer(length: .open, pieces: ["early"], isWhole: false))
            await stage.settle()
            #expect(exchanges[1].client.outgoing.text == "early" && exchanges[0].client.answers.isEmpty)
            connection.window.open(by: 2)
            await stage.settle()
            #expect(connection.streams[1].outgoing.text == "data")
            connection.streams[0].answer(FakeAnswer(length: .exact(1), pieces: ["a"]))
            await tasks[0].value
            #expect(exchanges[0].client.outgoing.text == "a" && connection.endedCount == 1)
            connection.streams[1].incoming.end()
            await tasks[1].value
            #expect(exchanges[1].client.outgoing.hasEnd && connection.endedCount == 2)
        }
    }

    @Test func `are not held up by one that is given up while it waits for the window`() async throws {
        try await play(["/shared/a", "/shared/b"]) { stage, exchanges in
            let connection = stage.connection
            connection.window.room = 2
            let tasks = exchanges.map { exchange in
                stage.loop.startTask { await stage.forwarder.serve(exchange) }
            }
            await stage.settle()
            stage.forwarder.leave(exchanges[0])
            await tasks[0].value
            #expect(connection.discardedCount == 1 && !connection.streams[0].isOpen)
            connection.window.open(by: 4)
            connection.streams[1].answer(FakeAnswer(length: .exact(1), pieces: ["b"]))
            await tasks[1].value
            #expect(connection.streams[1].outgoing.text == "data")
            #expect(exchanges[1].client.outgoing.text == "b")
        }
    }

    @Test func `go beside those to an upstream of the other kind`() async throws {
        try await play(["/shared/a"]) { stage, exchanges in
            stage.connection.answers = [FakeAnswer(length: .exact(1), pieces: ["s"])]
            stage.upstream.answers = [FakeAnswer(length: .exact(1), pieces: ["o"])]
            await stage.forwarder.serve(exchanges[0])
            stage.client.ask(.get, "/own")
            await stage.run()
            #expect(exchanges[0].client.outgoing.text == "s" && stage.client.outgoing.text == "o")
            #expect(stage.connection.streams.count == 1 && stage.upstream.heads.count == 1)
            #expect(stage.worker.metricsSnapshot().routes["/shared"]?.statuses.map(\.status) == [200])
        }
    }

    @Test func `are sent once more, whatever the method, when the upstream has left them unprocessed`()
        async throws
    {
        try await play(["/shared/a"]) { stage, exchanges in
            stage.connection.answers = [
                FakeAnswer(isLeftUnprocessed: true), FakeAnswer(length: .exact(1), pieces: ["a"]),
            ]
            await stage.forwarder.serve(exchanges[0])
            #expect(stage.connection.streams.map(\.outgoing.text) == ["data", "data"])
            #expect(exchanges[0].client.answers.map(\.status) == [200])
            #expect(stage.connection.discardedCount == 1 && stage.connection.endedCount == 1)
        }
    }
}
