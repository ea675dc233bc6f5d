// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a JSON string with its quotation marks (RFC 8259 section 7).
    package mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        append(jsonEscaping: text)
        append(UInt8(ascii: "\""))
    }

    /// Appends text for the inside of a JSON string (RFC 8259 section 7), control characters made harmless.
    ///
    /// DEL and the C1 controls are escaped too, because some terminals obey them.
    ///
    /// - Parameter limit: bytes of `text` that are taken at most, whole characters of them; an ellipsis shows that some
    ///   were left out.
    package mutating func append(jsonEscaping text: String, limit: Int = .max) {
        if text.utf8.count <= limit, text.isPlain {
            append(contentsOf: text.utf8)
            return
        }
        var previous: UInt8 = 0
        var taken = 0
        for byte in text.utf8 {
            let startsCharacter = byte & 0xC0 != 0x80
            if taken >= limit && startsCharacter {
                append(contentsOf: "…".utf8)
                return
            }
            taken += 1
            if previous == 0xC2 && byte < 0xA0 && !startsCharacter {
                removeLast()
                append(unicodeEscape: byte)
            } else {
                append(jsonEscaping: byte)
            }
            previous = byte
        }
    }

    private mutating func append(jsonEscaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0x20...0x7E, 0x80...: append(byte)
        case 0x0A: append(contentsOf: "\\n".utf8)
        case 0x0D: append(contentsOf: "\\r".utf8)
        case 0x09: append(contentsOf: "\\t".utf8)
        default: append(unicodeEscape: byte)
        }
    }

    private mutating func append(unicodeEscape byte: UInt8) {
        let digits = String(byte, radix: 16)
        append(contentsOf: (digits.utf8.count < 2 ? "\\u000" : "\\u00").utf8)
        append(contentsOf: digits.utf8)
    }
}

extension String {
    /// True if the text can stand unescaped in a JSON string: printable ASCII without `"` and `\`.
    fileprivate var isPlain: Bool {
        let bytes = utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
            guard 0x20...0x7E ~= byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                return false
            }
        }
        return true
    }
}
