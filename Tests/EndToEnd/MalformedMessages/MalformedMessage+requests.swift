// SPDX-License-Identifier: Apache-2.0

extension MalformedMessage {
    /// Request heads, with what follows them, that are refused before anything goes to the upstream.
    static let requests = startLines + targets + fieldLines + hosts + requestFraming + smuggling

    /// Chunked request bodies that are refused; what was well-formed may have gone to the upstream, an end never.
    static let requestBodies = chunkLines + chunkExtensions + trailers

    // MARK: Start line

    private static let startLines = [
        line("GET  / HTTP/1.1"), line(" GET / HTTP/1.1"), line("\tGET / HTTP/1.1"), line("GET /  HTTP/1.1"),
        line("GET / HTTP/1.1 "), line("GET / HTTP/1.1\t"), line("GET\t/ HTTP/1.1"), line("GET /\tHTTP/1.1"),
        line("GET\u{B}/ HTTP/1.1"), line("GET /"), line("GET"), line("GET /HTTP/1.1"), line("/ HTTP/1.1"),
        line("G@T / HTTP/1.1"), line("GET: / HTTP/1.1"), line("GE(T / HTTP/1.1"), line("\"GET\" / HTTP/1.1"),
        line("G\u{0}T / HTTP/1.1"), line("G\u{E9}T / HTTP/1.1"), line("GET / http/1.1"),
        line("GET / Http/1.1"), line("GET / HTTP/"), line("GET / HTTP/1."), line("GET / HTTP/.1"),
        line("GET / HTTP /1.1"), line("GET / HTTP/1 .1"), line("GET / HTTP/a.b"), line("GET / HTP/1.1"),
        line("GET / XHTTP/1.1"), line("GET / HTTP/1.1x"), line("GET / HTTP/1.1\u{0}"), line("GET / 1.1"),
        line("GET / HTTP/2.0", 505), line("GET / HTTP/1.2", 505), line("GET / HTTP/0.9", 505),
        line("GET / HTTP/3", 505), line("GET / HTTP/1.10", 505), line("GET / HTTP/11", 505),
        line("GET / HTTP/01.1", 505), line("PRI * HTTP/2.0", 505),
        line(String(repeating: "M", count: 100) + " / HTTP/1.1", 501),
        MalformedMessage("GET / HTTP/1.1\nHost: $host\r\n\r\n"),
        MalformedMessage("GET / HTTP/1.1\rHost: $host\r\n\r\n"),
        MalformedMessage("GET / HTTP/1.1\r\r\nHost: $host\r\n\r\n"),
        MalformedMessage("\nGET / HTTP/1.1\r\nHost: $host\r\n\r\n"),
        MalformedMessage("\rGET / HTTP/1.1\r\nHost: $host\r\n\r\n"),
        MalformedMessage("\r\n\r\nGET / HTTP/1.1\r\nHost: $host\r\n\r\n"),
        MalformedMessage("\u{0}GET / HTTP/1.1\r\nHost: $host\r\n\r\n"),
        MalformedMessage("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}\r\n\r\n"),
        MalformedMessage("\r\n\r\n"), MalformedMessage("GET / HTTP/1.1\r\n\r\n"),
        MalformedMessage("{\"json\": true}\r\n\r\n"),
    ]

    private static let targets = [
        line("GET /a b HTTP/1.1"), line("GET /a\u{1}b HTTP/1.1"), line("GET /a\u{0}b HTTP/1.1"),
        line("GET /a\u{7F}b HTTP/1.1"), line("GET /a\u{B}b HTTP/1.1"), line("GET /a\u{C}b HTTP/1.1"),
        line("GET /a\u{1F}b HTTP/1.1"), line("GET /a#b HTTP/1.1"), line("GET /# HTTP/1.1"),
        line("GET # HTTP/1.1"), line("GET a HTTP/1.1"), line("GET ?a HTTP/1.1"), line("GET ../a HTTP/1.1"),
        line("GET \\a HTTP/1.1"), line("GET $host HTTP/1.1"), line("GET * HTTP/1.1"), line("POST * HTTP/1.1"),
        line("OPTIONS ** HTTP/1.1"), line("OPTIONS *?a HTTP/1.1"), line("GET ftp://$host/ HTTP/1.1"),
        line("GET http:/$host/ HTTP/1.1"), line("GET http:// HTTP/1.1"), line("GET http:///a HTTP/1.1"),
        line("GET http://user@$host/ HTTP/1.1"), line("GET http://user:secret@$host/ HTTP/1.1"),
        line("GET http://other.example/ HTTP/1.1"), line("GET http://$host:1/ HTTP/1.1"),
        line("GET http://$host/#a HTTP/1.1"), line("GET http://[::1/ HTTP/1.1"),
        line("GET http://$host\\@other.example/ HTTP/1.1"), line("GET //$host HTTP/1.1 HTTP/1.1"),
        line("GET /" + String(repeating: "a", count: 17_000) + " HTTP/1.1", 414),
    ]

