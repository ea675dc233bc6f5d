// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension Timestamp {
    /// Parses the form of ``text(unixSeconds:)``; nil for anything else.
    package static func unixSeconds(_ text: String) -> Int64? {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count == 20, parts[1].last == "Z" else { return nil }
        let date = parts[0].split(separator: "-").compactMap { Int64($0) }
        guard date.count == 3, let ofDay = secondOfDay(parts[1].dropLast()) else { return nil }
        return CivilDate.unixSecond(year: date[0], month: date[1], day: date[2], ofDay: ofDay)
    }

    /// Parses `10:45:54`; a leap second counts as the second before it.
    private static func secondOfDay(_ text: Substring) -> Int64? {
        let fields = text.split(separator: ":").compactMap { Int64($0) }
        guard fields.count == 3, 0...23 ~= fields[0], 0...59 ~= fields[1], 0...60 ~= fields[2] else {
            return nil
        }
        return fields[0] * 3600 + fields[1] * 60 + min(fields[2], 59)
    }
}
