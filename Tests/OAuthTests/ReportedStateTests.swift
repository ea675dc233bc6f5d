// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

struct `A change of state` {
    private let start = ContinuousClock.now

    @Test func `is told at once, and so is the next to another state`() {
        var reported = ReportedState(.empty)
        #expect(reported.look(.refreshing, at: start) == .empty)
        #expect(reported.look(.authorized, at: start) == .refreshing)
        #expect(reported.look(.authorized, at: start) == nil && reported.due == nil)
        #expect(reported.look(.misconfigured, at: start) == .authorized)
    }

    @Test func `that undoes another is told once it has held for a second`() {
        var reported = ReportedState(.authorized)
        #expect(reported.look(.authorizationError, at: start) == .authorized)
        #expect(reported.look(.authorized, at: start + .milliseconds(10)) == nil)
        #expect(reported.due == start + .milliseconds(1010))
        #expect(reported.look(.authorizationError, at: start + .milliseconds(20)) == nil)
        #expect(reported.due == nil, "nothing to tell")
        #expect(reported.look(.authorized, at: start + .milliseconds(900)) == nil)
        #expect(reported.due == start + .milliseconds(1900))
        #expect(reported.look(.authorized, at: start + .milliseconds(1899)) == nil)
        #expect(reported.look(.authorized, at: start + .milliseconds(1900)) == .authorizationError)
        #expect(reported.due == nil)
    }

    @Test(arguments: [
        [SessionState.authorized, .authorizationError], [.authorized, .unavailable, .refreshing],
        [.misconfigured, .authorized, .misconfigured, .refreshing],
    ])
    func `is told a bounded number of times, however fast the state changes`(cycle: [SessionState]) {
        var reported = ReportedState(.empty)
        var told = 0
        for step in 0..<10_000 {
            let now = start + .milliseconds(step)
            if reported.look(cycle[step % cycle.count], at: now) != nil { told += 1 }
        }
        #expect(told <= Set(cycle).count, "\(told) in ten seconds")
    }
}
