// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets one line of a kind into the log each second, and counts those that are left out; any thread may ask.
package final class LineThrottle: Sendable {
    private struct State {
        var passedAt: ContinuousClock.Instant?
        var leftOut = 0
    }

    private static let pause = Duration.seconds(1)

    private let state = Mutex(State())

    package init() {}

    /// Asks whether a line may be written.
    ///
    /// - Returns: how many were left out since the last one; nil if this one is left out too.
    package func pass() -> Int? {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let passedAt = state.passedAt, passedAt.duration(to: now) < Self.pause {
                state.leftOut += 1
                return nil
            }
            state.passedAt = now
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
