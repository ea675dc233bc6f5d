// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// An interim response waits as any other does where a client takes nothing, and the process goes on meanwhile.
@Suite(.blocking) struct `A client that leaves interim responses unread` {
    @Test func `is waited for while others look at what is in flight`() throws {
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: <\(String(repeating: "a", count: 32_000))>\r\n\r\n"
        let upstream = try RawUpstream { _ in
            .raw(String(repeating: hint, count: 60) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1"))
        try sidecar.awaitToken()
        let client = try RawClient(to: sidecar.bearerd.proxy, receiveBuffer: 4096)
        try client.send("GET", "/")
        _ = try upstream.request()
        for _ in 0..<50 { _ = try sidecar.metrics() }
        let answer = try client.wire.readResponse()
        #expect(answer.interim.count == 60 && answer.text == "ok")
    }
}
