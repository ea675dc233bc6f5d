// SPDX-License-Identifier: Apache-2.0

/// Base 64 with `+`, `/` and padding (RFC 4648 §4).
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.standard.encode(bytes, padded: true)
    }

    /// The bytes; nil if the text has a foreign character (white space too) or wrong padding, or is not canonical.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        return Base64Alphabet.standard.decode(text.dropLast(padding))
    }
}

/// Base 64 with `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.urlSafe.encode(bytes, padded: false)
    }

    /// The bytes; nil if the text has a foreign character (padding too) or is not canonical.
    package static func decode(_ text: String) -> [UInt8]? {
        Base64Alphabet.urlSafe.decode(Array(text.utf8)[...])
    }
}

/// An alphabet of 64 characters for 6 bits each.
private struct Base64Alphabet {
    static let standard = Base64Alphabet(last: "+/")
    static let urlSafe = Base64Alphabet(last: "-_")

    private let characters: [UInt8]
    /// The 6 bits of each character, or 0xFF.
    private let values: [UInt8]

    private init(last: String) {
        let all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last
        characters = Array(all.utf8)
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }

    func encode(_ bytes: [UInt8], padded: Bool) -> String {
        let length = padded ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
        return String(unsafeUninitializedCapacity: length) { text in
            var (next, written) = (0, 0)
            func put(_ bits: UInt32, _ count: Int) {
                for place in 0..<count {
                    text[written] = characters[Int(bits >> UInt32(18 - 6 * place) & 63)]
                    written += 1
                }
            }
            while next + 2 < bytes.count {
                put(
                    UInt32(bytes[next]) << 16 | UInt32(bytes[next + 1]) << 8 | UInt32(bytes[next + 2]), 4)
                next += 3
            }
            if next < bytes.count {
                let second = next + 1 < bytes.count ? UInt32(bytes[next + 1]) << 8 : 0
                put(UInt32(bytes[next]) << 16 | second, bytes.count - next + 1)
            }
            while written < length {
                text[written] = UInt8(ascii: "=")
                written += 1
            }
            return written
        }
    }

    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var pending = 0
        for character in text {
            let value = values[Int(character)]
            guard value != 0xFF else { return nil }
            bits = bits << 6 | UInt32(value)
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
            }
        }
        // 6 pending bits are a lone character; bits that are not 0 would let two texts mean the same bytes.
        guard pending < 6, bits & (1 << UInt32(pending) - 1) == 0 else { return nil }
        return bytes
    }
}
