// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import BearerdHTTPMessages
import Testing

/// What a request head is refused for.
@Suite struct `A request head is refused` {
    static let startLines = Refusal.table([
        .bareLineFeed: ["\n", "\n\nGET / HTTP/1.1\r\n", "GET\n", "GET /\n", "GET / HTTP/1.1\n"],
        .bareCarriageReturn: ["\rGET / HTTP/1.1\r\n", "GET\rX", "GET /\rX", "GET / HTTP/1.1\rHost: a\r\n"],
        .malformedStartLine: [
            "\r\n\r\nGET / HTTP/1.1\r\n", "GET\r\n", "GET /\r\n", "GET / HTTP/1.1\t\r\n",
            "GET / HTTP/1.1x\r\n",
        ],
        .malformedMethod: [
            "\0", "\0GET / HTTP/1.1\r\n", "GET\0 / HTTP/1.1\r\n", " GET / HTTP/1.1\r\n",
            "\tGET / HTTP/1.1\r\n",
            "G@T / HTTP/1.1\r\n", "GET\t/ HTTP/1.1\r\n", "GÉT / HTTP/1.1\r\n", "GET: / HTTP/1.1\r\n",
            "(GET) / HTTP/1.1\r\n",
        ],
        .methodTooLong: [String(repeating: "A", count: 33) + " / HTTP/1.1\r\n"],
        .whitespaceInTarget: [
            "GET  / HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n", "GET /  HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n",
            "GET / HTTP 1.1\r\n",
        ],
        .malformedVersion: [
            "GET / \r\n", "GET / http/1.1\r\n", "GET / HTTP\r\n", "GET / HTTP/\r\n", "GET / HTTP/x\r\n",
            "GET / HTTP/1.\r\n", "GET / HTTP/.1\r\n", "GET / HTTPS/1.1\r\n", "GET / XTTP/1.1\r\n",
        ],
        .controlByteInTarget: [
            "GET /\tHTTP/1.1\r\n", "GET /a\0b HTTP/1.1\r\n", "GET /a\u{7F} HTTP/1.1\r\n",
            "GET /a\u{0B}b HTTP/1.1\r\n", "GET /a\u{1B}[2J HTTP/1.1\r\n",
        ],
        .fragmentInTarget: ["GET /a#b HTTP/1.1\r\n", "GET # HTTP/1.1\r\n"],
        .unsupportedVersion: [
            "GET / HTTP/1.2\r\n", "GET / HTTP/0.9\r\n", "GET / HTTP/2\r\n", "GET / HTTP/2.0\r\n",
            "GET / HTTP/3.0\r\n", "GET / HTTP/1.10\r\n", "GET / HTTP/11.1\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ],
    ])

    static let targets = Refusal.table([
        .malformedTarget: [
            "GET * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n",
            "OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "GET ?q HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET \\a HTTP/1.1\r\nHost: a\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http:/a HTTP/1.1\r\nHost: a\r\n\r\n", "GET http:a HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", "GET http:///p HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a:x/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a\\b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        ],
        .conflictingHost: [
            "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nHost: a:81\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n",
            "GET https://a/ HTTP/1.1\r\nHost: a:80\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a:443\r\n\r\n",
        ],
        .missingHost: ["GET http://a/ HTTP/1.1\r\n\r\n"],
    ])

    static let hosts = Refusal.table([
        .missingHost: ["GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHosts: a\r\n\r\n"],
        .repeatedHost: [
            "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        ],
        .malformedHost: [
            "GET / HTTP/1.1\r\nHost: a:080\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:00\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: http://a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: [a]\r\n\r\n", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: \u{E9}\r\n\r\n",
        ],
    ])

    static let fields: [Refusal] = fieldRefusals(after: "GET / HTTP/1.1\r\nHost: a\r\n")

    @Test(arguments: startLines) func `a malformed start line is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test(arguments: targets) func `a malformed target is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test(arguments: hosts) func `a missing, repeated or malformed Host is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test(arguments: fields) func `a malformed field is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test func `a target over the limit is refused as too long, complete or not`() {
        let target = "/" + String(repeating: "a", count: 512)
        for rest in ["", " ", " HTTP/1.1\r\nHost: a\r\n\r\n", "#", "\0"] {
            expectRefused(Refusal("GET " + target + rest, .targetTooLong), .whole)
        }
        expectRefused(Refusal("GET /#" + target + " HTTP/1.1\r\n", .fragmentInTarget))
    }

    @Test func `a head over the limit is refused, complete or not`() {
        let large = "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "b", count: 4096)
        expectRefused(Refusal(large, .headTooLarge))
        expectRefused(Refusal(large + "\r\n\r\n", .headTooLarge))
        let overflowing = "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "b", count: 4065)
        expectRefused(Refusal(overflowing + "\r\n\r\n", .headTooLarge))
    }

    @Test func `a head of exactly the limit passes`() {
        let fitting = "GET / HTTP/1.1\r\nHost: a\r\nA: " + String(repeating: "b", count: 4064) + "\r\n\r\n"
        #expect(fitting.utf8.count == 4096)
        for feeding in Feeding.allCases {
            #expect(Invariants.parse(request: latin1(fitting), feeding).outcome == .complete(4096))
        }
    }

    @Test func `more fields than the limit are refused`() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\n"
        let most = String(repeating: "A: b\r\n", count: 31)
        #expect(
            Invariants.parse(request: latin1(head + most + "\r\n"), .whole).outcome
                == .complete(25 + 31 * 6 + 2))
        expectRefused(Refusal(head + most + "A: b\r\n", .tooManyFields))
    }

    private func expectRefused(_ refusal: Refusal) {
        for feeding in Feeding.allCases {
            expectRefused(refusal, feeding)
        }
    }

    private func expectRefused(_ refusal: Refusal, _ feeding: Feeding) {
        let outcome = Invariants.parse(request: refusal.bytes, feeding).outcome
        if outcome == .incomplete, feeding != .whole {
            // A line without its end is judged at its first bytes, and then not before its end.
            let ended = Invariants.parse(request: refusal.bytes + [0x0A], feeding).outcome
            #expect(ended == .refused(refusal.error))
        } else {
            #expect(outcome == .refused(refusal.error))
        }
    }
}

/// Heads with faults in their fields, of which requests and responses have the same.
func fieldRefusals(after start: String) -> [Refusal] {
    Refusal.table(
        behind: start,
        [
            .bareLineFeed: ["\n", "A: b\n\r\n", "A: b\n\n", "A\n", "A:\n"],
            .bareCarriageReturn: [
                "\r\r\n", "A: b\rc\r\n\r\n", "A: b\r\r\n\r\n", "A\rB: c\r\n\r\n", "A: b\r\n\rX",
                // With the bit that makes letters lower-case, CR is a hyphen.
                "Content\rLength: 5\r\n\r\n", "Transfer\rEncoding: chunked\r\n\r\n", "Set\rCookie: a\r\n\r\n",
                "X\rRequest\rId: a\r\n\r\n",
            ],
            .foldedField: ["A: b\r\n c\r\n\r\n", "A: b\r\n\tc\r\n\r\n", " A: b\r\n\r\n", " \r\n\r\n"],
            .whitespaceBeforeColon: [
                "A : b\r\n\r\n", "A\t: b\r\n\r\n", "Content-Length : 5\r\n\r\n",
                "Transfer-Encoding : chunked\r\n\r\n", "A B: c\r\n\r\n",
            ],
            .missingColon: ["A\r\n\r\n", "A: b\r\nC\r\n\r\n"],
            .malformedFieldName: [
                ": b\r\n\r\n", ":\r\n\r\n", "A@: b\r\n\r\n", "(A): b\r\n\r\n", "\"A\": b\r\n\r\n",
                "A/B: c\r\n\r\n", "A\0: b\r\n\r\n", "\u{E9}: b\r\n\r\n", "A\u{7F}: b\r\n\r\n",
                "A;B: c\r\n\r\n", "HTTP\u{12}-Settings: a\r\n\r\n",
            ],
            .controlByteInField: [
                "A: b\0c\r\n\r\n", "A: \0\r\n\r\n", "A: b\u{01}\r\n\r\n", "A: b\u{08}\r\n\r\n",
                "A: b\u{0B}c\r\n\r\n", "A: b\u{0C}c\r\n\r\n", "A: b\u{1B}[31m\r\n\r\n",
                "A: b\u{7F}\r\n\r\n", "A: a long value before it \u{1F}\r\n\r\n",
            ],
        ])
}
