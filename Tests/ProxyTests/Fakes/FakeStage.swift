// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import Testing

@testable import BearerdProxy

/// A forwarder between a fake client and a fake upstream, on a loop.
actor FakeStage: LoopConfined {
    typealias Act = (isolated FakeStage) async throws -> Void

    nonisolated let loop: EventLoop
    let client = FakeClient()
    private let shelf: PoolShelf
    /// Every pool, in the order in which they were made.
    var pools: [FakePool] { shelf.pools }
    /// The connection of the first upstream of the second kind.
    var connection: FakeConnection { shelf.connections[0] }
    /// The one for the first snapshot's route.
    var pool: FakePool { shelf.pools[0] }
    /// The route of the first snapshot.
    let route: PreparedRoute
    static let listener = ListenerKey(.tcp(host: "127.0.0.1", port: 0))
    let worker: WorkerState<FakeKinds>
    let forwarder: Forwarder<FakeClient, FakeKinds>
    private(set) var exchange: Exchange<FakeClient, FakeKinds>
    var upstream: FakeUpstream { pool.exchange }

    init(loop: EventLoop, _ change: (inout TestRoute) -> Void) throws {
        self.loop = loop
        let route = try TestRoute.prepared("/", change)
        let listener = ListenerPolicy(key: Self.listener, hosts: HostList(["front.example"]))
        let snapshot = RoutingSnapshot(
            version: 1, routes: [route], access: AccessPolicy(), listeners: [listener])
        self.route = route
        let shelf = PoolShelf()
        self.shelf = shelf
        worker = WorkerState(loop: loop, snapshot: snapshot) { shelf.makePools(to: $0) }
        forwarder = Forwarder(loop: loop, worker: worker)
        exchange = forwarder.makeExchange(for: client, on: worker.routing.routing(at: listener))
    }

    /// Has another snapshot take the place of the one before.
    func use(
        _ version: Int, routes: [PreparedRoute], at key: ListenerKey = FakeStage.listener,
        hosts: [String] = ["front.example"], security: (any ConnectionSecurity)? = nil
    ) {
        let listener = ListenerPolicy(key: key, hosts: HostList(hosts), security: security)
        worker.use(
            RoutingSnapshot(version: version, routes: routes, access: AccessPolicy(), listeners: [listener]))
        forwarder.useSnapshot()
    }

    /// Takes the request that the client has begun to its end.
    func run() async { await forwarder.serve(exchange) }

    /// Begins that, and goes on.
    func start() -> Task<Void, Never> { loop.startTask { await self.run() } }

    /// Lets all that is ready on the loop go on.
    func settle() async { for _ in 0..<8 { await loop.yield() } }

    /// Plays one act on a stage of its own.
    static func play(
        _ change: @Sendable (inout TestRoute) -> Void = { _ in }, _ act: @escaping Act
    ) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let stage = try FakeStage(loop: loop, change)
        do { try await act(stage) } catch { Issue.record(error) }
        loop.stop()
        thread.join()
    }
}
