// SPDX-License-Identifier: Apache-2.0

/// When an event happens, on both clocks, and a random number for whatever must not happen everywhere at once.
struct Moment: Sendable {
    /// On the clock that judges expiry and measures back-off.
    var now: Instant
    /// On the civil clock.
    var wall: WallTime
    /// In 0..<1.
    var jitter: Double

    init(now: Instant, wall: WallTime, jitter: Double) {
        self.now = now
        self.wall = wall
        self.jitter = jitter
    }
}
