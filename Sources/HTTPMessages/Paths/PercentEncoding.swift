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

    /// A target in the characters of URIs, which are all of ASCII (RFC 3986 §2): every other byte is encoded, and nothing else.
    ///
    /// - Returns: nil if all of its bytes are of ASCII.
    package static func ascii(_ target: Span<UInt8>) -> [UInt8]? {
        guard let first = target.indices.first(where: { target[$0] >= 0x80 }) else { return nil }
        var output: [UInt8] = []
        output.append(target.extracting(..<first))
        for index in first..<target.count {
            if target[index] < 0x80 { output.append(target[index]) } else { output += triplet(target[index]) }
        }
        return output
    }

    /// One spelling for paths that differ only in the case of escapes' digits, and in whether characters are encoded
    /// that no path may have as they are (RFC 3986 §3.3, §6.2.2.1).
    ///
    /// - Parameters:
    ///   - decodesUnreserved: true to decode unreserved characters too (RFC 3986 §6.2.2.2).
    ///   - decodesDelimiters: true to decode the delimiters that a segment may have as they are.
    static func canonical(
        _ path: Span<UInt8>, decodesUnreserved: Bool = false, decodesDelimiters: Bool = false
    ) -> [UInt8] {
        var output: [UInt8] = []
        guard path.indices.contains(where: { !path[$0].isOfPath }) else {
            output.append(path)
            return output
        }
        var cursor = 0
        while cursor < path.count {
            if let decoded = path.percentDecoded(at: cursor) {
                if decodesUnreserved && isUnreserved(decoded) || decodesDelimiters && decoded.isPathDelimiter
                {
                    output.append(decoded)
                } else {
                    output += triplet(decoded)
                }
                cursor += 3
            } else {
                if path[cursor].isOfPath {
                    output.append(path[cursor])
                } else {
                    output += triplet(path[cursor])
                }
                cursor += 1
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

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}

extension UInt8 {
    /// True for characters that a path may have as they are (RFC 3986 §3.3), slashes included.
    var isOfPath: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: "@")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// True for characters that a path may have as they are, but that may mean something else when they are encoded
    /// (RFC 3986 §2.2).
    var isPathDelimiter: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ":"),
            Byte.semicolon, UInt8(ascii: "="), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
