// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import OAuth

/// Things that are found by a word nobody can guess, until they expire; the oldest make room for new ones.
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

    /// Keeps a value under a new word of 256 random bits.
    ///
    /// - Returns: the word.
    mutating func insert(_ value: Value, for lifetime: Duration, at now: WallTime) -> String {
        let key = SecureRandom.word()
        insert(value, as: key, for: lifetime, at: now)
        return key
    }

    /// Keeps a value under a word of the caller's.
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

    /// The value under a word, unless it has expired.
    func find(_ key: String, at now: WallTime) -> Value? {
        guard let entry = entries[key], entry.expiry > now else { return nil }
        return entry.value
    }

    /// Replaces a value; its expiry stays.
    mutating func update(_ key: String, _ value: Value) {
        entries[key]?.value = value
    }

    /// Forgets a value.
    mutating func remove(_ key: String) {
        entries[key] = nil
    }

    /// The first value that fits, with its word.
    func first(at now: WallTime, where fits: (Value) -> Bool) -> (key: String, value: Value)? {
        entries.first { $0.value.expiry > now && fits($0.value.value) }.map { ($0.key, $0.value.value) }
    }
}
