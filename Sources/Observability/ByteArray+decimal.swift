// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal, with leading zeros up to `width` digits, without allocating.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var first = digits.count
        var rest = value
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        first = Swift.min(first, digits.count - width)
        for index in first..<digits.count { append(digits[index]) }
    }

    /// Appends a signed number in decimal.
    mutating func append(decimal value: Int) {
        if value < 0 { append(0x2D) }
        append(decimal: UInt64(value.magnitude))
    }

    /// Appends a duration in seconds with six digits after the point; negative ones count as zero.
    mutating func append(seconds duration: Duration) {
        let (seconds, attoseconds) = duration.components
        append(decimal: UInt64(clamping: seconds))
        append(0x2E)
        append(decimal: UInt64(clamping: attoseconds) / 1_000_000_000_000, width: 6)
    }
}
