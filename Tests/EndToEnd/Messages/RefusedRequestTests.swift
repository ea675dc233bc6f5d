// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A refused request takes its connection with it, and what is odd but well-formed passes.
///
/// What is refused is listed in MalformedMessages.
@Suite(.blocking) struct `Ambiguous requests are refused` {
    @Test func `what follows a refused request is never read as another`() throws {
        let sidecar = try Sidecar()
        let host = "Host: \(try sidecar.bearerd.proxy)\r\n"
        let client = try sidecar.client()
        try client.wire.send(
            "POST / HTTP/1.1\r\n\(host)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + "GET /smuggled HTTP/1.1\r\n\(host)\r\n")
        #expect(try client.wire.readResponse().status == 400)
        #expect(try client.wire.endsCleanly())
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `valid chunk extensions are dropped, and an unread field value is passed as it is`() throws {
        let sidecar = try Sidecar()
        let host = try sidecar.bearerd.proxy
        let answer = try sidecar.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\nX-Odd:\t a \u{fc};\"\r\n\r\n"
                + "3;name=value;other=\"quoted\"\r\nabc\r\n0\r\n\r\n")
        let seen = try sidecar.upstream.request()
        #expect(answer.status == 200 && seen.text == "abc")
        #expect(seen["X-Odd"] == "a \u{fc};\"")
    }
}
