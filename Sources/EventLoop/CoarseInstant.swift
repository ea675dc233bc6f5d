// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point of the coarse monotonic clock (`CLOCK_MONOTONIC_COARSE`), for idle times and ages.
///
/// Reading it costs a few nanoseconds; it is precise to 1–4 ms.
package struct CoarseInstant: Comparable, Sendable {
    let nanoseconds: Int64

    package static var now: CoarseInstant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return CoarseInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// The whole seconds of ``now``, without a division; they begin again after 136 years.
    package static var second: UInt32 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt32(truncatingIfNeeded: time.tv_sec)
    }

    package static func < (left: CoarseInstant, right: CoarseInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package static func + (instant: CoarseInstant, duration: Duration) -> CoarseInstant {
        let (seconds, attoseconds) = duration.components
        return CoarseInstant(
            nanoseconds: instant.nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }

    /// The time that has passed since `earlier`.
    package func duration(since earlier: CoarseInstant) -> Duration {
        .nanoseconds(nanoseconds &- earlier.nanoseconds)
    }
}
