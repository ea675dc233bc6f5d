// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdHTTPMessages

/// What an answer says is wrong (RFC 9457).
@Suite struct `A problem` {
    @Test func `is one line of JSON`() {
        let problem = Problem(status: 404, code: "no_route", detail: "Nothing is here.")
        #expect(
            String(decoding: problem.body, as: UTF8.self)
                == #"{"type":"about:blank","title":"Not Found","status":404,"#
                + #""detail":"Nothing is here.","code":"no_route"}"# + "\n")
        #expect(problem.head.status == 404)
        #expect(problem.head.fields[.contentType] == "application/problem+json")
    }

    @Test func `quotes whatever is in its detail`() {
        let problem = Problem(status: 503, code: "x", detail: "a \"b\" \\ c\n\u{1}\u{1F}é")
        let body = String(decoding: problem.body, as: UTF8.self)
        #expect(body.contains(#""detail":"a \"b\" \\ c\n\u0001\u001fé","code""#), "\(body)")
    }
}
