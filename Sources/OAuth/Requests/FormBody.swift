// SPDX-License-Identifier: Apache-2.0

/// A body of `application/x-www-form-urlencoded`, as RFC 6749 appendix B uses it.
///
/// Everything but letters, digits and `-._~` is percent-encoded, a space too: every decoder understands that, while
/// some take `+` for itself.
struct FormBody {
    static let contentType = "application/x-www-form-urlencoded"

    private(set) var bytes: [UInt8] = []

    mutating func append(_ parameter: TokenParameter, _ value: String) {
        append(name: parameter.rawValue, value)
    }

    mutating func append(name: String, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        Self.encode(name, into: &bytes)
        bytes.append(UInt8(ascii: "="))
        Self.encode(value, into: &bytes)
    }

    /// Appends `text`, percent-encoded.
    static func encode(_ text: String, into output: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
