// SPDX-License-Identifier: Apache-2.0

/// A second of UTC as a date and a time of day.
package struct CivilDate {
    package let year, month, day: Int64
    /// The days since Sunday, which is 0.
    package let weekday: Int64
    /// The second of the day.
    package let ofDay: Int64

    /// Converts days to a date by Howard Hinnant's `civil_from_days`: years start in March, so that leap days
    /// come last.
    package init(ofUnixSecond second: Int64) {
        let count = Self.floored(second, by: 86400)
        let shifted = count + 719_468
        let era = Self.floored(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        ofDay = second - count * 86400
        weekday = count + 4 - Self.floored(count + 4, by: 7) * 7
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The date and time in the form of RFC 3339 without a zone: `2026-11-21T10:45:54`.
    package var text: String {
        func padded(_ number: Int64, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))"
            + "T\(padded(ofDay / 3600)):\(padded(ofDay / 60 % 60)):\(padded(ofDay % 60))"
    }

    /// The second since 1970 of a date; nil for a date that does not exist.
    package static func unixSecond(year: Int64, month: Int64, day: Int64, ofDay: Int64) -> Int64? {
        guard 0...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0..<86400 ~= ofDay else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floored(shiftedYear, by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let second = (era * 146_097 + dayOfEra - 719_468) * 86400 + ofDay
        let date = CivilDate(ofUnixSecond: second)
        return date.month == month && date.day == day ? second : nil
    }

    /// Division that rounds down for negative values too.
    package static func floored(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
