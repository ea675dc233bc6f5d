// SPDX-License-Identifier: Apache-2.0

extension WallTime {
    /// Reads a date and time (RFC 3339 §5.6), as in `2026-11-25T20:37:00.5+01:00`; the fraction is dropped.
    init?(rfc3339 text: String) {
        var rest = Substring(text)
        func number(_ count: Int) -> Int64? {
            let digits = rest.utf8.prefix(count)
            guard digits.count == count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Int64(rest.prefix(count))
        }
        func take(_ characters: String) -> Bool {
            guard let first = rest.first, characters.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard text.utf8.count <= 64, text.utf8.allSatisfy({ $0 < 0x80 }),
            let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            take("Tt "),
            let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second <= 60
        else { return nil }
        if take(".") {
            let fraction = rest.prefix { $0.isNumber }
            guard !fraction.isEmpty else { return nil }
            rest = rest[fraction.endIndex...]
        }
        var offset: Int64 = 0
        if !take("Zz") {
            let isWest = rest.first == "-"
            guard take("+-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
        }
        guard rest.isEmpty else { return nil }
        let days = Self.days(year, month, day)
        self.init(secondsSinceEpoch: days * 86400 + hour * 3600 + minute * 60 + min(second, 59) - offset)
    }

    /// Days since 1970-01-01 in the Gregorian calendar, whose years begin in March here so that leap days end them.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
