// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension KnownFieldName {
    /// Finds names with a cheap hash and compares eight letters at a time.
    package final class Index: Sendable {
        @usableFromInline struct Candidate {
            @usableFromInline let name: KnownFieldName
            @usableFromInline let length: Int
            /// The first and the last eight letters, in lower case; for a shorter name all letters and zeros.
            @usableFromInline let first, last: UInt64
            /// All letters of a name with more than sixteen.
            @usableFromInline let letters: [UInt8]
            /// The next candidate with the same hash.
            @usableFromInline let next: UInt8
        }

        /// The first candidate for each hash; 0 for none.
        @usableFromInline let table: [UInt8]
        /// The candidates, indexed by the raw value of their names.
        @usableFromInline let candidates: [Candidate]

        init() {
            var table: [UInt8] = Array(repeating: 0, count: 256)
            var candidates: [Candidate] = []
            for name in KnownFieldName.allCases {
                let letters = name.spelling.utf8.map(\.asciiLowercased)
                var next: UInt8 = 0
                if let first = letters.first, let last = letters.last {
                    let slot = Int(Self.hash(length: letters.count, first: first, last: last))
                    next = table[slot]
                    table[slot] = name.rawValue
                }
                candidates.append(
                    Candidate(
                        name: name, length: letters.count, first: Self.word(letters.prefix(8)),
                        last: Self.word(letters.suffix(8)), letters: letters.count > 16 ? letters : [],
                        next: next))
            }
            (self.table, self.candidates) = (table, candidates)
        }

        /// The name at `range` of `bytes`, compared without case.
        @inline(__always)
        package func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> KnownFieldName {
            guard !range.isEmpty else { return .other }
            let slot = Self.hash(
                length: range.count, first: bytes[range.lowerBound], last: bytes[range.upperBound &- 1])
            var position = Int(table[Int(slot)])
            while position != 0 {
                if matches(position, bytes, range) { return candidates[position].name }
                position = Int(candidates[position].next)
            }
            return .other
        }

        /// Setting the bit 0x20 makes letters lower-case, and makes no other field byte equal to a letter of a name.
        @inline(__always)
        @usableFromInline func matches(_ position: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
            guard candidates[position].length == range.count else { return false }
            guard range.count >= 8 else { return Self.word(bytes, range) == candidates[position].first }
            guard bytes.word(at: range.lowerBound) | Self.lowerCase == candidates[position].first,
                bytes.word(at: range.upperBound &- 8) | Self.lowerCase == candidates[position].last
            else { return false }
            return range.count <= 16 || matchesMiddle(candidates[position].letters, bytes, range)
        }

        @usableFromInline func matchesMiddle(
            _ letters: [UInt8], _ bytes: Span<UInt8>, _ range: Range<Int>
        ) -> Bool {
            for offset in 8..<(range.count &- 8)
            where bytes[range.lowerBound &+ offset] | 0x20 != letters[offset] {
                return false
            }
            return true
        }

        @usableFromInline static var lowerCase: UInt64 { 0x2020_2020_2020_2020 }

        /// Up to eight bytes in lower case.
        @inline(__always)
        @usableFromInline static func word(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
            // Nearly always there are enough bytes after the name.
            if range.lowerBound &+ 8 <= bytes.count {
                let unused = UInt64(truncatingIfNeeded: 8 &- range.count) &* 8
                return ((bytes.word(at: range.lowerBound) | lowerCase) &<< unused) &>> unused
            }
            var word: UInt64 = 0
            for offset in 0..<range.count {
                word |= UInt64(bytes[range.lowerBound &+ offset] | 0x20) &<< (UInt64(offset) &* 8)
            }
            return word
        }

        @usableFromInline static func word(_ letters: ArraySlice<UInt8>) -> UInt64 {
            letters.reversed().reduce(0) { $0 &<< 8 | UInt64($1) }
        }

        @inline(__always)
        @usableFromInline static func hash(length: Int, first: UInt8, last: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: length &* 7) &+ (first | 0x20) &* 3 &+ (last | 0x20) &* 29
        }
    }

    package static let index = Index()

    /// The known name at `range` of `bytes`, or ``other``.
    package static func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> KnownFieldName {
        index.find(in: bytes, range)
    }
}
