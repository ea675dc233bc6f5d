// SPDX-License-Identifier: Apache-2.0

/// Finds the longest of many path prefixes in one look at each byte of a path, however many there are.
///
/// The bytes up to the end of each segment are looked up in a table of hashes, where a prefix has their length. With a
/// look at each prefix the 500th of a thousand cost three times the rest of a request.
struct PrefixTable: Sendable {
    /// A prefix of whole segments, without a slash at its end; those who have it in common.
    private struct Entry {
        let hash: UInt64
        let prefix: [UInt8]
        /// The positions of the paths with this prefix, in order.
        var positions: [Int]

        func isOf(_ other: Span<UInt8>) -> Bool {
            guard prefix.count == other.count else { return false }
            for index in 0..<other.count where prefix[index] != other[index] {
                return false
            }
            return true
        }
    }

    private var entries: [Entry] = []
    /// Indices of entries by the lowest bits of their hashes, or else in the next free slot; -1 is free.
    ///
    /// Their number is a power of two, at most half of them are in use.
    private var slots: [Int32]
    /// The entry of each path.
    private var entryOfPath: [Int] = []
    /// The lengths that prefixes have, modulo 64.
    private var lengths: UInt64 = 0
    private var longestPrefix = 0

    /// - Parameter paths: begin with a slash; the first of those that fit wins.
    init(_ paths: [[UInt8]]) {
        var size = 8
        while size < 2 * paths.count { size *= 2 }
        slots = [Int32](repeating: -1, count: size)
        for (position, path) in paths.enumerated() {
            let prefix = path.last == UInt8(ascii: "/") ? Array(path.dropLast()) : path
            let hash = prefix.reduce(Self.seed, Self.step)
            var slot = Int(truncatingIfNeeded: hash) & (size - 1)
            while slots[slot] >= 0, entries[Int(slots[slot])].prefix != prefix {
                slot = (slot + 1) & (size - 1)
            }
            if slots[slot] < 0 {
                slots[slot] = Int32(entries.count)
                entries.append(Entry(hash: hash, prefix: prefix, positions: []))
            }
            entries[Int(slots[slot])].positions.append(position)
            entryOfPath.append(Int(slots[slot]))
            lengths |= 1 << UInt64(prefix.count & 63)
            longestPrefix = max(longestPrefix, prefix.count)
        }
    }

    /// The positions of the paths with the same prefix as one of them, that one included.
    func sharing(_ position: Int) -> [Int] { entries[entryOfPath[position]].positions }

    /// The position of the first path with the longest prefix of `path`, among those that are admitted.
    ///
    /// - Parameter admits: asked for positions.
    @inline(__always)
    func longest(of path: Span<UInt8>, where admits: (Int) -> Bool) -> Int? {
        var found: Int?
        var hash = Self.seed
        let end = min(path.count, longestPrefix)
        for length in 0...end {
            if length == path.count || path[length] == UInt8(ascii: "/"),
                lengths &>> UInt64(length & 63) & 1 != 0,
                let entry = entry(hash, path.extracting(0..<length)),
                let position = entries[entry].positions.first(where: admits)
            {
                found = position
            }
            if length < end { hash = Self.step(hash, path[length]) }
        }
        return found
    }

    private func entry(_ hash: UInt64, _ prefix: Span<UInt8>) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
        while slots[slot] >= 0 {
            let entry = Int(slots[slot])
            if entries[entry].hash == hash, entries[entry].isOf(prefix) { return entry }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return nil
    }

    // FNV-1a, whose lowest bits depend on all bytes.
    private static var seed: UInt64 { 0xCBF2_9CE4_8422_2325 }
    private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
}
