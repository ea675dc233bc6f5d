// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal.
    mutating func append(decimal value: Int) { append(contentsOf: String(value).utf8) }

    /// Appends a duration in seconds with six digits after the point; negative ones count as zero.
    mutating func append(seconds duration: Duration) {
        append(addingCapacity: 27) { $0.append(seconds: duration) }
    }
}
