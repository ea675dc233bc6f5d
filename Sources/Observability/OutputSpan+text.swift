// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension OutputSpan<UInt8> {
    /// Appends a number in decimal, with leading zeros up to `width` digits.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        guard value > 9 || width > 1 else {
            return append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
        }
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var start = digits.count
        var rest = value
        repeat {
            let quotient = rest / 10
            start &-= 1
            digits[start] &+= UInt8(truncatingIfNeeded: rest &- quotient &* 10)
            rest = quotient
        } while rest > 0
        append(copying: digits.span.extracting(Swift.min(start, digits.count &- width)..<digits.count))
    }

    /// Appends a duration in seconds with six digits after the point; negative ones count as zero.
    mutating func append(seconds duration: Duration) {
        let nanoseconds = duration.wholeNanoseconds
        append(decimal: nanoseconds / 1_000_000_000)
        append(UInt8(ascii: "."))
        append(decimal: nanoseconds % 1_000_000_000 / 1_000, width: 6)
    }

    /// Appends the two hexadecimal digits of a byte.
    mutating func append(hexadecimal byte: UInt8) {
        append(hexadecimalDigit: byte >> 4)
        append(hexadecimalDigit: byte & 15)
    }

    private mutating func append(hexadecimalDigit digit: UInt8) {
        append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }

    /// Appends bytes that a client chose; quotes, backslashes and all but printable ASCII are
    /// percent-encoded.
    ///
    /// - Parameter limit: the most bytes that are shown; an ellipsis stands for the rest.
    mutating func append(visible bytes: Span<UInt8>, limit: Int) {
        let shown = bytes.extracting(first: limit)
        var start = 0
        while start < shown.count {
            let end = Self.endOfVisible(shown, from: start)
            append(copying: shown.extracting(start..<end))
            guard end < shown.count else { break }
            append(UInt8(ascii: "%"))
            append(hexadecimal: shown[end])
            start = end + 1
        }
        if bytes.count > shown.count { append(literal: "...") }
    }

    /// The most bytes that ``append(visible:limit:)`` appends.
    static func room(forVisible bytes: Span<UInt8>, limit: Int) -> Int {
        3 * Swift.min(bytes.count, limit) + 3
    }

    /// The index of the first byte from `start` on that must be encoded; looks at eight bytes at a time.
    private static func endOfVisible(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var cursor = start
        while cursor + 8 <= bytes.count {
            let word = bytes.word(at: cursor)
            let hidden =
                word.marks(below: 0x21) | word.marks(of: 0x7F) | word.marks(of: UInt8(ascii: "\""))
                | word.marks(of: UInt8(ascii: "\\")) | word.marksAboveASCII
            guard hidden == 0 else { break }
            cursor += 8
        }
        while cursor < bytes.count, isVisible(bytes[cursor]) { cursor += 1 }
        return cursor
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
