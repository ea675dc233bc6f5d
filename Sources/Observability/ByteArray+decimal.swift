// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal, with leading zeros up to `width` digits, at most 20.
    mutating func append(decimal value: UInt64, width: Int = 1) {
        append(addingCapacity: 20) { $0.append(decimal: value, width: width) }
    }

    /// Appends a signed number in decimal.
    mutating func append(decimal value: Int) {
        if value < 0 { append(0x2D) }
        append(decimal: UInt64(value.magnitude))
    }

    /// Appends a duration in seconds with six digits after the point; negative ones count as zero.
    mutating func append(seconds duration: Duration) {
        append(addingCapacity: 27) { $0.append(seconds: duration) }
    }
}
