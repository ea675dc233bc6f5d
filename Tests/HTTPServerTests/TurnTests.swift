// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import Testing

/// No connection of a loop holds the others up, however fast its bytes come.
@Suite(.timeLimit(.minutes(10)))
struct `A turn` {
    private func withSite(_ body: (Site) async throws -> Void) async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let site = await Task(executorPreference: loop) { [ends = (ends[0], ends[1])] in
            Site(loop: loop, ends: ends)
        }.value
        try await withTaskExecutorPreference(loop) { try await body(site) }
        await site.close()
        close(ends[1])
        loop.stop()
        thread.join()
    }

    @Test(arguments: Site.Pump.allCases)
    func `of one whose bytes are always there ends soon enough for the others`(pump: Site.Pump) async throws {
        try await withSite { site in
            let progress = await site.progress(beside: pump)
            #expect(progress.movedAtEvent < 1 << 20)
            #expect(progress.movedAtTimer < 1 << 20)
            #expect(progress.requestsAtEvent <= 16)
        }
    }

    @Test(arguments: [Site.Pump.receiving, .forwarding])
    func `is not taken up again by one that was closed meanwhile`(pump: Site.Pump) async throws {
        try await withSite { site in
            let outcome = await site.outcomeOfClosing(pump)
            #expect(outcome.failure == .closed)
            #expect(outcome.moved < 1 << 20)
        }
    }

    @Test(arguments: [Site.Pump.receiving, .forwarding])
    func `comes to each of several in its order`(pump: Site.Pump) async throws {
        try await withSite { site in
            let moved = await site.race(pump, count: 3)
            let most = moved.max() ?? 0
            #expect(moved.allSatisfy { most - $0 <= 1 << 20 }, "\(moved)")
        }
    }
}
