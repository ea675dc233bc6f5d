// SPDX-License-Identifier: Apache-2.0

/// The value of a log field.
///
/// There is no case for a secret or for bytes, so that a credential cannot be logged by mistake.
package enum LogValue: Sendable {
    /// Text; control characters are escaped, and the part beyond ``LogLine/valueLimit`` is cut off.
    case string(String)
    case integer(Int)
    /// Written in seconds with six decimals.
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
