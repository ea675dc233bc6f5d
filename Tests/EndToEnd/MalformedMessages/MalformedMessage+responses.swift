// SPDX-License-Identifier: Apache-2.0

extension MalformedMessage {
    /// Answers of an upstream that never reach a client.
    static let responses = statusLines + responseFields + responseFraming + interim + responseBodies

    // MARK: Status line

    private static let statusLines = [
        line("HTTP/1.1"), line("HTTP/1.1 "), line("HTTP/1.1 20 OK"), line("HTTP/1.1 2000 OK"),
        line("HTTP/1.1 099 OK"),
        line("HTTP/1.1 000 OK"), line("HTTP/1.1 2x0 OK"), line("HTTP/1.1 -20 OK"), line("HTTP/1.1  200 OK"),
        line("HTTP/1.1\t200 OK"), line("HTTP/1.1 200\tOK"), line("HTTP/1.1200 OK"), line("HTTP/1.1 200OK"),
        line(" HTTP/1.1 200 OK"), line("http/1.1 200 OK"), line("HTTP/2 200"), line("HTTP/2.0 200 OK"),
        line("HTTP/1.2 200 OK"), line("HTTP/0.9 200 OK"), line("HTTP/11 200 OK"), line("ICY 200 OK"),
        line("200 OK"),
        line("GET / HTTP/1.1"), line("HTTP/1.1 200 O\u{0}K"), line("HTTP/1.1 200 O\u{1}K"),
        line("HTTP/1.1 200 O\rK"), line("HTTP/1.1 200 OK\r"), line("\u{0}HTTP/1.1 200 OK"),
        line("HTTP/1.1 200 O\u{7F}K"),
        answer("HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok"),
        answer("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        answer("\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        answer("<html>an answer of HTTP/0.9</html>\r\n"),
        answer("\u{0}\u{0}\u{12}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"),
        cut("", error: "connection_terminated"), cut("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"), cut("H"),
        cut("HTTP/1.1 20"),
    ]

    // MARK: Fields: a header injection splits an answer with one of these

    private static let responseFields = [
        field("A : b"), field(" A: b"), field("A: b\r\n c"), field("A: b\r\n\tc"), field("A b"), field(": b"),
        field("A(: b"),
        field("A: b\rc"), field("A: b\r"), field("A: b\u{0}c"), field("A: b\u{1}"), field("A: b\u{1B}"),
        field("A: b\u{7F}"),
        field("A: b\nSet-Cookie: session=evil"), field("A: b\rSet-Cookie: session=evil"),
        field("A: b\n\nHTTP/1.1 200 OK\nContent-Length: 4\n\nevil"),
        field("A: b\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), field("\u{E4}: b"),
        field("A\u{0}: b"),
        field("A: " + String(repeating: "b", count: 70_000), tooLarge),
        field((0..<1100).map { "A\($0): b" }.joined(separator: "\r\n"), tooLarge),
    ]

    // MARK: Framing

    private static let responseFraming = [
        framing("Content-Length: 2\r\nTransfer-Encoding: chunked"),
        framing("Transfer-Encoding: chunked\r\nContent-Length: 2"),
        framing("Content-Length: 2\r\nContent-Length: 3"), framing("Content-Length: 2\r\nContent-Length: 2"),
        framing("Content-Length: 2, 2"), framing("Content-Length: +2"), framing("Content-Length: -2"),
        framing("Content-Length: 0x2"), framing("Content-Length: 2 2"), framing("Content-Length:"),
        framing("Content-Length: a"),
        framing("Content-Length: 9223372036854775808"), framing("Content-Length : 2"),
        framing("Transfer-Encoding: chunked, chunked"),
        framing("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        framing("Transfer-Encoding: chunked, identity"),
        framing("Transfer-Encoding: gzip, chunked", unknownCoding),
        framing("Transfer-Encoding: gzip", unknownCoding),
        framing("Transfer-Encoding: identity", unknownCoding), framing("Transfer-Encoding:"),
        framing("Transfer-Encoding: xchunked", unknownCoding), framing("Transfer-Encoding: \u{B}chunked"),
        framing("Transfer-Encoding: chunked;a=b"),
        answer("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        answer("HTTP/1.1 204 No\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
        answer("HTTP/1.1 304 No\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n"),
        answer("HTTP/1.1 401 No\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nno"),
    ]

    private static let interim = [
        answer("HTTP/1.1 100 Continue\r\nA : b\r\n\r\n" + whole),
        answer("HTTP/1.1 103 Early Hints\r\nLink: a\n\r\n" + whole),
        answer("HTTP/1.1 100 Continue\r\n\r\nnot HTTP\r\n\r\n"),
        cut("HTTP/1.1 100 Continue\r\n\r\n", error: "connection_terminated"),
        answer(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + whole),
        answer("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        answer(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100) + whole),
    ]

    // MARK: Bodies, of which nothing has been sent on yet

    private static let responseBodies = [
        "x\r\n", "\r\n", "-1\r\na\r\n0\r\n\r\n", "+1\r\na\r\n0\r\n\r\n", "0x1\r\na\r\n0\r\n\r\n",
        " 1\r\na\r\n0\r\n\r\n",
        "1 \r\na\r\n0\r\n\r\n", "1\na\r\n0\r\n\r\n", "1\r\nab\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n",
        "2\r\na\r\n0\r\n\r\n", "10000000000000000\r\n", "ffffffffffffffff\r\n", "1;\r\na\r\n0\r\n\r\n",
        "1;a\nb\r\na\r\n0\r\n\r\n", "1;a=\"\u{0}\"\r\na\r\n0\r\n\r\n", "1;a\rb\r\na\r\n0\r\n\r\n",
        "0\r\nA b\r\n\r\n", "0\r\nA: b\r\n c\r\n\r\n", "0\r\nA: b\n\r\n", "0\r\nA: b\u{0}\r\n\r\n", "0\n\n",
        "0\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    ].map { answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)") }

    // MARK: Shorthand

    private static let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static let tooLarge = "http_response_header_section_size"

    private static let unknownCoding = "http_response_transfer_coding"

    private static func answer(
        _ text: String, _ error: String = "http_protocol_error"
    ) -> MalformedMessage {
        MalformedMessage(text, 502, error: error)
    }

    /// An answer whose connection ends behind these bytes.
    private static func cut(
        _ text: String, error: String = "http_response_incomplete"
    ) -> MalformedMessage {
        MalformedMessage(text, 502, endsConnection: true, error: error)
    }

    private static func line(_ line: String) -> MalformedMessage {
        answer("\(line)\r\nContent-Length: 2\r\n\r\nok")
    }

    private static func field(
        _ line: String, _ error: String = "http_protocol_error"
    ) -> MalformedMessage {
        MalformedMessage(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(line)\r\n\r\nok", 502, error: error)
    }

    private static func framing(
        _ fields: String, _ error: String = "http_protocol_error"
    ) -> MalformedMessage {
        answer("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n0\r\n\r\n", error)
    }
}
