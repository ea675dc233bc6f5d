// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets lines about one lasting trouble into the log, at intervals that double from a second to a minute, and counts those
/// that are left out; any thread may ask.
///
/// A trouble that comes and goes is one trouble: the intervals begin anew when nothing has failed for the longest of them,
/// and something has worked meanwhile.
package final class OutageThrottle: Sendable {
    private struct State {
        var passedAt: ContinuousClock.Instant?
        var failedAt: ContinuousClock.Instant?
        var interval = OutageThrottle.first
        var hasWorked = false
        var leftOut = 0
    }

    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private let state = Mutex(State())

    package init() {}

    /// Takes note of a failure, and decides whether its line may be written.
    ///
    /// - Returns: the number of lines left out since the last one; nil if this one is left out too.
    package func failed(at now: ContinuousClock.Instant = .now) -> Int? {
        state.withLock { state in
            defer {
                state.failedAt = now
                state.hasWorked = false
            }
            guard let passedAt = state.passedAt, let failedAt = state.failedAt,
                !state.hasWorked || now < failedAt + Self.longest
            else {
                state.passedAt = now
                state.interval = Self.first
                defer { state.leftOut = 0 }
                return state.leftOut
            }
            guard now >= passedAt + state.interval else {
                state.leftOut += 1
                return nil
            }
            state.passedAt = now
            state.interval = min(state.interval * 2, Self.longest)
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }

    /// Takes note that what failed works again.
    ///
    /// - Returns: the number of lines left out since the last one, for the line that tells of it.
    package func worked() -> Int {
        state.withLock { state in
            state.hasWorked = true
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }

    /// Takes note that what failed works, where no line tells of it.
    package func workedAgain() { state.withLock { $0.hasWorked = true } }
}
