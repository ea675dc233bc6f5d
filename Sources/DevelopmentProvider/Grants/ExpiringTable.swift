// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import OAuth

/// A table whose keys cannot be guessed and whose values expire; when it is full, the oldest makes room.
struct ExpiringTable<Value> {
    private struct Entry {
        var value: Value
        let expiry: WallTime
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    /// Stores a value under a new key of 256 random bits.
    ///
    /// - Returns: the key.
    mutating func insert(_ value: Value, for lifetime: Duration, at now: WallTime) -> String {
        let key = SecureRandom.word()
        insert(value, as: key, for: lifetime, at: now)
        return key
    }

    /// Stores a value under a given key.
    mutating func insert(_ value: Value, as key: String, for lifetime: Duration, at now: WallTime) {
        if entries.count >= capacity {
            entries = entries.filter { $0.value.expiry > now }
            if entries.count >= capacity, let oldest = entries.min(by: { $0.value.expiry < $1.value.expiry })
            {
                entries[oldest.key] = nil
            }
        }
        entries[key] = Entry(value: value, expiry: now + lifetime)
    }

    /// The value of a key; nil if it has expired.
    func find(_ key: String, at now: WallTime) -> Value? {
        guard let entry = entries[key], entry.expiry > now else { return nil }
        return entry.value
    }

    /// Replaces a value without changing its expiry.
    mutating func update(_ key: String, _ value: Value) {
        entries[key]?.value = value
    }

    mutating func remove(_ key: String) {
        entries[key] = nil
    }

    /// The first matching value, with its key.
    func first(at now: WallTime, where fits: (Value) -> Bool) -> (key: String, value: Value)? {
        entries.first { $0.value.expiry > now && fits($0.value.value) }.map { ($0.key, $0.value.value) }
    }
}
