// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point of the clock that `ContinuousClock` reads (`CLOCK_BOOTTIME`), as a number of nanoseconds.
///
/// The library's own instant has a size that the compiler does not know: a value that holds one is copied as a whole to
/// look at any part of it, which cost a request 1,500 instructions.
package struct PreciseInstant: Comparable, Sendable {
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The same moment, for comparisons with other such instants.
    package init(_ instant: ContinuousClock.Instant) {
        let distance = Self.anchor.instant.duration(to: instant)
        let (sum, isFar) = Self.anchor.own.nanoseconds.addingReportingOverflow(distance.clampedNanoseconds)
        nanoseconds = isFar ? (distance < .zero ? .min : .max) : sum
    }

    package static var now: PreciseInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return PreciseInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// One moment of both clocks.
    private static let anchor = (own: PreciseInstant.now, instant: ContinuousClock.now)

    /// The same moment as the library knows it.
    package var continuous: ContinuousClock.Instant {
        Self.anchor.instant + .nanoseconds(nanoseconds &- Self.anchor.own.nanoseconds)
    }

    package static func < (left: PreciseInstant, right: PreciseInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package func duration(to later: PreciseInstant) -> Duration {
        .nanoseconds(later.nanoseconds &- nanoseconds)
    }
}

extension Duration {
    fileprivate var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isFar) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isFarther) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isFar || isFarther ? (seconds < 0 ? .min : .max) : sum
    }
}
