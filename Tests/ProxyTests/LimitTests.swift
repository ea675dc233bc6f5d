// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import BearerdProxy

struct `The limits` {
    @Test func `a rate limit allows one second's worth at once, then its rate`() {
        let start = ContinuousClock.now
        let limit = RateLimit(perSecond: 3, now: start)
        let burst = (0..<5).map { _ in limit.take(at: start) }
        #expect(burst == [true, true, true, false, false])
        #expect(limit.take(at: start + .milliseconds(400)))
        #expect(!limit.take(at: start + .milliseconds(500)))
        #expect(limit.take(at: start + .seconds(60)))
    }

    @Test func `the budget asks for a pause at its limit and ends it below`() {
        let budget = ConnectionBudget(limit: 2)
        let resumed = Atomic<Int>(0)
        let resume: @Sendable () -> Void = { resumed.wrappingAdd(1, ordering: .relaxed) }
        #expect(budget.enter(mayExceed: false) == .withRoomForMore)
        #expect(budget.enter(mayExceed: false) == .asTheLast)
        budget.awaitRoom(resume)
        #expect(budget.enter(mayExceed: false) == .refused)
        budget.awaitRoom(resume)
        #expect(resumed.load(ordering: .relaxed) == 0)
        budget.leave()
        #expect(resumed.load(ordering: .relaxed) == 2)
        budget.leave()
        #expect(resumed.load(ordering: .relaxed) == 2)
    }

    @Test func `who asks for room that has come meanwhile is told at once`() {
        let budget = ConnectionBudget(limit: 1)
        #expect(budget.enter(mayExceed: false) == .asTheLast)
        budget.leave()
        let resumed = Atomic<Int>(0)
        budget.awaitRoom { resumed.wrappingAdd(1, ordering: .relaxed) }
        #expect(resumed.load(ordering: .relaxed) == 1)
    }

    @Test func `the budget lets in beyond its limit what may exceed it`() {
        let budget = ConnectionBudget(limit: 1)
        #expect(budget.enter(mayExceed: false) == .asTheLast)
        #expect(budget.enter(mayExceed: true) == .asTheLast)
        budget.leave()
        #expect(budget.enter(mayExceed: false) == .refused)
    }

    @Test(arguments: [(100_000, 10_000), (10_500, 9_468), (1_000, 492), (24, 4), (17, 1), (0, 1)])
    func `the budget leaves half of the descriptors to others`(free: Int, limit: Int) {
        #expect(
            ConnectionBudget.limit(of: 10_000, freeDescriptors: free, upstreams: 1_024, workers: 2) == limit)
    }
}
