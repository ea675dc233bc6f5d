// SPDX-License-Identifier: Apache-2.0

internal import System

/// Writes points in time as RFC 3339 in UTC with milliseconds: `2026-11-21T10:45:54.123Z`.
///
/// The part up to the second is kept between calls, because a busy log writes thousands of lines a second.
package struct Timestamp: Sendable {
    private var second: Int64
    private var upToSecond: [UInt8] = []

    package init() { second = .min }

    /// Appends one point in time.
    ///
    /// - Parameters:
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: where the 24 bytes go.
    package mutating func append(unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 48) { append(unixMilliseconds: unixMilliseconds, to: &$0) }
    }

    /// Appends one point in time to memory that has room for it.
    mutating func append(unixMilliseconds: Int64, to bytes: inout OutputSpan<UInt8>) {
        let second = Self.floored(unixMilliseconds, by: 1000)
        if second != self.second {
            self.second = second
            upToSecond = Self.text(ofUnixSecond: second)
        }
        bytes.append(upToSecond)
        bytes.append(0x2E)
        bytes.append(decimal: UInt64(unixMilliseconds - second * 1000), width: 3)
        bytes.append(0x5A)
    }

    /// The point in time as text with seconds: `2026-11-21T10:45:54Z`.
    package static func text(unixSeconds: Int64) -> String {
        String(decoding: text(ofUnixSecond: unixSeconds) + [0x5A], as: UTF8.self)
    }

    /// The point in time as HTTP's fields have it: `Sat, 21 Nov 2026 10:45:54 GMT` (RFC 9110 5.6.7).
    package static func fieldText(unixSeconds: Int64) -> String {
        let date = CivilDate(ofUnixSecond: unixSeconds)
        let (days, months) = ("SunMonTueWedThuFriSat", "JanFebMarAprMayJunJulAugSepOctNovDec")
        var bytes = Array(days.utf8.dropFirst(3 * Int(date.weekday)).prefix(3)) + Array(", ".utf8)
        bytes.append(decimal: UInt64(clamping: date.day), width: 2)
        bytes.append(0x20)
        bytes += months.utf8.dropFirst(3 * Int(date.month - 1)).prefix(3)
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

    private static func text(ofUnixSecond second: Int64) -> [UInt8] {
        let date = CivilDate(ofUnixSecond: second)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        bytes.append(decimal: UInt64(clamping: date.year), width: 4)
        for (separator, field) in [
            (0x2D, date.month), (0x2D, date.day), (0x54, date.ofDay / 3600), (0x3A, date.ofDay / 60 % 60),
            (0x3A, date.ofDay % 60),
        ] as [(UInt8, Int64)] {
            bytes.append(separator)
            bytes.append(decimal: UInt64(clamping: field), width: 2)
        }
        return bytes
    }

    /// A second of UTC as people write it.
    private struct CivilDate {
        let year, month, day: Int64
        /// From Sunday, which is 0.
        let weekday: Int64
        /// The second of the day.
        let ofDay: Int64

        /// Days become a date by Howard Hinnant's `civil_from_days`: years start in March, so leap days come last.
        init(ofUnixSecond second: Int64) {
            let count = floored(second, by: 86400)
            let shifted = count + 719_468
            let era = floored(shifted, by: 146_097)
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let monthFromMarch = (5 * dayOfYear + 2) / 153
            ofDay = second - count * 86400
            weekday = count + 4 - floored(count + 4, by: 7) * 7
            day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
            month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }
    }

    /// Division that rounds down before 1970 too.
    private static func floored(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
