// SPDX-License-Identifier: Apache-2.0

/// A request that is well-formed, but only just; what a server has to understand by it.
struct OddRequest: Sendable {
    /// Every byte; `$host` and `$nonce` are put in.
    let text: String
    let method: String
    let target: String
    let body: String

    init(_ text: String, _ method: String = "GET", _ target: String = "/", body: String = "") {
        self.text = text
        self.method = method
        self.target = target
        self.body = body
    }

    /// The version that it says it has.
    var version: String { text.contains(" HTTP/1.0\r\n") ? "1.0" : "1.1" }

    static let all =
        plain + targets.map { OddRequest("GET \($0) HTTP/1.1\r\n\(usual)\r\n", "GET", $0) }
        + fields.map { OddRequest("GET / HTTP/1.1\r\n\(usual)\($0)\r\n\r\n") }
        + chunked.map { wire, body in
            OddRequest(
                "POST /c HTTP/1.1\r\n\(usual)Transfer-Encoding: chunked\r\n\r\n\(wire)", "POST", "/c",
                body: body)
        }
        + lengths

    private static let usual = "Host: $host\r\nX-Nonce: $nonce\r\n"

    private static let plain = [
        OddRequest("GET / HTTP/1.1\r\n\(usual)\r\n"), OddRequest("\r\nGET / HTTP/1.1\r\n\(usual)\r\n"),
        OddRequest("GET http://$host HTTP/1.1\r\n\(usual)\r\n"),
        OddRequest("GET HTTP://$host/a?b HTTP/1.1\r\n\(usual)\r\n", "GET", "/a?b"),
        OddRequest("GET http://$host?a HTTP/1.1\r\n\(usual)\r\n", "GET", "/?a"),
        OddRequest("GET / HTTP/1.1\r\nhOST:$host\r\nx-nonce:\t $nonce \t\r\n\r\n"),
        OddRequest("GET / HTTP/1.0\r\nX-Nonce: $nonce\r\nConnection: keep-alive\r\n\r\n"),
        OddRequest("GET / HTTP/1.0\r\n\(usual)Connection: keep-alive\r\n\r\n"),
        OddRequest("DELETE / HTTP/1.1\r\n\(usual)\r\n", "DELETE"),
        OddRequest("OPTIONS / HTTP/1.1\r\n\(usual)\r\n", "OPTIONS"),
        OddRequest("PROPFIND / HTTP/1.1\r\n\(usual)\r\n", "PROPFIND"),
        OddRequest("PATCH / HTTP/1.1\r\n\(usual)Content-Length: 1\r\n\r\nx", "PATCH", body: "x"),
    ]

    private static let targets = [
        "/a/./b/../c", "/a//b", "/a;b=c", "/%61%2Fb", "/a%20b", "/?", "/?a=b&c",
        "/?a=?#".replacing("#", with: ""),
        "/a?b=/../c", "/|[]{}^`<>\"", "/\u{E9}\u{20AC}", "/a:b@c", "/a\\b", "/~", "/a,b;c=d?e", "/*",
        "/http://a/b",
        "/\(String(repeating: "a", count: 2000))",
    ]

    private static let fields = [
        "A:", "A: ", "A: b: c", "A_B: c", "A: \u{E4}", "A: \u{20AC}", "A: \"b", "A: b,,c",
        "Connection: close, A\r\nA: b",
        "Connection: ,", "Connection: keep-alive\r\nKeep-Alive: 5", "Proxy-Connection: close",
        "TE: trailers, chunked",
        "Trailer: A", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMA",
        "Authorization: Basic abc", "Authorization: a\r\nAuthorization: b", "Content-Length: 0",
        "Content-Length: 000",
        "X-Content-Length: 5", "X_Transfer_Encoding: chunked", "Transfer-Encoding-X: chunked",
        "Connection: Content-Length\r\nContent-Length: 0", "Connection: Transfer-Encoding",
        "Connection: Host",
        "Connection: X-Other\r\nX-Other: a", "Range: bytes=0-1",
        (0..<600).map { "A\($0): b" }.joined(separator: "\r\n"), "Expect: 100-continue\r\nContent-Length: 0",
    ]

    private static let chunked = [
        ("0\r\n\r\n", ""), ("3\r\nabc\r\n0\r\n\r\n", "abc"), ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
        ("0003\r\nabc\r\n0\r\n\r\n", "abc"), ("3\r\nabc\r\n000\r\n\r\n", "abc"),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("3;a\r\nabc\r\n0\r\n\r\n", "abc"),
        ("3;a=b;c=\"d\\\"e;\"\r\nabc\r\n0;f\r\n\r\n", "abc"), ("3 ;a\r\nabc\r\n0\r\n\r\n", "abc"),
        ("3\r\nabc\r\n0\r\nA: b\r\n\r\n", "abc"),
        ("3\r\nabc\r\n0\r\nContent-Length: 5\r\nHost: a\r\n\r\n", "abc"),
        ("7\r\n0\r\n\r\nGE\r\n0\r\n\r\n", "0\r\n\r\nGE"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
    ]

    private static let lengths = [
        ("3", "abc"), ("03", "abc"), ("0", ""), ("5", "0\r\n\r\n"), ("25", "GET /hidden HTTP/1.1\r\n\r\nx"),
    ].map { length, body in
        OddRequest(
            "POST /l HTTP/1.1\r\n\(usual)Content-Length: \(length)\r\n\r\n\(body)", "POST", "/l", body: body)
    }
}
