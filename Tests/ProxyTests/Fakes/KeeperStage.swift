// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdObservability
import Glibc
import Testing

@testable import BearerdProxy

/// A keeper of real connections before a fake upstream, on a loop.
actor KeeperStage: LoopConfined {
    nonisolated let loop: EventLoop
    private let shelf = PoolShelf()
    private let budget = ConnectionBudget(limit: 8)
    private let worker: WorkerState<FakeKinds>
    private let keeper: ConnectionKeeper<FakeKinds>
    private let listener = ListenerPolicy(
        key: ListenerKey(.tcp(host: "127.0.0.1", port: 0)), hosts: HostList(["front.example"]))

    init(loop: EventLoop) throws {
        self.loop = loop
        let snapshot = RoutingSnapshot(
            version: 1, routes: [try TestRoute().prepared()], access: AccessPolicy(), listeners: [listener])
        let shelf = shelf
        worker = WorkerState(loop: loop, snapshot: snapshot) { shelf.makePools(to: $0) }
        keeper = ConnectionKeeper(
            loop: loop, budget: budget, forwarder: Forwarder(loop: loop, worker: worker),
            http2Keeper: HTTP2Keeper(loop: loop, forwarder: Forwarder(loop: loop, worker: worker)))
    }

    /// Connects a client.
    ///
    /// - Returns: its end, which blocks.
    func connect() throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let stream = ByteStream(
            wire: SocketWire(descriptor: ends[0]),
            readiness: Readiness(descriptor: ends[0], loop: loop), loop: loop)
        _ = budget.enter(mayExceed: true)
        keeper.serve(stream, from: .ip("127.0.0.1"), by: worker.routing.routing(at: listener), on: self)
        return ends[1]
    }

    /// Has the upstream answer so many requests.
    func answer(_ count: Int) {
        for _ in 0..<count {
            shelf.pools[0].exchange.answer(
                FakeAnswer(fields: [.contentLength: "2"], length: .exact(2), pieces: ["ok"]))
        }
    }

    /// How many requests have come to the upstream.
    var requestCount: Int { shelf.pools[0].exchange.heads.count }

    /// Waits until so many have.
    func awaitRequests(_ count: Int) async {
        while requestCount < count { await loop.pause(for: .milliseconds(1)) }
    }

    var openConnections: Int { worker.metricsSnapshot().openConnections }

    /// Ends what is idle at once, and returns when nothing is left.
    func drain() async {
        worker.isDraining = true
        await keeper.drain(linger: .milliseconds(1))
    }

    /// Plays one act on a stage of its own.
    static func play(_ act: (KeeperStage) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let stage = try KeeperStage(loop: loop)
        do { try await act(stage) } catch { Issue.record(error) }
        await stage.drain()
        loop.stop()
        thread.join()
    }
}
