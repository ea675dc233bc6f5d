// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The field `Date` of the present second (RFC 9110 §6.6.1).
///
/// Its text is made once a second at most, for all answers that have none of their own.
package struct DateField: Sendable {
    private var second: Int64
    private var field: PreparedField

    package init() { (second, field) = Self.make(of: WallClock.unixMilliseconds / 1000) }

    /// The field for an answer that begins now.
    package var now: PreparedField {
        mutating get {
            let present = WallClock.unixMilliseconds / 1000
            if present != second { (second, field) = Self.make(of: present) }
            return field
        }
    }

    private static func make(of second: Int64) -> (Int64, PreparedField) {
        (second, PreparedField(.date, known: HTTPDate.text(unixSeconds: second)))
    }
}
