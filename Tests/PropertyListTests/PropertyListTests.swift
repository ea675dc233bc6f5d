// SPDX-License-Identifier: Apache-2.0

import BearerdPropertyList
import Testing

/// Property lists, of archivers and of people who mean harm.
@Suite(.timeLimit(.minutes(10))) struct `A property list` {
    /// A binary one of these objects; references and offsets have a byte each.
    private func binary(_ objects: [[UInt8]], root: UInt8 = 0) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        let zeros = [UInt8](repeating: 0, count: 7)
        return bytes + offsets + zeros.dropLast() + [1, 1] + zeros + [UInt8(objects.count)] + zeros + [root]
            + zeros + [table]
    }

    private func string(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

    /// `{"a": [true, UID 7], "b": "text"}`.
    private var sample: [UInt8] {
        binary([
            [0xD2, 1, 2, 3, 4], string("a"), string("b"), [0xA2, 5, 6], string("text"), [0x09], [0x80, 7],
        ])
    }

    private func xml(_ content: String) -> [UInt8] {
        Array("<?xml version=\"1.0\"?><plist version=\"1.0\">\(content)</plist>".utf8)
    }

    @Test func `is read in both forms`() throws {
        let value = PropertyListValue.dictionary([
            "a": .array([.bool(true), .uid(7)]), "b": .string("text"),
        ])
        #expect(try PropertyListValue(parsing: sample) == value)
        let text = """
            <dict><key>a</key><array><true/><dict><key>CF$UID</key><integer>7</integer></dict></array>
            <key>b</key><string>text</string></dict>
            """
        #expect(try PropertyListValue(parsing: xml(text)) == value)
        #expect(try PropertyListValue(parsing: xml("<integer>5</integer>")) == .other)
    }

    @Test func `that shares a string is a tree all the same`() throws {
        let shared = binary([[0xA2, 1, 1], string("x")])
        #expect(try PropertyListValue(parsing: shared) == .array([.string("x"), .string("x")]))
    }

    @Test func `that is no bounded tree is refused`() {
        let itself = binary([[0xA1, 0]])
        let circle = binary([[0xA1, 1], [0xA1, 0]])
        let bomb = binary([[0xA2, 1, 1], [0xA2, 2, 2], [0xA2, 3, 3], [0xA0]])
        for bytes in [itself, circle, bomb] {
            #expect(throws: PropertyListError.self) { try PropertyListValue(parsing: bytes) }
        }
        for depth in [100, 10_000] {
            let text =
                String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
            #expect(throws: PropertyListError.self) { try PropertyListValue(parsing: xml(text)) }
        }
    }

    @Test func `that points outside of itself is refused`() {
        for bytes in [binary([[0xA1, 9]]), binary([[0x5F, 0x11, 0xFF, 0xFF]]), binary([[0x09]], root: 1)] {
            #expect(throws: PropertyListError.self) { try PropertyListValue(parsing: bytes) }
        }
    }

    @Test func `has a size that nobody exceeds`() {
        let text = "<string>\(String(repeating: "x", count: 1 << 20))</string>"
        #expect(throws: PropertyListError.tooComplex) { try PropertyListValue(parsing: xml(text)) }
    }

    @Test func `that is damaged in any place is read or refused, and harms nobody`() {
        let texts = [sample, xml("<dict><key>a</key><array><true/></array></dict>")]
        for bytes in texts {
            for length in 0..<bytes.count { _ = try? PropertyListValue(parsing: Array(bytes[..<length])) }
            for place in bytes.indices {
                for change: UInt8 in [0, 1, 0x0F, 0x5F, 0x7F, 0x80, 0xA1, 0xD1, 0xFF] {
                    var damaged = bytes
                    damaged[place] = change
                    _ = try? PropertyListValue(parsing: damaged)
                }
            }
        }
        #expect(throws: PropertyListError.malformed) { try PropertyListValue(parsing: []) }
        #expect(throws: PropertyListError.malformed) { try PropertyListValue(parsing: Array("plist".utf8)) }
    }
}
