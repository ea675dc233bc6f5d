// SPDX-License-Identifier: Apache-2.0

/// The bytes with names in HTTP's grammar (RFC 5234 appendix B.1, RFC 9110 §5.6).
package enum Byte {
    package static var tab: UInt8 { 0x09 }
    package static var lineFeed: UInt8 { 0x0A }
    package static var carriageReturn: UInt8 { 0x0D }
    package static var space: UInt8 { 0x20 }
    package static var numberSign: UInt8 { 0x23 }
    package static var percent: UInt8 { 0x25 }
    package static var asterisk: UInt8 { 0x2A }
    package static var ampersand: UInt8 { 0x26 }
    package static var plus: UInt8 { 0x2B }
    package static var comma: UInt8 { 0x2C }
    package static var hyphen: UInt8 { 0x2D }
    package static var dot: UInt8 { 0x2E }
    package static var slash: UInt8 { 0x2F }
    package static var quote: UInt8 { 0x22 }
    package static var equals: UInt8 { 0x3D }
    package static var zero: UInt8 { 0x30 }
    package static var colon: UInt8 { 0x3A }
    package static var semicolon: UInt8 { 0x3B }
    package static var questionMark: UInt8 { 0x3F }
    package static var at: UInt8 { 0x40 }
    package static var leftBracket: UInt8 { 0x5B }
    package static var backslash: UInt8 { 0x5C }
    package static var rightBracket: UInt8 { 0x5D }
    package static var lowerA: UInt8 { 0x61 }
    package static var delete: UInt8 { 0x7F }

    /// The upper-case digit for a value below 16.
    package static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? zero + value : 0x41 + value - 10
    }
}

extension UInt8 {
    /// The lower-case form of an ASCII letter; every other byte unchanged.
    package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

    package var isDigit: Bool { self &- Byte.zero < 10 }

    /// Optional white space: SP or HTAB (RFC 9110 §5.6.3).
    package var isOptionalWhitespace: Bool { self == Byte.space || self == Byte.tab }

    /// True for the bytes of a field value: HTAB, SP, VCHAR and obs-text (RFC 9110 §5.5).
    package var isFieldContent: Bool { (self >= Byte.space && self != Byte.delete) || self == Byte.tab }

    /// True for the bytes of a token, as in field names and methods (RFC 9110 §5.6.2); a bit for each of 128 bytes.
    @inline(__always)
    package var isTokenCharacter: Bool {
        let word: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return self < 128 && word &>> UInt64(self & 63) & 1 != 0
    }

    /// True for the bytes of a request target: VCHAR but `#`, and bytes from 0x80 on.
    @inline(__always)
    package var isTargetCharacter: Bool {
        self > Byte.space && self != Byte.delete && self != Byte.numberSign
    }

    /// The value of a hexadecimal digit, in either case.
    package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
