// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// A date as HTTP writes it (RFC 9110 §5.6.7), in any of its three spellings.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The second since 1970 that is written; nil for what is no date between 1970 and 9999.
    package static func unixSeconds(_ text: String) -> Int64? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        guard words.count >= 5, let clock = words.first(where: { $0.contains(":") }),
            let month = words.compactMap({ months.firstIndex(of: String($0)) }).first
        else { return nil }
        let time = clock.split(separator: ":", omittingEmptySubsequences: false).compactMap { number($0) }
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60 else { return nil }
        let numbers = words.compactMap { number($0) }
        guard numbers.count == 2, 1...31 ~= numbers[0] else { return nil }
        let year = numbers[1] < 70 ? numbers[1] + 2000 : numbers[1] < 100 ? numbers[1] + 1900 : numbers[1]
        guard 1970...9999 ~= year else { return nil }
        let ofDay = (time[0] * 60 + time[1]) * 60 + min(time[2], 59)
        return CivilDate.unixSecond(
            year: Int64(year), month: Int64(month + 1), day: Int64(numbers[0]), ofDay: Int64(ofDay))
    }

    /// A second in the spelling of today: `Sat, 21 Nov 2026 10:45:54 GMT`.
    package static func text(unixSeconds second: Int64) -> String {
        CivilDate.text("%a, %d %b %Y %T GMT", ofUnixSecond: second)
    }

    private static func number(_ digits: Substring) -> Int? {
        guard 1...4 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(digits)
    }
}
