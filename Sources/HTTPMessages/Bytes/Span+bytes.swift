// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension Span<UInt8> {
    /// The part of `range` without optional white space at either end (RFC 9110 §5.6.3).
    package func trimmingOptionalWhitespace(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isOptionalWhitespace { lower &+= 1 }
        while upper > lower, self[upper &- 1].isOptionalWhitespace { upper &-= 1 }
        return lower..<upper
    }

    /// Returns true if `range` holds `word`, which is lower-case, in any case.
    package func equalsIgnoringCase(_ range: Range<Int>, _ word: String) -> Bool {
        let expected = word.utf8.span
        guard range.count == expected.count else { return false }
        for offset in 0..<expected.count
        where self[range.lowerBound &+ offset].asciiLowercased != expected[offset] {
            return false
        }
        return true
    }

    /// The index of the first byte from `start` on that is a colon or not visible ASCII; looks at eight bytes at a
    /// time.
    @inline(__always)
    package func endOfVisible(orColonFrom start: Int) -> Int {
        var cursor = start
        let lastWord = count &- 8
        while cursor <= lastWord {
            let word = word(at: cursor)
            let marks =
                word.marks(below: Byte.space &+ 1) | word.marks(of: Byte.colon) | word.marks(of: Byte.delete)
                | word.marksAboveASCII
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

    /// The index of the first byte from `start` on that no field value may hold (RFC 9110 §5.5).
    ///
    /// Looks at eight bytes at a time. HTAB is the one control character that is allowed.
    @inline(__always)
    package func endOfFieldContent(from start: Int) -> Int {
        var cursor = start
        let lastWord = count &- 8
        while cursor <= lastWord {
            let word = word(at: cursor)
            let marks = word.marks(below: Byte.space) | word.marks(of: Byte.delete)
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

    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte {
            return index
        }
        return nil
    }
}

extension [UInt8] {
    @inline(__always)
    package mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { $0.append(copying: bytes) }
    }
}
