// SPDX-License-Identifier: Apache-2.0

/// A scanner for values of `WWW-Authenticate` (RFC 9110 §11.6.1).
///
/// A comma separates both parameters and challenges; the text after it tells which.
struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ field: String) {
        rest = field[...].utf8
    }

    /// The parameters of the first challenge of the scheme `wanted` (lower case), by lower-case names.
    ///
    /// The first of equal names counts; the text after something malformed is ignored.
    ///
    /// - Returns: nil if there is no such challenge.
    mutating func parameters(of wanted: String) -> [String: String]? {
        var found: [String: String]?
        while true {
            skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            guard let word = token() else { return found }
            if let value = parameterValue() {
                if found?[word] == nil { found?[word] = value }
                continue
            }
            if found != nil { return found }  // the next challenge
            if word == wanted { found = [:] }
            skipToken68()
        }
    }

    /// Consumes `BWS "=" BWS ( token / quoted-string )`; returns nil, consuming nothing, if something else is next.
    private mutating func parameterValue() -> String? {
        let start = rest
        skip(Self.isBlank)
        guard rest.first == UInt8(ascii: "=") else {
            rest = start
            return nil
        }
        rest.removeFirst()
        skip(Self.isBlank)
        if rest.first == UInt8(ascii: "\"") { return quotedString() }
        let value = rest.prefix(while: Self.isTokenByte)
        rest = rest[value.endIndex...]
        return String(Substring(value))
    }

    /// Consumes a quoted string; one that is not closed ends with the field.
    private mutating func quotedString() -> String {
        var bytes: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if let escaped = rest.popFirst() { bytes.append(escaped) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Skips a `token68`, which schemes like `Negotiate` have in place of parameters.
    private mutating func skipToken68() {
        let start = rest
        skip(Self.isBlank)
        skip { Self.isTokenByte($0) || $0 == UInt8(ascii: "/") }
        skip { $0 == UInt8(ascii: "=") }
        skip(Self.isBlank)
        if let next = rest.first, next != UInt8(ascii: ",") { rest = start }
    }

    /// Consumes a token; returns it in lower case, nil if none is next.
    private mutating func token() -> String? {
        let word = rest.prefix(while: Self.isTokenByte)
        guard !word.isEmpty else { return nil }
        rest = rest[word.endIndex...]
        return Substring(word).lowercased()
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
