// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Counts durations by size, as a Prometheus histogram does.
package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets, each with its spelling in seconds.
    static let bounds: [(bound: Duration, label: String)] = [
        (.microseconds(250), "0.00025"), (.microseconds(500), "0.0005"), (.milliseconds(1), "0.001"),
        (.microseconds(2500), "0.0025"), (.milliseconds(5), "0.005"), (.milliseconds(10), "0.01"),
        (.milliseconds(25), "0.025"), (.milliseconds(50), "0.05"), (.milliseconds(100), "0.1"),
        (.milliseconds(250), "0.25"), (.milliseconds(500), "0.5"), (.seconds(1), "1"),
        (.milliseconds(2500), "2.5"), (.seconds(5), "5"), (.seconds(10), "10"), (.seconds(30), "30"),
    ]

    /// ``bounds`` in nanoseconds: comparing those costs less.
    private static let nanoseconds = bounds.map(\.bound.wholeNanoseconds)

    /// How many durations fell into each bucket, and one more for those above the last bound; not cumulative.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// All durations together.
    package private(set) var sum: Duration = .zero

    package init() {}

    /// How many durations were counted.
    package var count: Int { counts.reduce(0, +) }

    /// Counts one duration.
    package mutating func record(_ duration: Duration) {
        let nanoseconds = duration.wholeNanoseconds
        counts[Self.nanoseconds.firstIndex { nanoseconds <= $0 } ?? Self.nanoseconds.count] += 1
        sum += duration
    }

    /// Takes away what was counted before.
    mutating func remove(_ earlier: DurationHistogram) {
        for bucket in counts.indices { counts[bucket] -= earlier.counts[bucket] }
        sum -= earlier.sum
    }

    /// Adds what another histogram counted.
    package mutating func merge(_ other: DurationHistogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        sum += other.sum
    }
}
