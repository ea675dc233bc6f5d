// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Writes moments as RFC 3339 in UTC with milliseconds: `2026-11-21T10:45:54.123Z`.
///
/// The text up to the second is kept between calls, because a busy log writes thousands of lines a second.
package struct Timestamp: Sendable {
    private var milliseconds: Int64?
    private var second: Int64?
    /// The last moment, between what stands around it.
    private(set) var text: [UInt8] = []
    private let prefix, suffix: String

    /// - Parameters:
    ///   - prefix: what stands in front of each moment.
    ///   - suffix: what stands behind it.
    package init(behind prefix: String = "", before suffix: String = "") {
        self.prefix = prefix
        self.suffix = suffix
    }

    /// Appends a moment.
    ///
    /// - Parameters:
    ///   - unixMilliseconds: milliseconds since 1970-01-01T00:00:00Z.
    ///   - bytes: gets 24 bytes, and what stands around them.
    package mutating func append(unixMilliseconds: Int64, to bytes: inout [UInt8]) {
        renew(unixMilliseconds: unixMilliseconds)
        bytes += text
    }

    /// Makes ``text`` that of a moment.
    mutating func renew(unixMilliseconds: Int64) {
        guard unixMilliseconds != milliseconds else { return }
        milliseconds = unixMilliseconds
        let second = unixMilliseconds / 1000 - (unixMilliseconds % 1000 < 0 ? 1 : 0)
        if second != self.second {
            self.second = second
            text = Array((prefix + CivilDate.text(ofUnixSecond: second) + ".000Z" + suffix).utf8)
        }
        let rest = Int(unixMilliseconds - second * 1000)
        let point = text.count - suffix.utf8.count - 4
        text[point] = UInt8(ascii: "0") + UInt8(rest / 100)
        text[point + 1] = UInt8(ascii: "0") + UInt8(rest / 10 % 10)
        text[point + 2] = UInt8(ascii: "0") + UInt8(rest % 10)
    }

    /// A moment as RFC 3339 with seconds: `2026-11-21T10:45:54Z`.
    package static func text(unixSeconds: Int64) -> String {
        CivilDate.text(ofUnixSecond: unixSeconds) + "Z"
    }
}
