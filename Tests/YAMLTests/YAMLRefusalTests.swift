// SPDX-License-Identifier: Apache-2.0

import BearerdYAML
import Testing

@Suite struct `YAML that is refused` {
    @Test func `a broken text is refused where it breaks`() {
        #expect(failure("a: 1\nb: [1, 2\n")?.mark == Mark(line: 3, column: 1))
        #expect(failure("a: 1\n  b: 2\n")?.mark.line == 2)
        #expect(failure("a: \"never closed\n")?.mark.line == 2)
        #expect(failure("a: 1\n\tb: 2\n")?.mark.line == 2)
    }

    @Test(arguments: [
        ("a: 1\n\tb: 2\n", 2, 1), ("a:\n\t- x\n", 2, 1), ("a:\n  \tb: 1\n", 2, 3), ("\ta: 1\n", 1, 1),
        ("a:\n  b: x\n\tc: y\n", 3, 1), ("a:\n    b: x\n      \tc: y\n", 3, 7), ("- a\n-\tb: c\n", 2, 2),
        ("a: |\n\tx\n", 2, 1), ("a: 1\r\n\tb: 2\r\n", 2, 1), ("a: [1\n\n\t]x: y\n", 3, 1),
    ])
    func `a tab in the indentation is told in words`(text: String, line: Int, column: Int) {
        let error = failure(text)
        #expect(error?.mark == Mark(line: line, column: column))
        #expect(error?.description == "a tab in the indentation; YAML is indented with spaces")
    }

    @Test func `a tab elsewhere is no fault`() {
        #expect(failure("a:\t1\nb: 2\t# x\nc: \"x\ty\"\n") == nil)
    }

    @Test func `bytes that are not UTF-8 are refused with their place`() {
        let error = failure(bytes: Array("a: 1\nb: é".utf8) + [0xFF])
        #expect(error?.mark == Mark(line: 2, column: 5))
        #expect(error?.reason == .notUTF8)
    }

    @Test(arguments: [
        [0xFF, 0xFE, 0x61, 0x00], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
    ])
    func `UTF-16, overlong forms, surrogates and cut characters are not UTF-8`(bytes: [UInt8]) {
        let error = failure(bytes: bytes)
        #expect(error?.mark == .start)
        #expect(error?.reason == .notUTF8)
    }

    @Test(arguments: [0x00, 0x01, 0x1B, 0x7F])
    func `control characters are refused with their place`(byte: UInt8) {
        let error = failure(bytes: Array("a: 1\nb: ".utf8) + [byte, 0x0A])
        #expect(error?.mark == Mark(line: 2, column: 4))
        #expect(error?.description == "control characters are not allowed")
    }

    @Test func `a text over the limit is refused unread`() {
        var limits = YAMLLimits()
        limits.bytes = 10
        #expect(failure("a: 12345678", limits: limits)?.reason == .tooLarge(limit: 10))
        #expect(failure("a: 1234567", limits: limits) == nil)
    }

    @Test(arguments: ["[", "{a: ", "- "])
    func `deep nesting is refused`(opening: String) {
        let text = String(repeating: opening, count: 500)
        #expect(failure(text)?.reason == .tooDeep(limit: 64))
    }

    @Test func `a list may be as deep as the limit`() {
        let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(failure(text) == nil)
    }

    @Test func `a billion laughs are refused at once`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<30 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect(failure(text)?.reason == .tooManyNodes(limit: 100_000))
    }

    @Test(arguments: [
        ("a: *x", YAMLError.Reason.unknownAnchor("x")),
        ("a: &x [*x]", .recursiveAlias("x")),
        ("a: &x {b: {c: *x}}", .recursiveAlias("x")),
        ("a: 1\n---\nb: 2\n", .secondDocument),
        ("[a]: 1", .keyIsNotScalar),
        ("{a: 1}: 1", .keyIsNotScalar),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", .mergeKey),
        ("a: !secret x", .unknownTag("!secret")),
        ("a: !!binary eA==", .unknownTag("tag:yaml.org,2002:binary")),
    ])
    func `what bearerd does not read is refused by name`(text: String, reason: YAMLError.Reason) {
        #expect(failure(text)?.reason == reason)
    }

    @Test(arguments: [
        "%", "%YAML 9.9\n---\na", "%TAG ! tag:x,\n---\na", "&", "*", "!", "!<", "!<>", "|", "|x", ">-+", "? ",
        "? a", ":",
        "- :", "-", "--- ---", "...", "@a", "`a", "a: b: c", "a: 'b", "\"\\x\"", "\"\\ud800\"", "\"\\uZZZZ\"",
        "[,]", "{,}",
        "{a", "[a", "]", "}", "a: ]", "&a &b c", "*a: b", "- - - -", "? - a\n: - b", "!!str", "!!str [a]",
        "\u{FEFF}", "\u{85}",
        "\u{2028}a: b", "a:\u{A0}b", "{? a, ? b}", "[a: b, c: d]", "'a\n\n b'", "# only", "\r\r\n", "a: &a",
    ])
    func `odd texts give a tree or an error, never a trap`(text: String) {
        let whole = Array(text.utf8)
        for end in 0...whole.count {
            _ = failure(bytes: Array(whole.prefix(end)))
            _ = failure(bytes: Array("k:\n  ".utf8) + whole.prefix(end))
        }
    }

    @Test func `a valid file with any one byte changed gives a tree or an error`() {
        let file = Array("a: &x [1, 'b', \"c\\n\"]\nd: {e: *x}\nf: |\n  g\n".utf8)
        for position in file.indices {
            for byte in [0x00, 0x09, 0x0A, 0x20, 0x22, 0x26, 0x2A, 0x2D, 0x3A, 0x5B, 0x7B, 0x80, 0xFF]
                as [UInt8]
            {
                var changed = file
                changed[position] = byte
                _ = failure(bytes: changed)
            }
        }
    }
}
