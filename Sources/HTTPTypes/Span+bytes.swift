// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// The part of `range` without optional white space at either end (RFC 9110 §5.6.3).
    func trimmingOptionalWhitespace(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isOptionalWhitespace { lower &+= 1 }
        while upper > lower, self[upper &- 1].isOptionalWhitespace { upper &-= 1 }
        return lower..<upper
    }

    /// Whether `range` holds `word`, which is lower-case, in any case.
    func equalsIgnoringCase(_ range: Range<Int>, _ word: String) -> Bool {
        let expected = word.utf8.span
        guard range.count == expected.count else { return false }
        for offset in 0..<expected.count
        where self[range.lowerBound &+ offset].asciiLowercased != expected[offset] {
            return false
        }
        return true
    }

    /// Eight bytes from `start` on, the first in the lowest bits.
    ///
    /// The compiler makes one load of it.
    @inline(__always)
    func word(at start: Int) -> UInt64 {
        let bytes = extracting(start..<(start + 8))
        return UInt64(bytes[0]) | UInt64(bytes[1]) &<< 8 | UInt64(bytes[2]) &<< 16 | UInt64(bytes[3]) &<< 24
            | UInt64(bytes[4]) &<< 32 | UInt64(bytes[5]) &<< 40 | UInt64(bytes[6]) &<< 48
            | UInt64(bytes[7]) &<< 56
    }

    /// Where the first byte from `start` on stands that is a colon, or no visible ASCII.
    ///
    /// Eight bytes at a time: of each word, the lowest byte that is one has its top bit set in `marks`.
    @inline(__always)
    func endOfVisible(orColonFrom start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var cursor = start
        let lastWord = count &- 8
        while cursor <= lastWord {
            let word = word(at: cursor)
            let colons = word ^ (ones &* UInt64(Byte.colon))
            let controls = (word &- ones &* UInt64(Byte.space &+ 1)) & ~word
            let marks = (controls | (colons &- ones) & ~colons | word | (word &+ ones)) & tops
            guard marks == 0 else { return cursor &+ marks.trailingZeroBitCount &>> 3 }
            cursor &+= 8
        }
        while cursor < count, self[cursor] != Byte.colon, self[cursor] > Byte.space,
            self[cursor] < Byte.delete
        {
            cursor &+= 1
        }
        return cursor
    }

    /// Where the first byte from `start` on stands that no field value may hold (RFC 9110 §5.5).
    ///
    /// Eight bytes at a time: of each word, the lowest byte that is under 0x20 or is 0x7F has its top bit set in
    /// `marks`. HTAB is the one of them that is allowed.
    @inline(__always)
    func endOfFieldContent(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var cursor = start
        let lastWord = count &- 8
        while cursor <= lastWord {
            let word = word(at: cursor)
            let deletes = word ^ (ones &* UInt64(Byte.delete))
            let marks = ((word &- ones &* UInt64(Byte.space)) & ~word | (deletes &- ones) & ~deletes) & tops
            if marks == 0 {
                cursor &+= 8
                continue
            }
            cursor &+= marks.trailingZeroBitCount &>> 3
            guard self[cursor] == Byte.tab else { return cursor }
            cursor &+= 1
        }
        while cursor < count, self[cursor].isFieldContent { cursor &+= 1 }
        return cursor
    }

    /// Where `byte` first stands in `range`.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte {
            return index
        }
        return nil
    }
}

extension [UInt8] {
    /// Appends a copy of `bytes`.
    mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices {
                output.append(bytes[index])
            }
        }
    }
}
