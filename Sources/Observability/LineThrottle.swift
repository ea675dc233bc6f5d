// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets one log line of a kind pass each second and counts the others; any thread may call it.
package final class LineThrottle: Sendable {
    private struct State {
        var passedAt: ContinuousClock.Instant?
        var leftOut = 0
    }

    private static let pause = Duration.seconds(1)

    private let state = Mutex(State())

    package init() {}

    /// Asks to write a line.
    ///
    /// - Returns: the number of lines left out since the last one; nil if this one must be left out too.
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
