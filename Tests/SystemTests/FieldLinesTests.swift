// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

@testable import BearerdSystem

/// Many field lines are read, and written, as one at a time would be.
@Suite struct `Field lines` {
    private typealias Line = FieldEntry

    private static let spellings = [
        "", "Host", "TE", "Via", "Content-Length", "Upgrade", "Connection", "X-Request-Id",
        "Access-Control-Allow-Credentials", "Access-Control-Allow-Methods", "Keep-Alive", "Server",
    ]
    private static let table = FieldNameTable(spellings)

    private static func read(_ head: [UInt8], room: Int, limit: Int = .max) -> ([Line], FieldLineProgress) {
        var lines = Array(repeating: Line.none, count: room)
        var progress = FieldLineProgress()
        table.read(head.span, into: &lines, atMost: limit, &progress)
        return (Array(lines.prefix(progress.count)), progress)
    }

    /// The lines of `head`, read one by one.
    private static func slowly(_ head: [UInt8]) -> ([Line], next: Int) {
        var (lines, start): ([Line], Int) = ([], 0)
        while let line = head.span.fieldLine(from: start) {
            let name = String(decoding: head[start..<line.nameEnd], as: UTF8.self).lowercased()
            let isCanonical =
                Array(head[line.nameEnd..<line.valueStart]) == Array(": ".utf8)
                && line.next == line.valueEnd + 2
            lines.append(
                Line(
                    nameStart: UInt32(start), valueStart: UInt32(line.valueStart),
                    valueLength: UInt32(line.valueEnd - line.valueStart),
                    nameLength: UInt16(line.nameEnd - start),
                    number: UInt8(spellings.firstIndex { $0.lowercased() == name } ?? 0),
                    traits: isCanonical ? 1 : 0))
            start = line.next
        }
        return (lines, start)
    }

    private static func head(_ generator: inout RepeatableGenerator) -> [UInt8] {
        let names =
            spellings.dropFirst() + [
                "X-Own", "Hos", "Hostt", "tE", "T", "access-control-allow-methodz", "CONNECTION",
            ]
        let values = ["", "a", "a value of more than sixteen bytes", " spaced\t", "b\u{0}", "close", "0"]
        let ends = ["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", ""]
        var text = ""
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            var name = names.randomElement(using: &generator) ?? ""
            // A byte that only a careless comparison takes for the one in its place.
            if Int.random(in: 0..<8, using: &generator) == 0,
                let at = name.utf8.indices.randomElement(using: &generator),
                let twin = UnicodeScalar(Int(name.utf8[at] ^ 0x20))
            {
                name.replaceSubrange(at...at, with: String(twin))
            }
            text += Bool.random(using: &generator) ? name.lowercased() : name
            text +=
                ([": ", ":", ":  ", " :"] + Array(repeating: ": ", count: 8)).randomElement(using: &generator)
                ?? ""
            text += values.randomElement(using: &generator) ?? ""
            text += (ends + Array(repeating: "\r\n", count: 12)).randomElement(using: &generator) ?? ""
        }
        return Array((text + "\r\n").utf8)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `are read as one by one`(seed: UInt64) {
        var generator = RepeatableGenerator(seed: seed)
        let head = Self.head(&generator)
        for count in stride(from: head.count, through: 0, by: -3) {
            let part = Array(head[..<count])
            let (expected, next) = Self.slowly(part)
            let (lines, progress) = Self.read(part, room: 20)
            #expect(lines == expected && progress.next == next, "\(part)")
            #expect(progress.present == expected.reduce(0) { $0 | 1 << UInt64($1.number) })
        }
    }

