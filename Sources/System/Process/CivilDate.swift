// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Converts between seconds since 1970 and dates of UTC (`gmtime_r`, `timegm`).
package enum CivilDate {
    /// Writes a date (`strftime`) with English names, because the process never changes its locale.
    ///
    /// - Parameters:
    ///   - format: produces 1 to 63 bytes.
    ///   - second: since 1970.
    package static func text(_ format: String, ofUnixSecond second: Int64) -> String {
        var second = time_t(second)
        var parts = tm()
        gmtime_r(&second, &parts)
        return String(
            unsafeUninitializedCapacity: 64,
            initializingUTF8With: { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    $0.baseAddress.map { strftime($0, 64, format, &parts) } ?? 0
                }
            })
    }

    /// The date and time in the form of RFC 3339 without a zone: `2026-11-21T10:45:54`.
    package static func text(ofUnixSecond second: Int64) -> String {
        text("%04Y-%m-%dT%H:%M:%S", ofUnixSecond: second)
    }

    /// The second since 1970 of a date; nil for a date that does not exist.
    package static func unixSecond(year: Int64, month: Int64, day: Int64, ofDay: Int64) -> Int64? {
        guard 0...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0..<86400 ~= ofDay else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (CInt(year - 1900), CInt(month - 1), CInt(day))
        parts.tm_sec = CInt(ofDay)
        let second = timegm(&parts)
        // The 31st of a shorter month is the first of the next.
        return parts.tm_mday == CInt(day) ? Int64(second) : nil
    }
}
