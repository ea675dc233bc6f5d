// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

@testable import BearerdSystem

/// What looks at many bytes together finds what a look at each finds.
@Suite struct `A scan of a head` {
    private static let letters =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~".utf8

    /// Bytes of which most are fine, so that a scan comes far.
    private static func bytes(_ count: Int, _ generator: inout RepeatableGenerator) -> [UInt8] {
        (0..<count).map { _ in
            UInt8.random(in: 0..<40, using: &generator) == 0
                ? .random(in: 0...255, using: &generator) : .random(in: 0x61...0x7A, using: &generator)
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `ends where a look at each byte ends`(seed: UInt64) {
        var generator = RepeatableGenerator(seed: seed)
        for count in 0..<100 {
            let bytes = Self.bytes(count, &generator)
            for start in [0, 1, count / 2, count] where start <= count {
                let token = bytes[start...].firstIndex { !Self.letters.contains($0) } ?? count
                #expect(bytes.span.endOfToken(from: start) == token, "\(bytes) from \(start)")
                let content = bytes[start...].firstIndex { $0 < 0x20 && $0 != 9 || $0 == 0x7F } ?? count
                #expect(bytes.span.endOfFieldContent(from: start) == content, "\(bytes) from \(start)")
                let wanted = bytes.randomElement(using: &generator) ?? 0
                #expect(
                    bytes.span.firstIndex(of: wanted, in: start..<count)
                        == bytes[start...].firstIndex(of: wanted))
            }
        }
    }

    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func `knows each byte at each place`(byte: UInt8) {
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x78, count: 40)
            bytes[place] = byte
            #expect(bytes.span.endOfToken(from: 0) == (Self.letters.contains(byte) ? 40 : place))
            let isContent = byte >= 0x20 && byte != 0x7F || byte == 9
            #expect(bytes.span.endOfFieldContent(from: 0) == (isContent ? 40 : place))
            #expect(bytes.span.firstIndex(of: byte, in: 0..<40) == (byte == 0x78 ? 0 : place))
            #expect(byte == 0x78 || bytes.span.firstIndex(of: byte, in: (place + 1)..<40) == nil)
        }
    }

    /// The line at the front of `bytes`, found by a look at each.
    private static func line(_ bytes: [UInt8]) -> FieldLine? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 }
        let nameEnd = bytes.firstIndex { !letters.contains($0) } ?? bytes.count
        guard nameEnd > 0, nameEnd < bytes.count, bytes[nameEnd] == UInt8(ascii: ":") else { return nil }
        let start = bytes[(nameEnd + 1)...].firstIndex { !isSpace($0) } ?? bytes.count
        let end = bytes[start...].firstIndex { $0 < 0x20 && $0 != 9 || $0 == 0x7F } ?? bytes.count
        guard bytes[end...].starts(with: [13, 10]) else { return nil }
        let valueEnd = bytes[start..<end].lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
        return FieldLine(nameEnd: nameEnd, valueStart: start, valueEnd: valueEnd, next: end + 2)
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `reads a field line as a look at each byte does`(seed: UInt64) {
        var generator = RepeatableGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            Array("Name".utf8), Array(":".utf8), Array(" ".utf8), [9], [13, 10], [13], [10], [0],
            Array("a value".utf8),
            [0x80, 0xFF], Array("of more than sixteen bytes".utf8), [],
        ]
        for _ in 0..<50 {
            var bytes = (0..<6).flatMap { _ in pieces.randomElement(using: &generator) ?? [] }
            if Bool.random(using: &generator) { bytes = Array("Host: ".utf8) + bytes + [13, 10] }
            #expect(bytes.span.fieldLine(from: 0) == Self.line(bytes), "\(bytes)")
            for count in bytes.indices {
                let part = Array(bytes[..<count])
                #expect(part.span.fieldLine(from: 0) == Self.line(part), "\(part)")
            }
        }
    }

    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func `knows what a log line shows as it is`(byte: UInt8) {
        let isPlain = byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x78, count: 40)
            bytes[place] = byte
            #expect(bytes.span.endOfPlainText(from: 0) == (isPlain ? 40 : place))
            #expect(bytes.span.endOfPlainText(from: place) == (isPlain ? 40 : place))
        }
    }

    @Test func `compares bytes`() {
        let (one, two): ([UInt8], [UInt8]) = ([1, 2, 3], [1, 2, 4])
        #expect(one.span.equals([1, 2, 3].span) && !one.span.equals(two.span))
        #expect(!one.span.equals(one.span.extracting(0..<2)) && [UInt8]().span.equals([UInt8]().span))
    }
}