    // MARK: Fields

    private static let fieldLines = [
        field("A : b"), field("A\t: b"), field(" A: b"), field("\tA: b"), field("A: b\r\n c"),
        field("A: b\r\n\tc"), field("A: b\r\n "), field("A:\r\n b"), field("A b"), field("A"), field(": b"),
        field(":"),
        field("A(: b"), field("A B: c"), field("A\"B: c"), field("A\u{0}B: c"), field("A\u{7F}: b"),
        field("\u{E4}: b"), field("A[]: b"), field("A/B: c"), field("A: b\rc"), field("A: b\r"),
        field("A: \rb"), field("A: b\u{0}c"), field("A: \u{0}"), field("A: b\u{1}c"), field("A: b\u{8}c"),
        field("A: b\u{B}c"), field("A: b\u{C}c"), field("A: b\u{1B}c"), field("A: b\u{1F}"),
        field("A: b\u{7F}c"), field("A: b\nC: d"), field("A: b\n"), field("A: \n"), field("A\n: b"),
        field("A\r\n: b"),
        field("A: b\r\r"), field("A: b\u{0}\r\nTransfer-Encoding: chunked"),
        MalformedMessage("GET / HTTP/1.1\r\nHost: $host\r\nA: b\r\n\n"),
        MalformedMessage("GET / HTTP/1.1\r\nHost: $host\r\nA: b\n\r\n"),
        MalformedMessage("GET / HTTP/1.1\r\nHost: $host\r\n\rX"),
        MalformedMessage("GET / HTTP/1.1\r\n Host: $host\r\n\r\n"),
        field("A: " + String(repeating: "b", count: 70_000), 431),
        field(String(repeating: "A", count: 70_000) + ": b", 431),
        field((0..<1100).map { "A\($0): b" }.joined(separator: "\r\n"), 431),
    ]

    private static let hosts = [
        MalformedMessage("GET / HTTP/1.1\r\nA: b\r\n\r\n"), field("Host: $host"),
        field("host: other.example"),
        field("HOST:"), host("a b"), host("a@b"), host("user@$host"), host("$host/"), host("http://$host"),
        host("$host, $host"), host("a,b:c"), host("$host:80:80"), host("a:b"), host("a:-1"), host("a:65536"),
        host("a:+1"), host("[::1"), host("::1"), host("[zz]"), host("a\\b"), host("a?b"), host("a#b"),
        host("a\"b"), host("\u{E4}.example"), host("a\tb"), host("<a>"),
    ]

    // MARK: Framing

