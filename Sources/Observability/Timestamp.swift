// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Writes moments as RFC 3339 in UTC with milliseconds: `2026-11-21T10:45:54.123Z`.
///
/// The text up to the second is kept between calls, because a busy log writes thousands of lines a second.
package struct Timestamp: Sendable {
    private var second: Int64
    private var upToSecond: [UInt8] = []
    private let prefix: String

    /// - Parameter prefix: what stands in front of each moment.
    package init(behind prefix: String = "") {
        second = .min
        self.prefix = prefix
    }

    /// Appends a moment.
    ///
    /// - Parameters:
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: gets the prefix and 24 bytes.
    package mutating func append(unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 48 + prefix.utf8.count) {
            append(unixMilliseconds: unixMilliseconds, to: &$0)
        }
    }

    /// Appends a moment to memory that has room for it.
    mutating func append(unixMilliseconds: Int64, to bytes: inout OutputSpan<UInt8>) {
        let second = unixMilliseconds / 1000 - (unixMilliseconds % 1000 < 0 ? 1 : 0)
        if second != self.second {
            self.second = second
            upToSecond = Array((prefix + CivilDate.text(ofUnixSecond: second) + ".").utf8)
        }
        bytes.append(upToSecond)
        bytes.append(decimal: UInt64(unixMilliseconds - second * 1000), width: 3)
        bytes.append(0x5A)
    }

    /// A moment as RFC 3339 with seconds: `2026-11-21T10:45:54Z`.
    package static func text(unixSeconds: Int64) -> String {
        CivilDate.text(ofUnixSecond: unixSeconds) + "Z"
    }

    /// A moment as in HTTP fields: `Sat, 21 Nov 2026 10:45:54 GMT` (RFC 9110 §5.6.7).
    package static func fieldText(unixSeconds: Int64) -> String {
        CivilDate.text("%a, %d %b %Y %T GMT", ofUnixSecond: unixSeconds)
    }
}
