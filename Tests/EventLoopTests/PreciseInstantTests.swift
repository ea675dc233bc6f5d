// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Testing

@Suite struct `A precise instant` {
    @Test func `is the one of the library's clock`() {
        let before = ContinuousClock.now
        let instant = PreciseInstant.now
        let after = ContinuousClock.now
        // The two clocks were read one after the other when they were compared.
        #expect(instant.continuous >= before - .milliseconds(100))
        #expect(instant.continuous <= after + .milliseconds(100))
    }

    @Test(arguments: [-3600, -1, 0, 1, 3600])
    func `comes back from the library's clock as it was`(seconds: Int) {
        let instant = PreciseInstant(ContinuousClock.now + .seconds(seconds))
        #expect(PreciseInstant(instant.continuous) == instant)
    }

    @Test func `is ordered as the library's are, and as far apart`() {
        let now = ContinuousClock.now
        let (one, other) = (PreciseInstant(now), PreciseInstant(now + .seconds(5)))
        #expect(one < other)
        #expect(one.duration(to: other) == .seconds(5))
        #expect(other.duration(to: one) == .seconds(-5))
    }

    @Test func `far beyond what it can tell is the last one`() {
        let now = ContinuousClock.now
        #expect(PreciseInstant(now + .seconds(100_000_000_000)) > PreciseInstant(now + .seconds(3600)))
        #expect(PreciseInstant(now - .seconds(100_000_000_000)) < PreciseInstant(now))
    }
}
