// SPDX-License-Identifier: Apache-2.0

/// A dictionary with a bounded number of values, which drops the oldest ones, many at once because that is costly.
struct BoundedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        /// The serial number of the insertion.
        let number: Int
    }

    /// The most values.
    static var most: Int { 10_000 }
    private static var share: Int { most / 20 }

    private var entries: [Key: Entry] = [:]
    private var count = 0

    subscript(key: Key) -> Value? { entries[key]?.value }

    mutating func remove(_ key: Key) { entries[key] = nil }

    /// - Parameter isOver: returns true for a value that may be dropped before the oldest.
    mutating func keep(_ value: Value, for key: Key, droppingFirst isOver: (Value) -> Bool) {
        if entries[key] == nil, entries.count >= Self.most { makeRoom(isOver) }
        count += 1
        entries[key] = Entry(value: value, number: count)
    }

    private mutating func makeRoom(_ isOver: (Value) -> Bool) {
        entries = entries.filter { !isOver($0.value.value) }
        guard entries.count > Self.most - Self.share else { return }
        let oldest = entries.values.map(\.number).sorted()[Self.share - 1]
        entries = entries.filter { $0.value.number > oldest }
    }
}
