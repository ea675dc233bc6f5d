// SPDX-License-Identifier: Apache-2.0

import FuzzInvariants
import HTTP1
import HTTPMessages
import Testing

/// A response head is judged as strictly as a request head; the proxy turns each refusal into a 502.
@Suite struct `A response head is refused` {
    static let statusLines: [Refusal] = [
        Refusal("\r\nHTTP/1.1 200 OK\r\n", .malformedVersion),
        Refusal("\n", .malformedVersion),
        Refusal(" HTTP/1.1 200 OK\r\n", .malformedVersion),
        Refusal("http/1.1 200 OK\r\n", .malformedVersion),
        Refusal("ICY 200 OK\r\n", .malformedVersion),
        Refusal("200 OK\r\n", .malformedVersion),
        Refusal("<html>\r\n", .malformedVersion),
        Refusal("HTTP/ 200 OK\r\n", .malformedVersion),
        Refusal("HTTP/1. 200 OK\r\n", .malformedVersion),
        Refusal("HTTP/2 200\r\n", .unsupportedVersion),
        Refusal("HTTP/2.0 200 OK\r\n", .unsupportedVersion),
        Refusal("HTTP/0.9 200 OK\r\n", .unsupportedVersion),
        Refusal("HTTP/1.2 200 OK\r\n", .unsupportedVersion),
        Refusal("HTTP/1.1\r\n", .malformedStartLine),
        Refusal("HTTP/1.1\n", .bareLineFeed),
        Refusal("HTTP/1.1\rX", .bareCarriageReturn),
        Refusal("HTTP/1.1\t200 OK\r\n", .malformedStartLine),
        Refusal("HTTP/1.1  200 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 \r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 20\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 20 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 2000 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 2x0 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 -20 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 +20 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 099 X\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 000 X\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 200OK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 200\tOK\r\n", .malformedStatusCode),
        Refusal("HTTP/1.1 200\n", .bareLineFeed),
        Refusal("HTTP/1.1 200 OK\n", .bareLineFeed),
        Refusal("HTTP/1.1 200 OK\rX", .bareCarriageReturn),
        Refusal("HTTP/1.1 200\rX", .bareCarriageReturn),
        Refusal("HTTP/1.1 200 O\0K\r\n", .malformedReason),
        Refusal("HTTP/1.1 200 \u{1B}[31m\r\n", .malformedReason),
        Refusal("HTTP/1.1 200 OK\u{7F}\r\n", .malformedReason),
    ]

    static let fields: [Refusal] = fieldRefusals(after: "HTTP/1.1 200 OK\r\nServer: a\r\n")

    @Test(arguments: statusLines) func `a malformed status line is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test(arguments: fields) func `a malformed response field is refused`(refusal: Refusal) {
        expectRefused(refusal)
    }

    @Test func `a response head over the limits is refused`() {
        let start = "HTTP/1.1 200 OK\r\n"
        expectRefused(Refusal(start + "A: " + String(repeating: "b", count: 5000), .headTooLarge))
        expectRefused(Refusal("HTTP/1.1 200 " + String(repeating: "b", count: 5000), .headTooLarge))
        expectRefused(Refusal(start + String(repeating: "A: b\r\n", count: 33), .tooManyFields))
    }

    private func expectRefused(_ refusal: Refusal) {
        for feeding in Feeding.allCases {
            let outcome = Invariants.parse(response: refusal.bytes, feeding).outcome
            if outcome == .incomplete, feeding != .whole {
                // A line without its end is judged at its first bytes, and then not before its end.
                let ended = Invariants.parse(response: refusal.bytes + [0x0A], feeding).outcome
                #expect(ended == .refused(refusal.error))
            } else {
                #expect(outcome == .refused(refusal.error))
            }
        }
    }
}
