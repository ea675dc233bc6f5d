// SPDX-License-Identifier: Apache-2.0

/// A configured parameter or header: names may repeat, order is kept.
public struct NamedValue: Hashable, Sendable {
    /// The name, to the letter.
    public let name: String
    /// The value, not encoded.
    public let value: String

    /// A name with its value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
