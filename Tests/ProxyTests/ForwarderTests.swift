// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdRouting
import Testing

@testable import BearerdProxy

@Suite(.timeLimit(.minutes(10)))
struct `A forwarder, whatever carries its messages,` {
    @Test func `sends a request up and its answer down`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/x?y")
            stage.upstream.answers = [
                FakeAnswer(fields: [.server: "fake"], length: .exact(5), pieces: ["ab", "cde"])
            ]
            await stage.run()
            let head = try #require(stage.upstream.heads.first)
            #expect(head.target == "/x?y" && head.fields[.host] == "api.example")
            #expect(head.fields.contains(.xRequestID) && head.fields.contains(.via))
            #expect(stage.client.answers.map(\.status) == [200])
            #expect(stage.client.answers.first?.fields[.server] == "fake")
            #expect(stage.client.outgoing.text == "abcde" && stage.client.outgoing.hasEnd)
            #expect(stage.client.persists)
            #expect(stage.pool.ended == [true] && stage.pool.discardedCount == 0)
        }
    }

    /// Admits everybody.
    private struct OpenSecurity: ConnectionSecurity {
        func wire(on descriptor: Int32) -> (any Wire)? { nil }
        func admits(_ wire: any Wire) -> Bool { true }
    }

    @Test func `judges a client's connection once, whatever hosts its requests name`() async throws {
        try await FakeStage.play { stage in
            stage.client.isEncrypted = true
            let hosts = ["a.example", "b.example"]
            stage.use(2, routes: [stage.route], hosts: hosts, security: OpenSecurity())
            for host in hosts + ["c.example"] + hosts {
                stage.client.ask(.get, "/", fields: [.host: host])
                stage.upstream.answers = [FakeAnswer(length: .exact(1), pieces: ["a"])]
                await stage.run()
            }
            #expect(stage.client.answers.map(\.status) == [200, 200, 421, 200, 200])
            #expect(stage.client.judgements == 1)
        }
    }

    @Test func `waits for the client to take an answer, and takes no more of it meanwhile`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            stage.client.outgoing.room = 3
            stage.upstream.answers = [FakeAnswer(length: .open, pieces: ["abcd", "efgh"])]
            let task = stage.start()
            await stage.settle()
            #expect(stage.client.outgoing.text == "abc")
            #expect(stage.upstream.incoming.byteCount <= 8)
            stage.client.outgoing.takeMore()
            await task.value
            #expect(stage.client.outgoing.text == "abcdefgh" && stage.client.outgoing.hasEnd)
        }
    }

    @Test func `sends on what arrives before more of it does`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            stage.upstream.answers = [FakeAnswer(length: .open, pieces: ["a"], isWhole: false)]
            let task = stage.start()
            await stage.settle()
            #expect(stage.client.outgoing.text == "a" && !stage.client.outgoing.hasEnd)
            stage.upstream.incoming.arrive("b")
            await stage.settle()
            #expect(stage.client.outgoing.text == "ab")
            stage.upstream.incoming.trailers[.server] = "late"
            stage.upstream.incoming.end()
            await task.value
            #expect(stage.client.outgoing.trailers?[.server] == "late")
        }
    }

    @Test func `shows an answer that breaks off as a cut, and keeps no connection`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            stage.upstream.answers = [FakeAnswer(length: .exact(9), pieces: ["abc"], isWhole: false)]
            let task = stage.start()
            await stage.settle()
            stage.upstream.incoming.end(.truncated)
            await task.value
            #expect(stage.client.end == .cut)
            #expect(stage.exchange.record.abortReason == .truncated)
        }
    }

    @Test func `answers 502 in the place of an answer of which the client has seen nothing`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.post, "/", length: .exact(1), pieces: ["x"])
            stage.upstream.answers = [FakeAnswer(isEnd: true)]
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [502])
            #expect(stage.client.end == nil && stage.pool.discardedCount == 1)
        }
    }

    @Test(arguments: [(HTTPMethod.get, 200, 2), (.post, 502, 1)])
    func `asks once more where a kept connection was dead and the method allows it`(
        method: HTTPMethod, status: Int, attempts: Int
    ) async throws {
        try await FakeStage.play { stage in
            stage.client.ask(method, "/", length: .exact(1), pieces: ["x"])
            stage.pool.kept = 2
            stage.upstream.answers = [FakeAnswer(isEnd: true), FakeAnswer(length: .none)]
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [status])
            #expect(stage.upstream.heads.count == attempts)
            #expect(stage.pool.repeatable.first == (method == .get))
            // The second attempt is on a connection that nobody has used.
            #expect(stage.pool.kept == 1)
        }
    }

    @Test(arguments: [0, 1])
    func `asks once more, whatever the method, where the upstream left the request unprocessed`(
        keptConnections: Int
    ) async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.post, "/", length: .exact(2), pieces: ["hi"])
            stage.pool.kept = keptConnections
            stage.upstream.answers = [FakeAnswer(isLeftUnprocessed: true), FakeAnswer(length: .none)]
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [200] && stage.upstream.heads.count == 2)
            #expect(stage.upstream.outgoing.text == "hi")
            // Nothing is learned from that of how long connections are kept.
            #expect(stage.pool.heededCount == 0)
        }
    }

    @Test func `asks no fourth time where the upstream leaves requests unprocessed`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.post, "/", length: .exact(2), pieces: ["hi"])
            stage.upstream.answers = Array(repeating: FakeAnswer(isLeftUnprocessed: true), count: 4)
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [502] && stage.upstream.heads.count == 3)
        }
    }

    @Test func `repeats no unprocessed request whose body was not kept`() async throws {
        try await FakeStage.play({ $0.terms.replayBuffer = 1 }) { stage in
            stage.client.ask(.post, "/", length: .exact(2), pieces: ["hi"])
            stage.upstream.answers = [FakeAnswer(isLeftUnprocessed: true), FakeAnswer(length: .none)]
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [502] && stage.upstream.heads.count == 1)
        }
    }

    @Test func `sends a body that is larger than what is kept while it comes`() async throws {
        try await FakeStage.play({ $0.terms.replayBuffer = 4 }) { stage in
            stage.client.ask(.post, "/", length: .open, pieces: ["abc"], isWhole: false)
            let task = stage.start()
            await stage.settle()
            #expect(stage.upstream.outgoing.text == "abc" && !stage.upstream.outgoing.hasEnd)
            #expect(stage.exchange.isReplayable)
            stage.client.incoming.arrive("def", isLast: true)
            await stage.settle()
            #expect(stage.upstream.outgoing.text == "abcdef" && stage.upstream.outgoing.hasEnd)
            #expect(!stage.exchange.isReplayable)
            stage.upstream.answer(FakeAnswer())
            await task.value
            #expect(stage.client.answers.map(\.status) == [200] && stage.pool.ended == [true])
        }
    }

    @Test func `ends an upload whose answer is a refusal, and the client's connection with it`() async throws
    {
        try await FakeStage.play { stage in
            stage.client.ask(.post, "/", length: .exact(9), pieces: ["abc"], isWhole: false)
            let task = stage.start()
            await stage.settle()
            stage.upstream.answer(FakeAnswer(status: 413))
            await task.value
            #expect(stage.client.answers.map(\.status) == [413])
            #expect(!stage.client.persists && !stage.upstream.isOpen && stage.pool.ended == [false])
        }
    }

    @Test func `forwards interim answers, and gives up on an upstream that sends nothing else`() async throws
    {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            stage.upstream.answers = [FakeAnswer(interim: [103, 102])]
            await stage.run()
            #expect(stage.client.interim == [103, 102] && stage.client.answers.map(\.status) == [200])
            stage.client.ask(.get, "/")
            stage.upstream.answers = [FakeAnswer(interim: Array(repeating: 103, count: 65))]
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [200, 502])
        }
    }

    @Test func `begins nothing for a client that has gone, and ends what it waits for`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            let task = stage.start()
            await stage.settle()
            #expect(stage.upstream.heads.count == 1)
            stage.forwarder.leave(stage.exchange)
            await task.value
            #expect(stage.exchange.record.status == 499)
            #expect(stage.client.answers.isEmpty && !stage.upstream.isOpen && stage.pool.discardedCount == 1)
        }
    }

    @Test func `tells why there is no connection, and asks nothing of the upstream`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/")
            stage.pool.failure = .connectionRefused
            await stage.run()
            #expect(stage.client.answers.map(\.status) == [502] && stage.upstream.heads.isEmpty)
            #expect(stage.exchange.record.abortReason == .rejected(.upstreamConnect))
        }
    }

    @Test func `moves bytes both ways behind a 101, until one side ends`() async throws {
        try await FakeStage.play { stage in
            stage.client.ask(.get, "/", fields: [.connection: "Upgrade", .upgrade: "websocket"])
            stage.upstream.answers = [FakeAnswer(status: 101, fields: [.upgrade: "websocket"])]
            let task = stage.start()
            await stage.settle()
            #expect(stage.upstream.forms.first?.upgrade == "websocket")
            #expect(stage.pool.forms.map(\.upgrade) == ["websocket", "websocket"])
            #expect(stage.client.answers.map(\.status) == [101] && stage.client.isTunnel)
            stage.upstream.incoming.arrive("down")
            await stage.settle()
            #expect(stage.client.outgoing.text == "down")
            stage.client.incoming.arrive("up")
            await stage.settle()
            #expect(stage.upstream.outgoing.text == "up")
            stage.client.incoming.end()
            await stage.settle()
            #expect(stage.upstream.hasEndedSending && stage.upstream.isOpen)
            stage.upstream.incoming.end()
            await task.value
            #expect(stage.client.end == .closed && !stage.upstream.isOpen)
            #expect(stage.exchange.record.bytesOut == 4)
        }
    }
}
