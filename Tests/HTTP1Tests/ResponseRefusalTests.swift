// SPDX-License-Identifier: Apache-2.0

import BearerdFuzzInvariants
import BearerdHTTP1
import BearerdHTTPMessages
import Testing

/// A response head is judged as strictly as a request head; the proxy turns each refusal into a 502.
@Suite struct `A response head is refused` {
    static let statusLines = Refusal.table([
        .malformedVersion: [
            "\r\nHTTP/1.1 200 OK\r\n", "\n", " HTTP/1.1 200 OK\r\n", "http/1.1 200 OK\r\n",
            "ICY 200 OK\r\n", "200 OK\r\n", "<html>\r\n", "HTTP/ 200 OK\r\n", "HTTP/1. 200 OK\r\n",
        ],
        .unsupportedVersion: [
            "HTTP/2 200\r\n", "HTTP/2.0 200 OK\r\n", "HTTP/0.9 200 OK\r\n", "HTTP/1.2 200 OK\r\n",
        ],
        .malformedStartLine: ["HTTP/1.1\r\n", "HTTP/1.1\t200 OK\r\n"],
        .bareLineFeed: ["HTTP/1.1\n", "HTTP/1.1 200\n", "HTTP/1.1 200 OK\n"],
        .bareCarriageReturn: ["HTTP/1.1\rX", "HTTP/1.1 200 OK\rX", "HTTP/1.1 200\rX"],
        .malformedStatusCode: [
            "HTTP/1.1  200 OK\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 20 OK\r\n",
            "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 2x0 OK\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP/1.1 +20 OK\r\n",
            "HTTP/1.1 099 X\r\n", "HTTP/1.1 000 X\r\n", "HTTP/1.1 OK\r\n", "HTTP/1.1 200OK\r\n",
            "HTTP/1.1 200\tOK\r\n",
        ],
        .malformedReason: [
            "HTTP/1.1 200 O\0K\r\n", "HTTP/1.1 200 \u{1B}[31m\r\n", "HTTP/1.1 200 OK\u{7F}\r\n",
        ],
    ])

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
