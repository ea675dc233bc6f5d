// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

struct `A date of HTTP` {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
    ])
    func `is written as it is read`(second: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: second) == text)
        #expect(HTTPDate.unixSeconds(text) == second)
    }

    @Test func `is told of the present second`() throws {
        var date = DateField()
        var fields = HTTPFields()
        fields.append(date.now)
        #expect(fields.has(.date) && fields.count == 1)
        #expect(try #require(fields[.date].flatMap(HTTPDate.unixSeconds)) > 1_700_000_000)
    }
}
