// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension DurationHistogram {
    /// The durations that were counted since `earlier`, whose longest ones were forgotten when it was taken.
    package func since(_ earlier: DurationHistogram) -> DurationHistogram {
        var rest = self
        rest.remove(earlier)
        return rest
    }

    /// The duration that a share of all durations did not exceed, as precisely as the buckets tell; nil if
    /// there are none.
    ///
    /// It never exceeds what was seen: a bucket reaches as far as the longest duration that fell into it, or no further
    /// than the bucket below where that is not known.
    ///
    /// - Parameter part: in 0...1; 0.5 is the median.
    package func quantile(_ part: Double) -> Duration? {
        let total = count
        guard total > 0 else { return nil }
        let rank = part * Double(total)
        var below = 0
        var last = UInt64(0)
        for (index, number) in counts.enumerated() where number > 0 {
            let bound = index == 0 ? 0 : Self.bounds[index - 1].bound.wholeNanoseconds
            last = max(longest[index], bound)
            guard Double(below + number) >= rank else {
                below += number
                continue
            }
            let share = max(0, min(1, (rank - Double(below)) / Double(number)))
            return .nanoseconds(Int64(bound) + Int64(share * Double(last - bound)))
        }
        return .nanoseconds(Int64(last))
    }
}
