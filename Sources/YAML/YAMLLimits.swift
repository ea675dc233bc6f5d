// SPDX-License-Identifier: Apache-2.0

/// Bounds on what is read, so that no file, however crafted, costs more than a moment.
package struct YAMLLimits: Sendable {
    /// The longest text, in bytes.
    package var bytes = 1 << 20
    /// How deep lists and maps may be nested.
    package var depth = 64
    /// How many values a document may have, each alias counted as all that it stands for.
    package var nodes = 100_000

    /// The limits for a file that a person wrote.
    package init() {}
}
