// SPDX-License-Identifier: Apache-2.0

/// The closed set of values of one metric's label; the raw value is the index of the counter.
package protocol MetricLabel: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The value in the metric's text.
    var label: String { get }
}

/// One number for each value of a label, including those that were never counted.
package struct Tally<Label: MetricLabel>: Sendable, Equatable {
    /// Empty until something is counted: most of the counters of most routes never are.
    private var numbers: [Int] = []

    package init() {}

    package subscript(label: Label) -> Int {
        get { numbers.isEmpty ? 0 : numbers[label.rawValue] }
        set {
            if numbers.isEmpty {
                guard newValue != 0 else { return }
                numbers = [Int](repeating: 0, count: Label.allCases.count)
            }
            numbers[label.rawValue] = newValue
        }
    }

    /// Adds the numbers of another tally.
    package mutating func merge(_ other: Tally) {
        guard !numbers.isEmpty else { return numbers = other.numbers }
        for (index, number) in other.numbers.enumerated() { numbers[index] += number }
    }

    package static func == (one: Tally, other: Tally) -> Bool {
        Label.allCases.allSatisfy { one[$0] == other[$0] }
    }
}
