// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
package enum RetryAfter {
    /// Longer delays are cut to this.
    static let longest: Duration = .seconds(300)

    /// The delay that the field asks for; nil if it is missing, unreadable or in the past.
    package static func delay(in fields: HTTPFields, wall: WallTime) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            return min(.seconds(Int64(text) ?? .max / 2), longest)
        }
        guard let date = WallTime(httpDate: text), date > wall else { return nil }
        return min(date - wall, longest)
    }
}

extension WallTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads an HTTP date in any of its three spellings (RFC 9110 §5.6.7).
    ///
    /// - Returns: nil for anything but a date between 1970 and 9999.
    package init?(httpDate text: String) {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5, let clock = words.first(where: { $0.contains(":") }),
            let month = words.compactMap({ Self.months.firstIndex(of: String($0)) }).first
        else { return nil }
        let time = clock.split(separator: ":", omittingEmptySubsequences: false).compactMap(Self.number)
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60 else { return nil }
        let numbers = words.compactMap(Self.number)
        guard numbers.count == 2, 1...31 ~= numbers[0] else { return nil }
        let year = numbers[1] < 70 ? numbers[1] + 2000 : numbers[1] < 100 ? numbers[1] + 1900 : numbers[1]
        guard 1970...9999 ~= year else { return nil }
        let days = Self.daysSinceEpoch(year: year, month: month + 1, day: numbers[0])
        self.init(secondsSinceEpoch: Int64(((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]))
    }

    private static func number(_ digits: Substring) -> Int? {
        guard 1...4 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(digits)
    }

    /// The Gregorian calendar, counted in eras of 400 years that begin in March.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
