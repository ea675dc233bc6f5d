// SPDX-License-Identifier: Apache-2.0

/// The clocks and timers of a session; tests turn them by hand.
public protocol SessionClock: Sendable {
    /// The clock that judges expiry and measures back-off.
    var now: Instant { get }

    /// The civil clock, for what is stored and shown.
    var wallNow: WallTime { get }

    /// Returns at `deadline`, or earlier with an error if the task is cancelled.
    func sleep(until deadline: Instant) async throws(CancellationError)
}
