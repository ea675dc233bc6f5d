// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Requests that could mean two things are refused, and their connection closes.
@Suite(.blocking) struct `Ambiguous requests are refused` {
    @Test func `with 400 and a closed connection, without a byte to the upstream`() throws {
        let sidecar = try Sidecar()
        let host = "Host: \(try sidecar.bearerd.proxy)\r\n"
        let get = "GET / HTTP/1.1\r\n" + host
        let post = "POST / HTTP/1.1\r\n" + host
        let chunked = post + "Transfer-Encoding: chunked\r\n"
        let refused = [
            post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            post + "Content-Length: 3, 3\r\n\r\nabc",
            post + "Content-Length: +3\r\n\r\nabc",
            post + "Content-Length: -3\r\n\r\nabc",
            post + "Content-Length: 0x3\r\n\r\nabc",
            post + "Content-Length: \r\n\r\nabc",
            post + "Content-Length: 99999999999999999999\r\n\r\nabc",
            post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            post + "Content-Length : 3\r\n\r\nabc",
            get + "A: b\r\n c\r\n\r\n",
            get + " A: b\r\n\r\n",
            get + "A: b\rc\r\n\r\n",
            get + "A: b\0c\r\n\r\n",
            get + "A: b\u{1}c\r\n\r\n",
            get + "A: b\u{7F}c\r\n\r\n",
            get + "A: b\nC: d\r\n\r\n",
            "GET / HTTP/1.1\n" + host + "\r\n",
            get + "A: b\r\n\n",
            get + "A b\r\n\r\n",
            get + ": b\r\n\r\n",
            get + "A(: b\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            get + host + "\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
            "GET /a b HTTP/1.1\r\n" + host + "\r\n",
            "GET  / HTTP/1.1\r\n" + host + "\r\n",
            "GET /a\tb HTTP/1.1\r\n" + host + "\r\n",
            "GET /a\u{1}b HTTP/1.1\r\n" + host + "\r\n",
            "GET /a#b HTTP/1.1\r\n" + host + "\r\n",
            "GET a HTTP/1.1\r\n" + host + "\r\n",
            "G@T / HTTP/1.1\r\n" + host + "\r\n",
            " GET / HTTP/1.1\r\n" + host + "\r\n",
            "GET / HTTP/1.1 \r\n" + host + "\r\n",
            "GET / http/1.1\r\n" + host + "\r\n",
            "GET /\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n",
        ]
        for text in refused {
            let client = try sidecar.client()
            let answer = try client.exchange(text)
            #expect(answer.status == 400 && answer.problem == "bad_request", "\(text.debugDescription)")
            #expect(try client.wire.endsCleanly(), "\(text.debugDescription)")
        }
        #expect(sidecar.upstream.requests.isEmpty)

        let badChunks = [
            "x\r\n\r\n", "-1\r\na\r\n0\r\n\r\n", "0x1\r\na\r\n0\r\n\r\n", "1\r\nab\r\n0\r\n\r\n",
            "1\na\r\n0\r\n\r\n",
            "1 \r\na\r\n0\r\n\r\n", "\r\n", "ffffffffffffffffff\r\n", "1;a\rb\r\na\r\n0\r\n\r\n",
            "1;a=\u{1}\r\na\r\n0\r\n\r\n", "0\r\nA b\r\n\r\n",
        ]
        for text in badChunks {
            let client = try sidecar.client()
            let answer = try client.exchange(chunked + "\r\n" + text)
            #expect(answer.status == 400 && answer.problem == "bad_request", "\(text.debugDescription)")
        }
        #expect(sidecar.upstream.requests.isEmpty)
        #expect(try sidecar.get().status == 200)
    }

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
