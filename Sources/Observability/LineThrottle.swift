// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets one log line of a kind pass in a while and counts the others; any thread may call it.
package final class LineThrottle: Sendable {
    private struct State {
        var passedAt: ContinuousClock.Instant?
        var leftOut = 0
    }

    private let pause: Duration
    private let state = Mutex(State())

    /// - Parameter pause: the time from one line to the next.
    package init(pause: Duration = .seconds(1)) { self.pause = pause }

    /// Asks to write a line.
    ///
    /// - Returns: the number of lines left out since the last one; nil if this one must be left out too.
    package func pass() -> Int? {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let passedAt = state.passedAt, passedAt.duration(to: now) < pause {
                state.leftOut += 1
                return nil
            }
            state.passedAt = now
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
