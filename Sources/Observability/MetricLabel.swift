// SPDX-License-Identifier: Apache-2.0

/// A closed set of values of one metric label; the raw value is the place of its counter.
package protocol MetricLabel: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The value as it is written.
    var label: String { get }
}

/// One number for each value of a label, all of them there from the start.
package struct Tally<Label: MetricLabel>: Sendable, Equatable {
    private var numbers = [Int](repeating: 0, count: Label.allCases.count)

    package init() {}

    package subscript(label: Label) -> Int {
        get { numbers[label.rawValue] }
        set { numbers[label.rawValue] = newValue }
    }

    /// Adds another tally, number by number.
    package mutating func merge(_ other: Tally) {
        for index in numbers.indices { numbers[index] += other.numbers[index] }
    }
}
