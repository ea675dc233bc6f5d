// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import HTTP1
import HTTPMessages
import Testing

/// What a request head is refused for.
@Suite struct `A request head is refused` {
    static let startLines: [Refusal] = [
        Refusal("\n", .bareLineFeed),
        Refusal("\n\nGET / HTTP/1.1\r\n", .bareLineFeed),
        Refusal("\rGET / HTTP/1.1\r\n", .bareCarriageReturn),
        Refusal("\r\n\r\nGET / HTTP/1.1\r\n", .malformedStartLine),
        Refusal("\0", .malformedMethod),
        Refusal("\u{16}\u{03}\u{01}\u{02}\u{00}", .malformedMethod),
        Refusal(" GET / HTTP/1.1\r\n", .malformedMethod),
        Refusal("\tGET / HTTP/1.1\r\n", .malformedMethod),
        Refusal("G@T / HTTP/1.1\r\n", .malformedMethod),
        Refusal("GET\t/ HTTP/1.1\r\n", .malformedMethod),
        Refusal("GÉT / HTTP/1.1\r\n", .malformedMethod),
        Refusal("GET: / HTTP/1.1\r\n", .malformedMethod),
        Refusal("(GET) / HTTP/1.1\r\n", .malformedMethod),
        Refusal(String(repeating: "A", count: 33) + " / HTTP/1.1\r\n", .methodTooLong),
        Refusal("GET\r\n", .malformedStartLine),
        Refusal("GET\n", .bareLineFeed),
        Refusal("GET\rX", .bareCarriageReturn),
        Refusal("GET  / HTTP/1.1\r\n", .whitespaceInTarget),
        Refusal("GET / \r\n", .malformedVersion),
        Refusal("GET /\r\n", .malformedStartLine),
        Refusal("GET /\n", .bareLineFeed),
        Refusal("GET /\rX", .bareCarriageReturn),
        Refusal("GET /a b HTTP/1.1\r\n", .whitespaceInTarget),
        Refusal("GET /  HTTP/1.1\r\n", .whitespaceInTarget),
        Refusal("GET /\tHTTP/1.1\r\n", .controlByteInTarget),
        Refusal("GET /a\0b HTTP/1.1\r\n", .controlByteInTarget),
        Refusal("GET /a\u{7F} HTTP/1.1\r\n", .controlByteInTarget),
        Refusal("GET /a\u{0B}b HTTP/1.1\r\n", .controlByteInTarget),
        Refusal("GET /a\u{1B}[2J HTTP/1.1\r\n", .controlByteInTarget),
        Refusal("GET /a#b HTTP/1.1\r\n", .fragmentInTarget),
        Refusal("GET # HTTP/1.1\r\n", .fragmentInTarget),
        Refusal("GET / HTTP/1.1 \r\n", .whitespaceInTarget),
        Refusal("GET / HTTP/1.1\t\r\n", .malformedStartLine),
        Refusal("GET / HTTP/1.1x\r\n", .malformedStartLine),
        Refusal("GET / HTTP/1.1\n", .bareLineFeed),
        Refusal("GET / HTTP/1.1\rHost: a\r\n", .bareCarriageReturn),
        Refusal("GET / http/1.1\r\n", .malformedVersion),
        Refusal("GET / HTTP\r\n", .malformedVersion),
        Refusal("GET / HTTP/\r\n", .malformedVersion),
        Refusal("GET / HTTP/x\r\n", .malformedVersion),
        Refusal("GET / HTTP/1.\r\n", .malformedVersion),
        Refusal("GET / HTTP/.1\r\n", .malformedVersion),
        Refusal("GET / HTTPS/1.1\r\n", .malformedVersion),
        Refusal("GET / XTTP/1.1\r\n", .malformedVersion),
        Refusal("GET / HTTP 1.1\r\n", .whitespaceInTarget),
        Refusal("GET / HTTP/1.2\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/0.9\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/2\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/2.0\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/3.0\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/1.10\r\n", .unsupportedVersion),
        Refusal("GET / HTTP/11.1\r\n", .unsupportedVersion),
        Refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion),
    ]

    static let targets: [Refusal] = [
        Refusal("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET ?q HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET \\a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http:/a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http:a HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http:///p HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://a:x/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://a\\b/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformedTarget),
        Refusal("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .conflictingHost),
        Refusal("GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n", .conflictingHost),
        Refusal("GET http://a/ HTTP/1.1\r\nHost: a:81\r\n\r\n", .conflictingHost),
        Refusal("GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", .conflictingHost),
        Refusal("GET http://a/ HTTP/1.1\r\n\r\n", .missingHost),
    ]

    static let hosts: [Refusal] = [
        Refusal("GET / HTTP/1.1\r\n\r\n", .missingHost),
        Refusal("GET / HTTP/1.1\r\nHosts: a\r\n\r\n", .missingHost),
        Refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .repeatedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n", .repeatedHost),
        Refusal("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .repeatedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: http://a\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: :80\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: [a]\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", .malformedHost),
        Refusal("GET / HTTP/1.1\r\nHost: \u{E9}\r\n\r\n", .malformedHost),
    ]

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

/// The same faults in the fields of either kind of head.
func fieldRefusals(after start: String) -> [Refusal] {
    [
        Refusal(start + "\n", .bareLineFeed),
        Refusal(start + "A: b\n\r\n", .bareLineFeed),
        Refusal(start + "A: b\n\n", .bareLineFeed),
        Refusal(start + "A\n", .bareLineFeed),
        Refusal(start + "A:\n", .bareLineFeed),
        Refusal(start + "\r\r\n", .bareCarriageReturn),
        Refusal(start + "A: b\rc\r\n\r\n", .bareCarriageReturn),
        Refusal(start + "A: b\r\r\n\r\n", .bareCarriageReturn),
        Refusal(start + "A\rB: c\r\n\r\n", .bareCarriageReturn),
        Refusal(start + "A: b\r\n\rX", .bareCarriageReturn),
        Refusal(start + "A: b\r\n c\r\n\r\n", .foldedField),
        Refusal(start + "A: b\r\n\tc\r\n\r\n", .foldedField),
        Refusal(start + " A: b\r\n\r\n", .foldedField),
        Refusal(start + " \r\n\r\n", .foldedField),
        Refusal(start + "A : b\r\n\r\n", .whitespaceBeforeColon),
        Refusal(start + "A\t: b\r\n\r\n", .whitespaceBeforeColon),
        Refusal(start + "Content-Length : 5\r\n\r\n", .whitespaceBeforeColon),
        Refusal(start + "Transfer-Encoding : chunked\r\n\r\n", .whitespaceBeforeColon),
        Refusal(start + "A B: c\r\n\r\n", .whitespaceBeforeColon),
        Refusal(start + "A\r\n\r\n", .missingColon),
        Refusal(start + "A: b\r\nC\r\n\r\n", .missingColon),
        Refusal(start + ": b\r\n\r\n", .malformedFieldName),
        Refusal(start + ":\r\n\r\n", .malformedFieldName),
        Refusal(start + "A@: b\r\n\r\n", .malformedFieldName),
        Refusal(start + "(A): b\r\n\r\n", .malformedFieldName),
        Refusal(start + "\"A\": b\r\n\r\n", .malformedFieldName),
        Refusal(start + "A/B: c\r\n\r\n", .malformedFieldName),
        Refusal(start + "A\0: b\r\n\r\n", .malformedFieldName),
        Refusal(start + "\u{E9}: b\r\n\r\n", .malformedFieldName),
        Refusal(start + "A\u{7F}: b\r\n\r\n", .malformedFieldName),
        Refusal(start + "A;B: c\r\n\r\n", .malformedFieldName),
        Refusal(start + "A: b\0c\r\n\r\n", .controlByteInField),
        Refusal(start + "A: \0\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{01}\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{08}\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{0B}c\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{0C}c\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{1B}[31m\r\n\r\n", .controlByteInField),
        Refusal(start + "A: b\u{7F}\r\n\r\n", .controlByteInField),
        Refusal(start + "A: a long value before it \u{1F}\r\n\r\n", .controlByteInField),
    ]
}
