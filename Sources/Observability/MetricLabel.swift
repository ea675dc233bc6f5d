// SPDX-License-Identifier: Apache-2.0

/// The closed set of values of one metric's label; the raw value is the index of the counter.
package protocol MetricLabel: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The value in the metric's text.
    var label: String { get }
}

/// One number for each value of a label, including those that were never counted.
package struct Tally<Label: MetricLabel>: Sendable, Equatable {
    private var numbers = [Int](repeating: 0, count: Label.allCases.count)

    package init() {}

    package subscript(label: Label) -> Int {
        get { numbers[label.rawValue] }
        set { numbers[label.rawValue] = newValue }
    }

    /// Adds the numbers of another tally.
    package mutating func merge(_ other: Tally) {
        for index in numbers.indices { numbers[index] += other.numbers[index] }
    }
}
