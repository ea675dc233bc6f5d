// SPDX-License-Identifier: Apache-2.0

/// A place in a text; both numbers count from 1, as editors do.
package struct Mark: Hashable, Comparable, Sendable {
    /// The line, from 1.
    package let line: Int
    /// The column in characters (Unicode scalars), from 1.
    package let column: Int

    /// The first character of a text.
    package static let start = Mark(line: 1, column: 1)

    /// A place from its two numbers.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Orders places as they are read.
    package static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
