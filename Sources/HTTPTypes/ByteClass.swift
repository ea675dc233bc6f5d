// SPDX-License-Identifier: Apache-2.0

/// The character classes of RFC 9110 §5.5 and §5.6.2 and RFC 9112 §3.2, each as four words of bits.
enum ByteClass {
    /// Whether a byte may stand in a token.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        let word: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && word &>> UInt64(byte & 63) & 1 != 0
    }

    /// Whether a byte may stand in a field value: HTAB, SP, VCHAR, obs-text.
    @inline(__always)
    static func isFieldContent(_ byte: UInt8) -> Bool {
        byte.isFieldContent
    }

    /// Whether a byte may stand in a request target: VCHAR but `#`, and bytes from 0x80 on (SPEC section 7).
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool {
        byte > Byte.space && byte != Byte.delete && byte != Byte.numberSign
    }
}
