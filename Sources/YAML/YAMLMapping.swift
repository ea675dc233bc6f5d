// SPDX-License-Identifier: Apache-2.0

/// A map's entries in the order of the text, repeated keys included.
package struct YAMLMapping: Equatable, Sendable {
    /// One `key: value`.
    package struct Entry: Equatable, Sendable {
        /// The key as a text, whatever its looks.
        package let key: String
        package let mark: Mark
        package let value: YAMLNode
    }

    /// The entries without repeated keys.
    package private(set) var entries: [Entry] = []
    /// The entries that repeat an earlier key, for the reader to report.
    package private(set) var duplicates: [Entry] = []
    private var positions: [String: Int] = [:]

    package init() {}

    mutating func append(_ entry: Entry) {
        if positions[entry.key] == nil {
            positions[entry.key] = entries.count
            entries.append(entry)
        } else {
            duplicates.append(entry)
        }
    }

    package subscript(key: String) -> Entry? {
        positions[key].map { entries[$0] }
    }
}
