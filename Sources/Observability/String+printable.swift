// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text on one line, without characters that control a terminal.
    package var printable: String { printable(keepingLineEnds: false) }

    /// The text without characters that control a terminal; they are shown as JSON escapes.
    ///
    /// They are the C0 and C1 controls, DEL, line and paragraph separators, and characters that change the
    /// direction of writing, so that a line cannot be read as another one.
    ///
    /// - Parameter keepsLineEnds: true to keep line feeds.
    package func printable(keepingLineEnds keepsLineEnds: Bool) -> String {
        func isShown(_ scalar: Unicode.Scalar) -> Bool {
            !scalar.isObeyed || keepsLineEnds && scalar == "\n"
        }
        guard !unicodeScalars.allSatisfy(isShown) else { return self }
        var shown = ""
        for scalar in unicodeScalars {
            if isShown(scalar) { shown.unicodeScalars.append(scalar) } else { shown += scalar.escape }
        }
        return shown
    }
}

extension Unicode.Scalar {
    fileprivate var isObeyed: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// The escape of a control character in JSON (RFC 8259 §7); none of them needs a pair of escapes.
    fileprivate var escape: String {
        switch self {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
