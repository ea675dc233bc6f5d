// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text on one line, without anything that a terminal would obey.
    package var printable: String { printable(keepingLineEnds: false) }

    /// The text without anything that a terminal would obey; what is taken out shows as in JSON: `\n`, `\u001b`.
    ///
    /// That are the C0 and C1 controls, DEL, the separators of lines and paragraphs, and what turns the direction of
    /// writing, so that a line cannot be read as another one than it is.
    ///
    /// - Parameter keepsLineEnds: whether a line feed stays one.
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

    /// RFC 8259 section 7; none of those that are obeyed needs two.
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
