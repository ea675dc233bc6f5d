// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding (RFC 3986 §2.1) and its variant in forms.
package enum PercentEncoding {
    /// Appends `text` with everything encoded but unreserved characters (RFC 3986 §2.3).
    package static func encode(_ text: String, into output: inout [UInt8]) {
        for byte in text.utf8 { encode(byte, into: &output) }
    }

    /// Appends `byte`, encoded unless it is an unreserved character (RFC 3986 §2.3).
    static func encode(_ byte: UInt8, into output: inout [UInt8]) {
        if isUnreserved(byte) {
            output.append(byte)
        } else {
            output += triplet(byte)
        }
    }

    /// A byte as `%` and two upper-case digits.
    static func triplet(_ byte: UInt8) -> [UInt8] {
        [Byte.percent, Byte.hexadecimalDigit(byte &>> 4), Byte.hexadecimalDigit(byte & 0xF)]
    }

    /// The canonical spelling: unreserved characters decoded, the digits of other escapes in upper case (RFC 3986
    /// §6.2.2).
    static func canonical(_ encoded: [UInt8]) -> [UInt8] {
        guard encoded.contains(Byte.percent) else { return encoded }
        var output: [UInt8] = []
        var cursor = 0
        while cursor < encoded.count {
            if let decoded = encoded.span.percentDecoded(at: cursor) {
                output += isUnreserved(decoded) ? [decoded] : triplet(decoded)
                cursor += 3
            } else {
                output.append(encoded[cursor])
                cursor += 1
            }
        }
        return output
    }

    /// Changes the digits of escapes to upper case (RFC 3986 §6.2.2.1).
    static func upperCased(_ encoded: [UInt8]) -> [UInt8] {
        var output = encoded
        for index in encoded.indices where encoded.span.percentDecoded(at: index) != nil {
            for digit in (index + 1)...(index + 2) where output[digit] > Byte.lowerA - 1 {
                output[digit] -= 0x20
            }
        }
        return output
    }

    /// `text` with everything encoded but unreserved characters.
    package static func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        encode(text, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes a path segment or a query value.
    ///
    /// - Parameter isForm: true if `+` is a space (`application/x-www-form-urlencoded`).
    /// - Returns: nil for a broken escape or invalid UTF-8.
    package static func decode(_ encoded: some Collection<UInt8>, isForm: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            if byte == Byte.percent {
                guard let high = rest.popFirst()?.hexadecimalValue,
                    let low = rest.popFirst()?.hexadecimalValue
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(isForm && byte == Byte.plus ? Byte.space : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
