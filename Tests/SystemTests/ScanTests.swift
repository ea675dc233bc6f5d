// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import Testing

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
}
