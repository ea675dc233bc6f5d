// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Writes moments as RFC 3339 in UTC with milliseconds: `2026-11-21T10:45:54.123Z`.
///
/// The text up to the second is kept between calls, because a busy log writes thousands of lines a second.
package struct Timestamp: Sendable {
    private var second: Int64
    private var upToSecond: [UInt8] = []

    package init() { second = .min }

    /// Appends a moment.
    ///
    /// - Parameters:
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: gets 24 bytes.
    package mutating func append(unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 48) { append(unixMilliseconds: unixMilliseconds, to: &$0) }
    }

    /// Appends a moment to memory that has room for it.
    mutating func append(unixMilliseconds: Int64, to bytes: inout OutputSpan<UInt8>) {
        let second = CivilDate.floored(unixMilliseconds, by: 1000)
        if second != self.second {
            self.second = second
            upToSecond = Array(CivilDate(ofUnixSecond: second).text.utf8)
        }
        bytes.append(upToSecond)
        bytes.append(0x2E)
        bytes.append(decimal: UInt64(unixMilliseconds - second * 1000), width: 3)
        bytes.append(0x5A)
    }

    /// A moment as RFC 3339 with seconds: `2026-11-21T10:45:54Z`.
    package static func text(unixSeconds: Int64) -> String {
        CivilDate(ofUnixSecond: unixSeconds).text + "Z"
    }

    /// A moment as in HTTP fields: `Sat, 21 Nov 2026 10:45:54 GMT` (RFC 9110 §5.6.7).
    package static func fieldText(unixSeconds: Int64) -> String {
        let date = CivilDate(ofUnixSecond: unixSeconds)
        var bytes = Array("\(dayNames[Int(date.weekday)]), ".utf8)
        bytes.append(decimal: UInt64(clamping: date.day), width: 2)
        bytes.append(0x20)
        bytes += monthNames[Int(date.month - 1)].utf8
        bytes.append(0x20)
        bytes.append(decimal: UInt64(clamping: date.year), width: 4)
        var separator: UInt8 = 0x20
        for field in [date.ofDay / 3600, date.ofDay / 60 % 60, date.ofDay % 60] {
            bytes.append(separator)
            bytes.append(decimal: UInt64(clamping: field), width: 2)
            separator = 0x3A
        }
        return String(decoding: bytes, as: UTF8.self) + " GMT"
    }

    private static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
