// SPDX-License-Identifier: Apache-2.0

internal import System

// Text into memory that was made ready for it: nothing is allocated, and no owner is asked for each piece.
extension OutputSpan<UInt8> {
    /// Appends a copy of `bytes`.
    mutating func append(_ bytes: borrowing [UInt8]) { append(copying: bytes.span) }

    /// Appends a text's UTF-8.
    mutating func append(_ text: borrowing String) { append(copying: text.utf8.span) }

    /// Appends a number in decimal, with leading zeros up to `width` digits, at most 20.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var first = digits.count
        var rest = value
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(copying: digits.span.extracting(last: Swift.max(digits.count - first, width)))
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

    /// Appends bytes of a client's choice: what is not printable ASCII, quotes and backslashes percent-encoded.
    ///
    /// - Parameter limit: bytes that are shown at most; an ellipsis stands for the others.
    mutating func append(visible bytes: Span<UInt8>, limit: Int) {
        let shown = bytes.extracting(first: limit)
        for index in shown.indices {
            let byte = shown[index]
            if Self.isVisible(byte) {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(hexadecimal: byte)
            }
        }
        if bytes.count > shown.count { append("...") }
    }

    /// How much ``append(visible:limit:)`` may append.
    static func room(forVisible bytes: Span<UInt8>, limit: Int) -> Int {
        3 * Swift.min(bytes.count, limit) + 3
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
