// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Counts durations by size, as a Prometheus histogram does.
package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets, each with its spelling in seconds.
    ///
    /// The default time-outs are bounds, and so is a little more: `timeouts.connect` (5 s), `token_wait` (10 s),
    /// `first_byte` (60 s), `stream_idle` (5 min). A request that ran into one takes a little longer than that.
    static let bounds: [(bound: Duration, label: String)] = [
        (.microseconds(250), "0.00025"), (.microseconds(500), "0.0005"), (.milliseconds(1), "0.001"),
        (.microseconds(2500), "0.0025"), (.milliseconds(5), "0.005"), (.milliseconds(10), "0.01"),
        (.milliseconds(25), "0.025"), (.milliseconds(50), "0.05"), (.milliseconds(100), "0.1"),
        (.milliseconds(250), "0.25"), (.milliseconds(500), "0.5"), (.seconds(1), "1"),
        (.milliseconds(2500), "2.5"), (.seconds(5), "5"), (.milliseconds(5500), "5.5"), (.seconds(10), "10"),
        (.seconds(11), "11"), (.seconds(15), "15"), (.seconds(30), "30"), (.seconds(60), "60"),
        (.seconds(66), "66"), (.seconds(300), "300"),
    ]

    /// ``bounds`` in nanoseconds, which are cheaper to compare.
    private static let nanoseconds = bounds.map(\.bound.wholeNanoseconds)

    /// The empty buckets of all histograms; what never counts anything takes no memory of its own.
    private static let noCounts = [Int](repeating: 0, count: bounds.count + 1)
    private static let noDurations = [UInt64](repeating: 0, count: bounds.count + 1)

    /// The number of durations in each bucket, then of those above the last bound; not cumulative.
    package private(set) var counts = noCounts
    /// The sum of all durations.
    package private(set) var sum: Duration = .zero
    /// The longest duration that fell into each bucket since ``forgetLongest()``, in nanoseconds.
    private(set) var longest = noDurations

    package init() {}

    /// The number of durations.
    package var count: Int { counts.reduce(0, +) }

    /// Counts one duration.
    package mutating func record(_ duration: Duration) {
        let nanoseconds = duration.wholeNanoseconds
        let bucket = Self.nanoseconds.firstIndex { nanoseconds <= $0 } ?? Self.nanoseconds.count
        counts[bucket] += 1
        if nanoseconds > longest[bucket] { longest[bucket] = nanoseconds }
        sum += duration
    }

    /// Begins anew to look for the longest durations; the counts stay.
    mutating func forgetLongest() {
        longest = Self.noDurations
    }

    /// Takes in the longest durations of an earlier step, without its counts.
    package mutating func extendLongest(_ other: DurationHistogram) {
        // A loop makes the arrays it writes to its own, even if it finds nothing to write.
        guard other.longest != Self.noDurations else { return }
        for bucket in longest.indices { longest[bucket] = max(longest[bucket], other.longest[bucket]) }
    }

    /// Subtracts the counts of an earlier state.
    mutating func remove(_ earlier: DurationHistogram) {
        guard earlier.counts != Self.noCounts else { return }
        for bucket in counts.indices { counts[bucket] -= earlier.counts[bucket] }
        sum -= earlier.sum
    }

    /// Adds the counts of another histogram.
    package mutating func merge(_ other: DurationHistogram) {
        extendLongest(other)
        guard other.counts != Self.noCounts else { return }
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        sum += other.sum
    }
}
