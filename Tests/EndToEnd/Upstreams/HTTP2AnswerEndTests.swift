// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What ends an answer of an HTTP/2 upstream, or a request without one, and what a client reads of it.
@Suite(.blocking) struct `The end of an answer over HTTP2` {
    @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func `is the head of one that has no content, whether or not its stream ends`(
        method: String, status: Int
    ) throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            try peer.send(.head([(":status", "\(status)")], stream: stream.id, endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 600s}")
        let client = try sidecar.client()
        for number in 1...2 {
            #expect(try client.request(method, "/h2/").status == status)
            try upstream.stream("the reset") { $0.id == number * 2 - 1 && $0.resetCode == 0x8 }
        }
        #expect(try client.request("GET", "/").status == 200)
        #expect(upstream.connectionCount == 1)
    }
}
