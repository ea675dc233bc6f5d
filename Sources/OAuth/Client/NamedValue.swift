// SPDX-License-Identifier: Apache-2.0

/// A configured parameter or header: names may repeat, order is kept.
package struct NamedValue: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
