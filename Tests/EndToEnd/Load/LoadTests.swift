// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import CBearerdLoad
import Testing

/// Whatever breaks while many requests are under way, each has its own answer, and nothing piles up.
@Suite(.blocking) struct `Under load` {
    private static func bearerd(
        _ provider: HostileProvider, _ server: LoadServer, top: String
    ) throws -> BearerdProcess {
        let directory = try TemporaryDirectory()
        return try BearerdProcess(
            configuration: Sidecar.configuration(
                provider: provider, upstream: server.url, clientSecret: "not-a-secret", directory: directory,
                .init(top: top)),
            in: directory)
    }

    /// `make soak` sends ten million.
    @Test func `every answer is its request's, and memory and descriptors do not grow`() throws {
        let requests = Soak.requests ?? 20_000
        let provider = try HostileProvider()
        provider.setPolicy {
            $0.expiresIn = "5"
            $0.givesRefreshTokens = true
        }
        let server = try LoadServer(revokesEvery: 1_700, restartsEvery: 4_000)
        let bearerd = try Self.bearerd(
            provider, server, top: "log:\n  access: false\ntimeouts:\n  upstream_idle: 1s")
        // What is allocated once.
        let warmUp = Load(requests / 10, to: try bearerd.proxy, seed: 1, goesAwayPermille: 20)
        let memoryBefore = bearerd.residentBytes
        let descriptorsBefore = bearerd.descriptorCount
        let load = Load(requests, to: try bearerd.proxy, seed: 2, goesAwayPermille: 20)
        let memoryAfter = bearerd.residentBytes
        try eventually("descriptors to be given back") { bearerd.descriptorCount <= descriptorsBefore }
        let seen = server.stop()

        let summary = """
            \(load); \(seen.restarts) restarts; \(seen.unauthorized) times 401, \(provider.requests.count) token requests; \
            memory from \(memoryBefore >> 10) to \(memoryAfter >> 10) KiB
            """
        if Soak.requests != nil { print(summary) }
        #expect(warmUp.faults == 0 && load.faults == 0 && seen.faults == 0, "\(summary) \(seen.firstFault)")
        #expect(load.started == requests && load.ended == requests, "\(summary)")
        // The faster a machine, the more requests meet an upstream that is away.
        #expect(load.answered > requests / 2, "\(summary)")
        // Only what is too large to be sent twice may come back with the 401 of a token taken back.
        #expect(load.unauthorized < requests / 200, "\(summary)")
        #expect(load.own == load.count(of: 502), "\(summary)")
        #expect(seen.restarts >= requests / 5_000 && seen.unauthorized > 0, "\(summary)")
        #expect(provider.requests.count > 1, "\(summary)")
        #expect(memoryAfter - memoryBefore < 8 << 20 || Sanitizer.isOn, "\(summary)")
    }

    @Test func `a new connection for each request leaves nothing behind`() throws {
        let provider = try HostileProvider()
        let server = try LoadServer()
        let bearerd = try Self.bearerd(provider, server, top: "log:\n  access: false")
        _ = Load(1_000, to: try bearerd.proxy, seed: 1, requestsPerConnection: 1)
        let memoryBefore = bearerd.residentBytes
        let load = Load(5_000 * Soak.factor, to: try bearerd.proxy, seed: 2, requestsPerConnection: 1)
        #expect(
            load.faults == 0 && load.answered + load.cut + load.own + load.unserved == load.started, "\(load)"
        )
        #expect(server.stop().faults == 0)
        try eventually("connections to end") {
            Metrics(parsing: try RawClient(to: bearerd.admin).request("GET", "/metrics").text)
                .sum("bearerd_open_connections") == 0
        }
        #expect(bearerd.residentBytes - memoryBefore < 8 << 20 || Sanitizer.isOn)
    }
}
