// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import BearerdHTTPMessages
import BearerdSystem
import Testing

/// RFC 9112 §7.1, strictly.
@Suite struct `Chunked coding` {
    static let refused = Refusal.table([
        .malformedChunkSize: [
            "\r\n", "\n", ";\r\n", " 5\r\n", "\t5\r\n", "+5\r\n", "-5\r\n", "0x5\r\n", "5h\r\n", "g\r\n",
            "5_0\r\n", "5,5\r\n", "5.\r\n", "5\0\r\n", "\u{B2}\r\n", "8000000000000000\r\n",
            "ffffffffffffffff\r\n", "10000000000000000\r\n", "00000000000000005\r\n",
        ],
        .bareLineFeed: ["5\nhello\r\n", "5;a\nhello\r\n", "5;a=\"\n\"\r\n", "0\r\n\n", "0\r\nA: b\n\r\n"],
        .bareCarriageReturn: ["5\rhello\r\n", "5;a\rhello\r\n", "0\r\n\rX\r\n"],
        .malformedChunkExtension: [
            "5 \r\n", "5;\r\n", "5; \r\n", "5;;a\r\n", "5;=a\r\n", "5;a=\r\n", "5;a==b\r\n", "5;a=b=c\r\n",
            "5;a b\r\n", "5;a \r\n", "5;a=\"b\r\n", "5;a=\"b\\\r\n", "5;a=\"b\"c\r\n",
            "5;a=\"\u{01}\"\r\n", "5;\0\r\n", "5 a\r\n", "5;a=(b)\r\n",
        ],
        .malformedChunkEnd: ["1\r\nab\r\n", "1\r\na\n", "1\r\na\r\r", "1\r\na0\r\n\r\n"],
        .whitespaceBeforeColon: ["0\r\nA : b\r\n\r\n"],
        .foldedField: ["0\r\nA: b\r\n c\r\n\r\n", "0\r\n A: b\r\n\r\n"],
        .missingColon: ["0\r\nA\r\n\r\n"],
        .controlByteInField: ["0\r\nA: \0\r\n\r\n"],
        .malformedFieldName: ["0\r\n: b\r\n\r\n"],
        .trailersTooLarge: [
            "0\r\nA: " + String(repeating: "b", count: 1024) + "\r\n\r\n",
            "0\r\n" + String(repeating: "A:b\r\n", count: 300) + "\r\n",
        ],
    ])

    @Test(arguments: refused) func `malformed chunked coding is refused, however it is split`(
        refusal: Refusal
    ) {
        for length in [1, 2, 3, refusal.bytes.count] {
            let decoded = Invariants.decode(chunked: refusal.bytes, pieceLength: length)
            #expect(decoded.outcome == .refused(refusal.error))
        }
    }