    private static let requestFraming = [
        body("Content-Length: 3\r\nTransfer-Encoding: chunked"),
        body("Transfer-Encoding: chunked\r\nContent-Length: 3"),
        body("Content-Length: 0\r\nTransfer-Encoding: chunked"),
        body("Content-Length: 3\r\nTransfer-Encoding: identity"),
        body("Content-Length: 3\r\nContent-Length: 4"), body("Content-Length: 3\r\nContent-Length: 3"),
        body("Content-Length: 3\r\ncontent-length: 0"), body("Content-Length: 3, 3"),
        body("Content-Length: 3,4"), body("Content-Length: 3,"), body("Content-Length: ,3"),
        body("Content-Length: +3"),
        body("Content-Length: -3"), body("Content-Length: -0"), body("Content-Length: 0x3"),
        body("Content-Length: 3.0"),
        body("Content-Length: 3e0"), body("Content-Length: 3 0"), body("Content-Length: 3 bytes"),
        body("Content-Length: \"3\""),
        body("Content-Length:"), body("Content-Length: a"), body("Content-Length: \u{663}"),
        body("Content-Length: 9223372036854775808"), body("Content-Length: 18446744073709551619"),
        body("Content-Length: 99999999999999999999999"), body("Content-Length : 3"),
        body("Transfer-Encoding: chunked, chunked"),
        body("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        body("Transfer-Encoding: chunked, identity"), body("Transfer-Encoding: chunked, gzip"),
        body("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip"),
        body("Transfer-Encoding:"), body("Transfer-Encoding: ,"), body("Transfer-Encoding: ,chunked"),
        body("Transfer-Encoding: chunked,"), body("Transfer-Encoding: chunked;q=1"),
        body("Transfer-Encoding: chunked;"), body("Transfer-Encoding: chunked x"),
        body("Transfer-Encoding: \"chunked\""),
        body("Transfer-Encoding: \u{B}chunked"), body("Transfer-Encoding: chunked\u{0}"),
        body("Transfer-Encoding:\r\n chunked"), body("Transfer-Encoding : chunked"),
        body("Transfer-Encoding: gzip, chunked", 501), body("Transfer-Encoding: gzip", 501),
        body("Transfer-Encoding: identity", 501), body("Transfer-Encoding: xchunked", 501),
        body("Transfer-Encoding: chunkedx", 501), body("Transfer-Encoding: gzip;q=1, chunked", 501),
        MalformedMessage("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        MalformedMessage("POST / HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\nabc"),
        MalformedMessage(
            "GET / HTTP/1.0\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    /// Requests that hide another one: whoever reads them in the other way sees it.
    private static let smuggling = [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-encoding: x\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
        "Content-Length: 0,44\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\n\n",
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
        "Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n00x0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n",
    ].map { hiding in
        MalformedMessage(
            "POST / HTTP/1.1\r\nHost: $host\r\n\(hiding)GET /smuggled HTTP/1.1\r\nHost: $host\r\n\r\n",
            400)
    }

    // MARK: Chunked coding

    private static let chunkLines = [
        "", "x\r\n", "g\r\n", "-1\r\na\r\n0\r\n\r\n", "+1\r\na\r\n0\r\n\r\n", "0x1\r\na\r\n0\r\n\r\n",
        " 1\r\na\r\n0\r\n\r\n", "\t1\r\na\r\n0\r\n\r\n", "1 \r\na\r\n0\r\n\r\n", "1 2\r\na\r\n0\r\n\r\n",
        "1,\r\na\r\n0\r\n\r\n", "1.0\r\na\r\n0\r\n\r\n", "1h\r\na\r\n0\r\n\r\n", "1\u{0}\r\na\r\n0\r\n\r\n",
        "1\na\r\n0\r\n\r\n", "1\ra\r\n0\r\n\r\n", "1\r\ra\r\n0\r\n\r\n", "\r\n1\r\na\r\n0\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n", "1\r\na\r0\r\n\r\n", "1\r\na0\r\n\r\n",
        "2\r\na\r\n0\r\n\r\n", "1\r\na\r\n\r\n0\r\n\r\n", "1\r\na\r\nx\r\n\r\n", "1\r\na\r\n-0\r\n\r\n",
        "8000000000000000\r\n", "ffffffffffffffff\r\n", "10000000000000000\r\n",
        "00000000000000001\r\na\r\n0\r\n\r\n",
        "1\u{FF11}\r\na\r\n0\r\n\r\n", ";a\r\na\r\n0\r\n\r\n",
    ].map { chunks($0.isEmpty ? "\r\n" : $0) }

    private static let chunkExtensions = [
        "1;\r\na", "1;;a\r\na", "1;=b\r\na", "1;a=\r\na", "1;a==b\r\na", "1;a=b=c\r\na", "1;a=\"b\r\na",
        "1;a=\"b\"c\r\na", "1;a b\r\na", "1;a=b c\r\na", "1;a(\r\na", "1;a=\u{1}\r\na", "1;a=\"\u{0}\"\r\na",
        "1;a\nb\r\na", "1;a\rb\r\na", "1;a=\"\n\"\r\na", "1;a=\"\r\n\"\r\na", "1;a\n\r\na", "1 a\r\na",
        "1;\(String(repeating: "a", count: 20_000))\r\na",
    ].map { chunks($0 + "\r\n0\r\n\r\n") }

    private static let trailers =
        [
            "A b\r\n\r\n", "A : b\r\n\r\n", " A: b\r\n\r\n", "A: b\r\n c\r\n\r\n", "A: b\n\r\n", "A: b\r\n\n",
            "A: b\rc\r\n\r\n", "A: b\u{0}\r\n\r\n", "A: \u{7F}\r\n\r\n", ": b\r\n\r\n", "A(: b\r\n\r\n", "\n",
            "\rX\n",
            "GET /smuggled HTTP/1.1\r\nHost: $host\r\n\r\n",
        ].map { chunks("1\r\na\r\n0\r\n" + $0) }
        + [chunks("0\r\nA: \(String(repeating: "b", count: 70_000))\r\n\r\n", 431)]

    // MARK: Shorthand

    private static func line(_ line: String, _ status: Int = 400) -> MalformedMessage {
        MalformedMessage("\(line)\r\nHost: $host\r\n\r\n", status)
    }

    private static func field(_ line: String, _ status: Int = 400) -> MalformedMessage {
        MalformedMessage("GET / HTTP/1.1\r\nHost: $host\r\n\(line)\r\n\r\n", status)
    }

    private static func host(_ value: String) -> MalformedMessage {
        MalformedMessage("GET / HTTP/1.1\r\nHost: \(value)\r\n\r\n")
    }

    private static func body(_ fields: String, _ status: Int = 400) -> MalformedMessage {
        MalformedMessage("POST / HTTP/1.1\r\nHost: $host\r\n\(fields)\r\n\r\n0\r\n\r\n", status)
    }

    private static func chunks(_ chunks: String, _ status: Int = 400) -> MalformedMessage {
        MalformedMessage(
            "POST / HTTP/1.1\r\nHost: $host\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)", status)
    }
}
