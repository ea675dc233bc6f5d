// SPDX-License-Identifier: Apache-2.0

extension KnownFieldName {
    /// All names, lower-case, one after another, with a chained table from a cheap hash to candidates.
    final class Index: Sendable {
        /// For each hash the first name with it; 0 for none.
        private let first: [UInt8]
        /// For each name the next one with the same hash; 0 for none.
        private let next: [UInt8]
        /// Where in `letters` each name begins; one more at the end.
        private let starts: [Int]
        private let letters: [UInt8]

        init() {
            var first: [UInt8] = Array(repeating: 0, count: 256)
            var next: [UInt8] = []
            var starts: [Int] = []
            var letters: [UInt8] = []
            for name in KnownFieldName.allCases {
                let spelling = name.spelling.utf8.map(\.asciiLowercased)
                starts.append(letters.count)
                letters += spelling
                guard let head = spelling.first, let tail = spelling.last else {
                    next.append(0)
                    continue
                }
                let slot = Int(Self.hash(length: spelling.count, first: head, last: tail))
                next.append(first[slot])
                first[slot] = name.rawValue
            }
            starts.append(letters.count)
            (self.first, self.next, self.starts, self.letters) = (first, next, starts, letters)
        }

        /// The name at `range` of `bytes`, compared without case.
        @inline(__always)
        func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> KnownFieldName {
            guard !range.isEmpty else { return .other }
            let slot = Self.hash(
                length: range.count, first: bytes[range.lowerBound], last: bytes[range.upperBound &- 1])
            var candidate = Int(first[Int(slot)])
            while candidate != 0 {
                if matches(candidate, bytes, range) {
                    return KnownFieldName(rawValue: UInt8(truncatingIfNeeded: candidate)) ?? .other
                }
                candidate = Int(next[candidate])
            }
            return .other
        }

        /// Setting the bit 0x20 makes letters lower-case, and makes no other byte of a field equal to one of a name.
        @inline(__always)
        private func matches(_ candidate: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
            let start = starts[candidate]
            guard starts[candidate &+ 1] &- start == range.count else { return false }
            let known = letters
            let letters = known.span
            guard range.count >= 8 else {
                for offset in 0..<range.count
                where bytes[range.lowerBound &+ offset] | 0x20 != letters[start &+ offset] {
                    return false
                }
                return true
            }
            // Eight at a time; the last eight may overlap with those before.
            var offset = 0
            let last = range.count &- 8
            while offset < last {
                guard isWord(at: range.lowerBound &+ offset, of: bytes, letters, start &+ offset) else {
                    return false
                }
                offset &+= 8
            }
            return isWord(at: range.lowerBound &+ last, of: bytes, letters, start &+ last)
        }

        @inline(__always)
        private func isWord(
            at position: Int, of bytes: Span<UInt8>, _ letters: Span<UInt8>, _ start: Int
        ) -> Bool {
            bytes.word(at: position) | 0x2020_2020_2020_2020 == letters.word(at: start)
        }

        @inline(__always)
        private static func hash(length: Int, first: UInt8, last: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: length &* 7) &+ (first | 0x20) &* 3 &+ (last | 0x20) &* 29
        }
    }

    static let index = Index()

    /// The known name at `range` of `bytes`, or ``other``.
    static func find(in bytes: Span<UInt8>, _ range: Range<Int>) -> KnownFieldName {
        index.find(in: bytes, range)
    }
}
