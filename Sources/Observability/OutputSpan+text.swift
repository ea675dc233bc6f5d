// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension OutputSpan<UInt8> {
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
            let end = shown.endOfPlainText(from: start)
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
}
