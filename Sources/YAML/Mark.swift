// SPDX-License-Identifier: Apache-2.0

/// A place in a text; line and column count from 1, as in editors.
package struct Mark: Hashable, Comparable, Sendable {
    package let line: Int
    /// The column in Unicode scalars.
    package let column: Int

    /// The first character of a text.
    package static let start = Mark(line: 1, column: 1)

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
