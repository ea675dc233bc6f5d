// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import Testing

@testable import BearerdRESP

@Suite struct `What a Redis server says` {
    private func parse(_ text: String) throws(RESPError) -> (value: RESPValue, length: Int)? {
        try RESPParser.parse(Array(text.utf8).span)
    }

    private static func bytes(_ text: String) -> RESPValue { .bytes(Array(text.utf8)) }

    @Test(arguments: [
        ("+OK\r\n", RESPValue.status(Array("OK".utf8))), ("-ERR no\r\n", .error(Array("ERR no".utf8))),
        (":0\r\n", .integer(0)), (":-12\r\n", .integer(-12)), (":9223372036854775807\r\n", .integer(.max)),
        (":-9223372036854775808\r\n", .integer(.min)), ("$0\r\n\r\n", bytes("")), ("$-1\r\n", .null),
        ("$4\r\na\r\nb\r\n", bytes("a\r\nb")), ("*-1\r\n", .null), ("*0\r\n", .array([])),
        ("*2\r\n$1\r\na\r\n*1\r\n:7\r\n", .array([bytes("a"), .array([.integer(7)])])),
    ])
    func `is read as it is written`(text: String, value: RESPValue) throws {
        for tail in ["", "+more\r\n"] {
            let read = try #require(try parse(text + tail))
            #expect(read.value == value && read.length == text.utf8.count)
        }
        for count in 0..<text.utf8.count {
            #expect(try RESPParser.parse(Array(text.utf8.prefix(count)).span) == nil, "after \(count) bytes")
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n", RESPError.unknownKind), ("%1\r\n", .unknownKind),
        ("$x\r\n", .malformed), ("$\r\n", .malformed), ("$-2\r\n", .malformed), ("$+1\r\n", .malformed),
        ("$1 \r\n", .malformed), (":1\n", .malformed), (":1\rx", .malformed), (":--1\r\n", .malformed),
        (":9223372036854775808\r\n", .malformed), ("$1\r\nab", .malformed), ("$1\r\na\rb", .malformed),
        ("$8388609\r\n", .tooLong), ("*4097\r\n", .tooLong),
        (":" + String(repeating: "0", count: 21), .tooLong),
        ("+" + String(repeating: "a", count: 16385), .tooLong), ("*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n", .tooDeep),
    ])
    func `is refused where it is anything else, or more than anybody asked for`(
        text: String, error: RESPError
    ) {
        #expect(throws: error) { _ = try parse(text) }
    }

    @Test func `is refused where many values that are allowed are more than anybody asked for`() {
        let string = "$8388608\r\n" + String(repeating: "a", count: 8_388_608) + "\r\n"
        #expect(throws: RESPError.tooLong) { _ = try parse("*3\r\n\(string)$16384\r\n") }
        let lines = String(repeating: "+" + String(repeating: "a", count: 16_384) + "\r\n", count: 513)
        #expect(throws: RESPError.tooLong) { _ = try parse("*600\r\n\(lines)") }
        #expect(throws: RESPError.tooLong) {
            _ = try parse("*4000\r\n" + String(repeating: "*1\r\n:1\r\n", count: 97))
        }
    }

    @Test(arguments: [
        ("-WRONGPASS invalid\r\n", "WRONGPASS"), ("-ERR x\r\n", "ERR"), ("-odd words\r\n", "ERR"),
        ("-\r\n", "ERR"),
    ])
    func `has a code where it refuses`(text: String, code: String) throws {
        #expect(try #require(try parse(text)).value.errorCode == code)
    }

    @Test func `is asked for by a command with any bytes in it`() {
        let command = RESPCommand([Array("SET".utf8), [0x0D, 0x0A, 0xFF], []])
        #expect(
            command.encoded == Array("*3\r\n$3\r\nSET\r\n$3\r\n".utf8) + [0x0D, 0x0A, 0xFF]
                + Array("\r\n$0\r\n\r\n".utf8))
    }

    @Test func `keeps every promise for the fuzzer's seeds`() throws {
        for file in try Corpus.files(of: "RESP") {
            #expect(Invariants.violation(resp: file.bytes) == nil, "\(file.name)")
        }
    }
}
