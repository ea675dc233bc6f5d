// SPDX-License-Identifier: Apache-2.0

/// A token bucket for what costs the peer nothing and us something; time fills it, and so may useful work.
struct FrameBudget {
    private let burst: Double
    private let perSecond: Double
    private var level: Double

    init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        level = burst
    }

    mutating func refill(seconds: Double) { level = min(burst, level + seconds * perSecond) }

    /// True if half of it is spent.
    var isShort: Bool { level < burst / 2 }

    /// Gives back what useful work has earned.
    mutating func earn(_ amount: Double) { level = min(burst, level + amount) }

    /// - Returns: false when nothing is left.
    mutating func spend(_ amount: Double = 1) -> Bool {
        level -= amount
        return level >= 0
    }
}
