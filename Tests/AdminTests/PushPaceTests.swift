// SPDX-License-Identifier: Apache-2.0

import OAuth
import Synchronization
import Testing

@testable import BearerdAdmin

struct `The pace of pushed logins` {
    @Test func `is as many in ten minutes as can wait, for each identity`() {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let pace = PushPace { start + passed.withLock { $0 } }
        var taken = 0
        for second in 0..<600 {
            passed.withLock { $0 = .seconds(second) }
            while pace.take(for: "web") == nil { taken += 1 }
        }
        #expect(taken == 63, "the last of 64 comes with the end of the ten minutes")
        #expect(pace.take(for: "other") == nil)
    }

    @Test func `says how long to wait, and takes back what was not pushed`() throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let pace = PushPace { start + passed.withLock { $0 } }
        for _ in 0..<14 { #expect(pace.take(for: "web") == nil) }
        let wait = try #require(pace.take(for: "web"))
        #expect(wait > .zero && wait <= .seconds(12))
        pace.giveBack(for: "web")
        #expect(pace.take(for: "web") == nil && pace.take(for: "web") != nil)
        passed.withLock { $0 = wait }
        #expect(pace.take(for: "web") == nil)
    }
}
