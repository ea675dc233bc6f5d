// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import Testing

/// How often a trouble that lasts is told.
struct `Lines about an outage` {
    private let start = ContinuousClock.now

    /// The seconds at which lines were written while something failed at each of `moments`.
    private func lines(_ throttle: OutageThrottle, failingAt moments: [Double], works: Bool) -> [Double] {
        moments.filter { moment in
            let isTold = throttle.failed(at: start + .seconds(moment)) != nil
            if works { throttle.workedAgain() }
            return isTold
        }
    }

    @Test(arguments: [true, false])
    func `come at intervals that double to a minute, though it works in between`(works: Bool) {
        let moments = stride(from: 0, to: 300, by: 0.5).map { $0 }
        #expect(
            lines(OutageThrottle(), failingAt: moments, works: works)
                == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    }

    @Test func `begin anew when a minute was quiet and it has worked`() {
        let throttle = OutageThrottle()
        #expect(lines(throttle, failingAt: [0, 1, 2, 3, 7], works: true) == [0, 1, 3, 7])
        #expect(lines(throttle, failingAt: [68, 68.5, 69], works: true) == [68, 69])
        // It never worked: what fails once in two minutes is one outage.
        let silent = OutageThrottle()
        #expect(lines(silent, failingAt: [0, 120, 121, 122, 240], works: false) == [0, 120, 122, 240])
    }

    @Test func `tell how many were left out`() {
        let throttle = OutageThrottle()
        #expect(throttle.failed(at: start) == 0)
        for _ in 0..<5 { #expect(throttle.failed(at: start) == nil) }
        #expect(throttle.failed(at: start + .seconds(1)) == 5)
        #expect(throttle.failed(at: start + .seconds(1)) == nil)
        #expect(throttle.worked() == 1 && throttle.worked() == 0)
    }
}
