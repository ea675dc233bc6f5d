// SPDX-License-Identifier: Apache-2.0

/// A moment of the civil clock, for what outlives the process and for what people read.
///
/// Never used to judge expiry while running: see ``Instant``.
package struct WallTime: Hashable, Comparable, Sendable {
    /// Time since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    package let sinceEpoch: Duration

    package init(sinceEpoch: Duration) {
        self.sinceEpoch = sinceEpoch
    }

    /// - Parameter secondsSinceEpoch: as in POSIX `time_t`.
    package init(secondsSinceEpoch: Int64) {
        sinceEpoch = .seconds(secondsSinceEpoch)
    }

    /// Whole seconds since the epoch, rounded down.
    package var secondsSinceEpoch: Int64 {
        let parts = sinceEpoch.components
        return parts.attoseconds < 0 ? parts.seconds - 1 : parts.seconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.sinceEpoch < right.sinceEpoch }

    package static func + (time: WallTime, duration: Duration) -> WallTime {
        WallTime(sinceEpoch: time.sinceEpoch + duration)
    }

    package static func - (later: WallTime, earlier: WallTime) -> Duration {
        later.sinceEpoch - earlier.sinceEpoch
    }
}
