// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// `0`…`9`.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// `A`…`Z` and `a`…`z`.
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// A C0 control or DEL.
    var isControl: Bool { self < 0x20 || self == 0x7F }
}
