// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Requests with content on their way to an upstream of HTTP/2, whose connection they share.
@Suite(.blocking) struct `Uploads to an upstream of HTTP2` {
    @Test func `that end in trailers beyond the limit are 431, and never whole`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "whole") }
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "limits: {header_bytes: 4KiB}")
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let trailers = [("x-first", "1"), ("x-large", String(repeating: "y", count: 8000)), ("x-last", "2")]
        for isAtOnce in [true, false] {
            let stream = try client.begin("POST", "/h2/", endsStream: false)
            if isAtOnce {
                try client.send(.data("abc", stream: stream), .head(trailers, stream: stream))
            } else {
                try client.send(.data("abc", stream: stream))
                try upstream.stream("the content") { $0.text == "abc" && $0.resetCode == nil }
                try client.send(.head(trailers, stream: stream))
            }
            #expect(try client.answer(on: stream).status == 431, "\(isAtOnce)")
        }
        #expect(try client.request("POST", "/h2/", body: "x").text == "whole")
        #expect(upstream.streams.filter(\.hasEnd).map(\.text) == ["x"])
    }
}
