// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

/// The civil clock, for times that are stored or shown; it may jump.
///
/// Expiry is judged by `ContinuousClock`, which on Linux is `CLOCK_BOOTTIME` and goes on while the machine
/// sleeps.
package enum WallClock {
    /// The time since 1970-01-01 00:00:00 UTC without leap seconds (`CLOCK_REALTIME`).
    package static var sinceEpoch: Duration {
        let time = now
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Milliseconds since 1970 (`CLOCK_REALTIME`), for log lines.
    package static var unixMilliseconds: Int64 {
        let time = now
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Seconds since 1970 with a fraction (`CLOCK_REALTIME`).
    package static var secondsSinceEpoch: Double {
        let parts = sinceEpoch.components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    private static var now: timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }
}
