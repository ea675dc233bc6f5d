// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

/// All that a program printed and that may be a token, in the form that was asked for or in any other.
struct PrintedSecrets {
    /// The values of members that hold tokens, decoded.
    private(set) var tokens: [[UInt8]] = []
    /// All texts that may be or hold a token, as they were printed and decoded.
    private(set) var texts: [[UInt8]] = []
    /// Words that are too short to be recognised by a part of them.
    private var words: Set<[UInt8]> = []

    /// A shorter text is compared as a whole, a longer one by every part of this length; in bytes.
    private static let part = 8
    /// Shorter words count only if they are a token's whole value.
    private static let shortestWord = 3

    /// The names of members that hold tokens.
    private static let tokenNames: Set<String> = ["access_token", "token", "id_token", "refresh_token"]
    /// The names and values that both forms have, which are no secrets.
    private static let knownTexts: Set<String> = tokenNames.union([
        "expires_in", "expires_at", "token_type", "scope", "error", "error_description", "kind", "apiVersion",
        "ExecCredential", "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1", "spec",
        "status", "expirationTimestamp", "interactive", "Bearer", "bearer", "true", "false", "null",
    ])

    init(in output: [UInt8]) {
        let start = output.first { !Self.isBlank($0) }
        guard start == UInt8(ascii: "{") else {
            add(output)
            return
        }
        var name = ""
        for (index, text) in Self.quoted(in: output) {
            // Between the strings are numbers, and whatever else an object that is none has.
            guard index.isMultiple(of: 2) == false else {
                add(text)
                continue
            }
            let decoded = Self.decoded(text)
            let word = String(decoding: decoded, as: UTF8.self)
            let isToken = Self.tokenNames.contains(name)
            name = word
            guard isToken || !Self.knownTexts.contains(word) else { continue }
            if isToken { tokens.append(decoded) }
            add(text)
            if decoded != text { add(decoded) }
        }
        words.formUnion(tokens.filter { !$0.isEmpty && $0.count < Self.part })
    }

    private mutating func add(_ text: [UInt8]) {
        if text.count >= Self.part { texts.append(text) }
        let pieces = text.split(whereSeparator: Self.isBlank) + text.split { !Self.isTokenByte($0) }
        for piece in pieces where Self.shortestWord..<Self.part ~= piece.count {
            if !Self.knownTexts.contains(String(decoding: piece, as: UTF8.self)) {
                words.insert(Array(piece))
            }
        }
    }

    /// Returns true if `said` has one of the short words.
    func isShortRepeated(in said: [UInt8]) -> Bool {
        guard !words.isEmpty else { return false }
        return (1..<Self.part).contains { length in
            guard said.count >= length else { return false }
            return (0...said.count - length).contains { words.contains(Array(said[$0..<$0 + length])) }
        }
    }

    /// The parts of a text before, in and after its quoted strings: those with an odd index are in quotes.
    private static func quoted(in text: [UInt8]) -> [(Int, [UInt8])] {
        var parts: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in text {
            if byte == UInt8(ascii: "\""), !isEscaped {
                parts.append([])
                continue
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            parts[parts.count - 1].append(byte)
        }
        return Array(parts.enumerated()).map { ($0.offset, $0.element) }
    }

    /// The text between two quotes, without its escapes; as it is where those are wrong.
    private static func decoded(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: "\\")) else { return text }
        let quote = [UInt8(ascii: "\"")]
        let whole = Array("[".utf8) + quote + text + quote + Array("]".utf8)
        return (try? JSONValue(parsing: whole))?.array?.first?.string.map { Array($0.utf8) } ?? text
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

    /// The characters of a `b64token` (RFC 6750 §2.1).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}
