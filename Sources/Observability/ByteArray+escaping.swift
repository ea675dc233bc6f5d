// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends text for the inside of a JSON string (RFC 8259 section 7), control characters made harmless.
    ///
    /// DEL and the C1 controls are escaped too, because some terminals obey them.
    ///
    /// - Parameters:
    ///   - text: valid UTF-8.
    ///   - limit: bytes of `text` that are taken at most; an ellipsis shows that some were left out.
    mutating func append(escaping text: String.UTF8View, limit: Int) {
        var previous: UInt8 = 0
        var taken = 0
        for byte in text {
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
                append(escaping: byte)
            }
            previous = byte
        }
    }

    /// Appends one byte of a JSON string; bytes from 0x80 pass.
    mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0x20...0x7E, 0x80...:
            append(byte)
        case 0x0A: append(contentsOf: "\\n".utf8)
        case 0x0D: append(contentsOf: "\\r".utf8)
        case 0x09: append(contentsOf: "\\t".utf8)
        default: append(unicodeEscape: byte)
        }
    }

    private mutating func append(unicodeEscape byte: UInt8) {
        append(contentsOf: "\\u00".utf8)
        append(hexadecimal: byte)
    }

    /// Appends the two hexadecimal digits of a byte.
    mutating func append(hexadecimal byte: UInt8) {
        append(addingCapacity: 2) { $0.append(hexadecimal: byte) }
    }
}