    @Test func `end where there is no room, and are read on from there`() {
        let head = Array("Host: a\r\nVia: b\r\nServer: c\r\n\r\n".utf8)
        let (whole, _) = Self.read(head, room: 20)
        #expect(whole.count == 3 && Self.read(head, room: 20, limit: 2).0 == Array(whole.prefix(2)))
        var lines = [Line.none]
        var progress = FieldLineProgress()
        for count in 1...3 {
            Self.table.read(head.span, into: &lines, atMost: .max, &progress)
            #expect(progress.count == count && lines.last == whole[count - 1])
            lines.append(Line.none)
        }
        Self.table.read(head.span, into: &lines, atMost: .max, &progress)
        #expect(progress.count == 3 && head[progress.next...] == [13, 10])
    }

    @Test(arguments: [
        ("", ConnectionOption.none), ("Connection: close\r\n", .close), ("CONNECTION:\tClOsE \r\n", .close),
        ("connection: keep-ALIVE\r\n", .keepAlive), ("Connection: \r\n", .other),
        ("Connection: closE2\r\n", .other),
        ("Connection: close, TE\r\n", .other), ("Connection: upgrade\r\n", .other),
        ("Connection: keep alive\r\n", .other), ("Connection: close\r\nConnection: close\r\n", .other),
        ("Connection: keep-alive\r\nVia: a\r\nconnection: close\r\n", .other),
    ])
    func `tell what Connection says`(lines: String, option: ConnectionOption) {
        let table = FieldNameTable(
            Self.spellings, connection: Self.spellings.firstIndex(of: "Connection") ?? 0)
        let head = Array(("Host: a\r\n" + lines + "Server: b\r\n\r\n").utf8)
        // Whole, and as lines arrive one by one.
        for step in [head.count, 1] {
            var entries = Array(repeating: Line.none, count: 8)
            var progress = FieldLineProgress()
            for count in stride(from: step, through: head.count, by: step) {
                table.read(head.span.extracting(0..<count), into: &entries, atMost: .max, &progress)
            }
            #expect(progress.connection == option)
        }
    }

    @Test func `with a name that cannot be counted are refused`() {
        let long = [UInt8](repeating: 0x61, count: 65_536)
        #expect(Self.read(long + Array(": b\r\n".utf8), room: 4).1.nameIsTooLong)
        let (lines, progress) = Self.read(Array(long.dropFirst()) + Array(": b\r\n".utf8), room: 4)
        #expect(lines.first?.nameLength == .max && !progress.nameIsTooLong)
    }

    @Test(arguments: spellings.indices)
    func `have names that are found in any case, and no others`(number: Int) {
        let name = Array(Self.spellings[number].utf8)
        #expect(Self.table.find(in: name.span, 0..<name.count) == number)
        let upper = Array(Self.spellings[number].uppercased().utf8)
        #expect(Self.table.find(in: upper.span, 0..<upper.count) == number)
        func folded(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
        for index in name.indices {
            for byte in UInt8.min...UInt8.max {
                var other = name
                other[index] = byte
                let isSame = folded(byte) == folded(name[index])
                #expect(
                    (Self.table.find(in: other.span, 0..<other.count) == number) == isSame,
                    "\(byte) at \(index)")
            }
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `are written with one space behind the colon`(seed: UInt64) {
        var generator = RepeatableGenerator(seed: seed)
        let head = Self.head(&generator)
        var lines = Self.read(head, room: 20).0
        // Lines that were removed or moved are adjacent no longer.
        if Bool.random(using: &generator) { lines.shuffle(using: &generator) }
        if lines.count > 1, Bool.random(using: &generator) { lines.removeFirst() }
        var expected: [UInt8] = []
        for line in lines {
            expected += head[Int(line.nameStart)...].prefix(Int(line.nameLength))
            expected +=
                Array(": ".utf8) + head[Int(line.valueStart)...].prefix(Int(line.valueLength)) + [13, 10]
        }
        var written: [UInt8] = []
        written.append(addingCapacity: head.count + lines.count) {
            $0.append(fieldLines: lines, lines.count, of: head)
        }
        #expect(written == expected)
    }
}