    @Test(arguments: [
        ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("1\r\na\r\nB\r\n0123456789x\r\n000\r\n\r\n", "a0123456789x"),
        ("5;a;b=c;d=\"e\\\"f;g\"\r\nhello\r\n0;z\r\n\r\n", "hello"),
        ("5 ;\ta = b ; c\r\nhello\r\n0\r\n\r\n", "hello"), ("0000000000000001\r\nx\r\n0\r\n\r\n", "x"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
    ])
    func `valid chunked coding is decoded, however it is split`(text: String, data: String) {
        for rest in ["", "GET / HTTP/1.1\r\n"] {
            let bytes = latin1(text + rest)
            for pieceLength in 1...bytes.count {
                let decoded = Invariants.decode(chunked: bytes, pieceLength: pieceLength)
                #expect(decoded.outcome == .complete(latin1(text).count))
                #expect(latin1(decoded.data) == data)
            }
        }
    }

    @Test(arguments: 0...255 as ClosedRange<UInt8>)
    func `any byte at any place means the same, however it is split`(byte: UInt8) {
        let text = latin1(
            "a\r\n0123456789\r\n00000002\r\nxy\r\n000000003\r\nabc\r\n1;a=b\r\nx\r\n0\r\nA: b\r\n\r\n")
        for place in text.indices {
            var bytes = text
            bytes[place] = byte
            #expect(Invariants.violation(chunked: bytes) == nil, "at \(place)")
        }
    }

    @Test func `data pieces are offsets in the caller's bytes`() throws {
        var decoder = BodyDecoder(.chunked)
        let bytes = latin1("5\r\nhello\r\n0\r\n\r\nrest")
        try expect(&decoder, bytes.span, .data(3..<8, consumed: 10))
        try expect(&decoder, bytes.span.extracting(droppingFirst: 10), .end(consumed: 5))
        #expect(decoder.isFinished)
        try expect(&decoder, bytes.span.extracting(droppingFirst: 15), .end(consumed: 0))
    }

    @Test func `the end of a chunk is used up with its data only if all of it is there`() throws {
        var decoder = BodyDecoder(.chunked)
        try expect(&decoder, latin1("5\r\nhello\r").span, .data(3..<8, consumed: 8))
        try expect(&decoder, latin1("\r\n2\r\nab\r\n").span, .data(5..<7, consumed: 9))
        try expect(&decoder, latin1("2\r\nabX\n").span, .data(3..<5, consumed: 5))
        #expect(throws: HTTPParseError.malformedChunkEnd) { try decoder.next(latin1("X\n").span) }
    }

    @Test func `trailers keep order and case, and forbidden ones are dropped`() {
        let names = [
            "Content-Length: 1", "transfer-encoding: chunked", "Host: b", "Authorization: x", "Trailer: a",
        ]
        let text = "0\r\nX-Sum: 1\r\n" + names.joined(separator: "\r\n") + "\r\nx-sum:2\r\n\r\n"
        let decoded = Invariants.decode(chunked: latin1(text), pieceLength: 4)
        var fields: [String] = []
        decoded.trailers.forEach { fields.append("\($0)=\($1)") }
        #expect(fields == ["X-Sum=1", "x-sum=2"])
    }

    @Test func `extensions are bounded over the whole message`() {
        let chunk = "1;" + String(repeating: "a", count: 4000) + "\r\nx\r\n"
        let decoded = Invariants.decode(
            chunked: latin1(String(repeating: chunk, count: 5)), pieceLength: 1000)
        #expect(decoded.outcome == .refused(.chunkExtensionsTooLong))
        #expect(decoded.data.count == 4)
    }

    @Test(arguments: [
        (1, "1"), (9, "9"), (10, "a"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (65_535, "ffff"),
    ])
    func `a chunk's size is written in hexadecimal`(size: Int, text: String) {
        var output = ByteBlock()
        ChunkedEncoder.head(of: size, into: &output)
        #expect(latin1(Array(output.bytes.prefix(output.count))) == text + "\r\n")
    }

    @Test func `an empty chunk is not written, as it would end the content`() {
        var output = ByteBlock()
        ChunkedEncoder.head(of: 0, into: &output)
        #expect(output.isEmpty)
        ChunkedEncoder.end(into: &output)
        #expect(latin1(Array(output.bytes.prefix(output.count))) == "0\r\n\r\n")
    }

    @Test func `a counted body ends where it should`() throws {
        var decoder = BodyDecoder(.length(5))
        try expect(&decoder, latin1("").span, .needMore(consumed: 0))
        try expect(&decoder, latin1("hel").span, .data(0..<3, consumed: 3))
        #expect(!decoder.isFinished)
        try expect(&decoder, latin1("loGET").span, .data(0..<2, consumed: 2))
        #expect(decoder.isFinished)
        try expect(&decoder, latin1("GET").span, .end(consumed: 0))
    }

    @Test func `a body until close goes on, and none is over at once`() throws {
        var endless = BodyDecoder(.untilClose)
        try expect(&endless, latin1("abc").span, .data(0..<3, consumed: 3))
        #expect(!endless.isFinished)
        var none = BodyDecoder(.none)
        #expect(none.isFinished)
        try expect(&none, latin1("GET").span, .end(consumed: 0))
        #expect(BodyDecoder(.length(0)).isFinished)
    }

    private func expect(_ decoder: inout BodyDecoder, _ bytes: Span<UInt8>, _ expected: BodyPiece) throws {
        let piece = try decoder.next(bytes)
        #expect(piece == expected)
    }
}
