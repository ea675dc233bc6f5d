// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point of the coarse monotonic clock, a few nanoseconds to read and 1–4 ms fine; for idle times and ages.
package struct CoarseInstant: Comparable, Sendable {
    private let nanoseconds: Int64

    package static var now: CoarseInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return CoarseInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    package static func < (left: CoarseInstant, right: CoarseInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant so much later.
    package static func + (instant: CoarseInstant, duration: Duration) -> CoarseInstant {
        let (seconds, attoseconds) = duration.components
        return CoarseInstant(
            nanoseconds: instant.nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }

    /// The time since `earlier`.
    package func duration(since earlier: CoarseInstant) -> Duration {
        .nanoseconds(nanoseconds &- earlier.nanoseconds)
    }
}
