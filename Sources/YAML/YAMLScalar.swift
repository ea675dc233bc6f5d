// SPDX-License-Identifier: Apache-2.0

/// A single value as it is written, without a type yet.
///
/// YAML 1.1 and 1.2 type plain scalars by their looks, in different ways. Here the reader asks for a type: ``bool``,
/// ``integer`` or ``isNull``; `text` is always there.
package struct YAMLScalar: Equatable, Sendable {
    /// The style, on which the type depends.
    package enum Style: Equatable, Sendable {
        /// Without quotes: the looks may make it a number, a boolean or null.
        case plain
        /// In quotes, as a block, or with the tag `!!str`: always a text.
        case quoted
    }

    /// The value, with quotes, escapes and folding resolved.
    package let text: String
    package let style: Style

    package init(_ text: String, style: Style) {
        self.text = text
        self.style = style
    }

    /// True for YAML's null: nothing at all, `~` or `null`.
    package var isNull: Bool { style == .plain && ["", "~", "null", "Null", "NULL"].contains(text) }

    /// The boolean: `true`/`false` (1.2), also `yes`/`no` and `on`/`off` (1.1); nil for anything else.
    package var bool: Bool? {
        guard style == .plain else { return nil }
        return switch text {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
        default: nil
        }
    }

    /// The number: a whole one, or one with a point or an exponent (1.2, 10.3.2) that is finite; nil for anything else.
    package var number: Double? {
        if let integer { return Double(integer) }
        guard style == .plain, text.utf8.allSatisfy(Self.decimal.contains) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The bytes of a decimal number.
    private static let decimal = Set("0123456789.eE+-".utf8)

    /// The whole number: decimal, `0x…` or `0o…` without a sign, with `_` between digits (1.1).
    ///
    /// Nil for anything else, and for a decimal with a leading zero: 1.1 reads that as octal, 1.2 does not.
    package var integer: Int64? {
        guard style == .plain else { return nil }
        var digits = Substring(text)
        let isNegative = digits.hasPrefix("-")
        let isSigned = isNegative || digits.hasPrefix("+")
        if isSigned { digits = digits.dropFirst() }
        let radix: Int
        switch digits.prefix(2) {
        case "0x": radix = 16
        case "0o": radix = 8
        default: radix = 10
        }
        if radix != 10 {
            guard !isSigned else { return nil }
            digits = digits.dropFirst(2)
        }
        guard let first = digits.first, first.isHexDigit, digits.last != "_" else { return nil }
        if radix == 10, first == "0", digits.count > 1 { return nil }
        return Int64((isNegative ? "-" : "") + digits.filter { $0 != "_" }, radix: radix)
    }
}
