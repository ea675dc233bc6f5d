// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal, with leading zeros up to `width` digits, without allocating.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20 && value >= bound {
            digits += 1
            bound = digits < 20 ? bound * 10 : .max
        }
        let length = Swift.max(digits, width)
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: length))
        var rest = value
        var index = count
        while rest > 0 {
            index -= 1
            self[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
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
