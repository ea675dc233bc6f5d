// SPDX-License-Identifier: Apache-2.0

/// The value of a field of a log line.
///
/// There is no case for a secret and none for bytes, so a credential cannot be handed over by mistake.
package enum LogValue: Sendable {
    /// Text; control characters are escaped and what exceeds ``LogLine/valueLimit`` is cut off.
    case string(String)
    case integer(Int)
    /// Written in seconds, with microseconds after the point.
    case duration(Duration)
    case boolean(Bool)
}

extension LogValue: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension LogValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self = .integer(value) }
}

extension LogValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}
