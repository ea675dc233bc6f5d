// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPClient
import HTTPMessages
import Testing

@testable import Proxy

/// A forwarder between a fake client and a fake upstream, on a loop.
actor FakeStage: LoopConfined {
    typealias Act = (isolated FakeStage) async throws -> Void

    nonisolated let loop: EventLoop
    let client = FakeClient()
    let pool = FakePool()
    private(set) var forwarder: Forwarder<FakeClient, FakePool>
    private(set) var exchange: Exchange<FakeClient, FakePool>
    var upstream: FakeUpstream { pool.exchange }

    init(loop: EventLoop, _ change: (inout Route) -> Void) throws {
        self.loop = loop
        let url = try #require(HTTPURL("http://api.example"))
        var route = Route(path: "/", upstream: UpstreamAddress(url: url), upstreamAuthority: url.authority)
        change(&route)
        var configuration = WorkerConfiguration(
            routes: [route], access: AccessPolicy(),
            listeners: [ListenerPolicy(hosts: HostList(["front.example"]))],
            connectionBudget: ConnectionBudget(limit: 1), upstreamLimits: [UpstreamLimit(maximum: 1)])
        configuration.accessLog = nil
        forwarder = Forwarder(loop: loop, configuration: configuration, pools: [pool])
        exchange = forwarder.makeExchange(for: client, listener: 0)
    }

    /// Takes the request that the client has begun to its end.
    func run() async { await forwarder.exchange(exchange) }

    /// Begins that, and goes on.
    func start() -> Task<Void, Never> { loop.startTask { await self.run() } }

    /// Lets all that is ready on the loop go on.
    func settle() async { for _ in 0..<8 { await loop.yield() } }

    /// Plays one act on a stage of its own.
    static func play(
        _ change: @Sendable (inout Route) -> Void = { _ in }, _ act: @escaping Act
    ) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let stage = try FakeStage(loop: loop, change)
        do { try await act(stage) } catch { Issue.record(error) }
        loop.stop()
        thread.join()
    }
}
