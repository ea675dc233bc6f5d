// SPDX-License-Identifier: Apache-2.0

/// A single value as it is written, not yet a text, number or truth.
///
/// YAML 1.1 and 1.2 give a plain scalar a type by its looks, differently. Here the reader that wants a type asks
/// for it: ``bool``, ``integer`` or ``isNull``; `text` is always there.
package struct YAMLScalar: Equatable, Sendable {
    /// How a scalar's type is found.
    package enum Style: Equatable, Sendable {
        /// Written without quotes: its looks may make it a number, a truth or nothing.
        case plain
        /// Written in quotes, as a block, or with the tag `!!str`: a text and nothing else.
        case quoted
    }

    /// The value, with quotes, escapes and folding resolved.
    package let text: String
    /// How the value was written.
    package let style: Style

    /// A scalar from its two parts.
    package init(_ text: String, style: Style) {
        self.text = text
        self.style = style
    }

    /// Whether it is YAML's null: nothing at all, `~` or `null`.
    package var isNull: Bool {
        style == .plain && ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The truth it stands for: `true`/`false` (1.2), also `yes`/`no` and `on`/`off` (1.1); nil for anything else.
    package var bool: Bool? {
        guard style == .plain else { return nil }
        return switch text {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": false
        default: nil
        }
    }

    /// The whole number it stands for, decimal, `0x…` or `0o…`, with `_` between digits (1.1).
    ///
    /// Nil for anything else, and for a decimal with a leading zero: 1.1 reads that as octal, 1.2 does not.
    package var integer: Int64? {
        guard style == .plain else { return nil }
        var digits = Substring(text)
        let isNegative = digits.hasPrefix("-")
        if isNegative || digits.hasPrefix("+") { digits = digits.dropFirst() }
        let radix: Int
        switch digits.prefix(2) {
        case "0x": radix = 16
        case "0o": radix = 8
        default: radix = 10
        }
        if radix != 10 { digits = digits.dropFirst(2) }
        guard let first = digits.first, first.isHexDigit, digits.last != "_" else { return nil }
        if radix == 10, first == "0", digits.count > 1 { return nil }
        return Int64((isNegative ? "-" : "") + digits.filter { $0 != "_" }, radix: radix)
    }
}
