// SPDX-License-Identifier: Apache-2.0

internal import BearerdYAML

/// The place of a key in a configuration file.
package struct ConfigurationPlace: Sendable {
    /// The key's path, as in `routes[0].upstream`.
    package let key: String
    /// Line and column count from 1.
    package let line: Int
    package let column: Int

    init(key: String, _ mark: Mark) {
        self.key = key
        line = mark.line
        column = mark.column
    }
}
