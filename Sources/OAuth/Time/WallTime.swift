// SPDX-License-Identifier: Apache-2.0

/// A moment of the civil clock, for what outlives the process and for what people read.
///
/// Never used to judge expiry while running: see ``Instant``.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Time since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    public let sinceEpoch: Duration

    /// A moment so long after 1970-01-01 00:00:00 UTC.
    public init(sinceEpoch: Duration) {
        self.sinceEpoch = sinceEpoch
    }

    /// - Parameter secondsSinceEpoch: as in POSIX `time_t`.
    public init(secondsSinceEpoch: Int64) {
        sinceEpoch = .seconds(secondsSinceEpoch)
    }

    /// Whole seconds since the epoch, rounded down.
    public var secondsSinceEpoch: Int64 {
        let parts = sinceEpoch.components
        return parts.attoseconds < 0 ? parts.seconds - 1 : parts.seconds
    }

    /// True if `left` is earlier.
    public static func < (left: WallTime, right: WallTime) -> Bool { left.sinceEpoch < right.sinceEpoch }

    /// The moment that much later.
    public static func + (time: WallTime, duration: Duration) -> WallTime {
        WallTime(sinceEpoch: time.sinceEpoch + duration)
    }

    /// The time between the two.
    public static func - (later: WallTime, earlier: WallTime) -> Duration {
        later.sinceEpoch - earlier.sinceEpoch
    }
}
