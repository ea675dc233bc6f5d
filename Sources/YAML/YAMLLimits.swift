// SPDX-License-Identifier: Apache-2.0

/// Limits that keep any file from costing more than a moment.
package struct YAMLLimits: Sendable {
    /// The longest text, in bytes.
    package var bytes = 1 << 20
    /// The deepest nesting of lists and maps.
    package var depth = 64
    /// The most values in a document, each alias counted with all that it stands for.
    package var nodes = 100_000

    package init() {}
}
