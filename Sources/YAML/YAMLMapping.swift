// SPDX-License-Identifier: Apache-2.0

/// A map's entries in the order of the text, repeated keys included.
package struct YAMLMapping: Equatable, Sendable {
    /// One `key: value`.
    package struct Entry: Equatable, Sendable {
        /// The key, as text whatever its looks.
        package let key: String
        /// Where the key stands.
        package let mark: Mark
        /// What it is given.
        package let value: YAMLNode
    }

    /// The entries whose key was not there before.
    package private(set) var entries: [Entry] = []
    /// The entries that repeat an earlier key, which the reader must report.
    package private(set) var duplicates: [Entry] = []
    private var positions: [String: Int] = [:]

    /// A map without entries.
    package init() {}

    mutating func append(_ entry: Entry) {
        if positions[entry.key] == nil {
            positions[entry.key] = entries.count
            entries.append(entry)
        } else {
            duplicates.append(entry)
        }
    }

    /// The first entry with this key.
    package subscript(key: String) -> Entry? {
        positions[key].map { entries[$0] }
    }
}
