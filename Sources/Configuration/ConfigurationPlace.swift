// SPDX-License-Identifier: Apache-2.0

internal import YAML

/// Where a key stands in a configuration file.
package struct ConfigurationPlace: Sendable {
    /// The key's way from the top of the file, as in `routes[0].upstream`.
    package let key: String
    /// Counted from 1.
    package let line: Int
    /// Counted from 1.
    package let column: Int

    init(key: String, _ mark: Mark) {
        self.key = key
        line = mark.line
        column = mark.column
    }
}
