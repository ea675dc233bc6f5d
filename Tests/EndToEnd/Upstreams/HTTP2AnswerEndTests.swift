// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What ends an answer of an HTTP/2 upstream, or a request without one, and what a client reads of it.
@Suite(.blocking) struct `The end of an answer over HTTP2` {
    @Test(
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)],
        [[], [("content-length", "0")], [("content-length", "5")]])
    func `is the head of one that has no content, whether or not its stream ends`(
        _ question: (String, Int), length: [(String, String)]
    ) throws {
        let (method, status) = question
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            // A 204 has no length (RFC 9110 §8.6).
            let fields = status == 204 ? [] : length
            try peer.send(.head([(":status", "\(status)")] + fields, stream: stream.id, endsStream: false))
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "timeouts: {stream_idle: 600s}")
        let client = try sidecar.client()
        for number in 1...2 {
            #expect(try client.request(method, "/h2/").status == status)
            try upstream.stream("the reset") { $0.id == number * 2 - 1 && $0.resetCode == 0x0 }
        }
        #expect(try client.request("GET", "/").status == 200)
        #expect(upstream.connectionCount == 1)
    }

    /// What an upstream sends in place of an answer.
    enum Turn: CaseIterable {
        case reset, refusal, frame, window, end, cut, field, trailers

        var error: String {
            switch self {
            case .end: "connection_terminated"
            case .cut: "http_response_incomplete"
            case .trailers: "http_response_trailer_section_size"
            case .reset, .refusal, .frame, .window, .field: "http_protocol_error"
            }
        }

        var words: String {
            switch self {
            case .reset, .refusal:
                "The upstream ended the request's stream (RST_STREAM) before it had answered"
            case .frame, .window: "The upstream's answer is not HTTP"
            case .end: "The upstream closed the connection before it had answered"
            case .cut: "The upstream closed the connection inside the head of its answer"
            case .trailers: "The trailers of the upstream's answer are larger than limits.header_bytes"
            case .field: "cannot be decoded: it breaks HPACK, or has a field larger than 64 KiB"
            }
        }

        func take(_ peer: HTTP2Upstream.Peer, _ stream: UInt32) throws {
            switch self {
            case .reset: try peer.send(.reset(stream, code: 0x2))
            case .refusal: try peer.send(.reset(stream, code: 0x7))
            case .frame: try peer.send(.data("x", stream: 0))
            case .window: try peer.send(.windowUpdate(0))
            case .end: peer.close()
            case .cut:
                try peer.send(HTTP2Frame(.headers, stream: stream, HPACK.encode([(":status", "200")])))
                peer.close()
            case .trailers:
                // Few bytes, which come together: nobody has taken the head before.
                let many = Array(repeating: ("x", "1"), count: 1100)
                let head = HTTP2Frame.head([(":status", "200")], stream: stream, endsStream: false)
                try peer.send([head] + Self.frames(of: many, on: stream))
            case .field:
                let large = ("x-large", String(repeating: "y", count: 65_537))
                try peer.send(Self.frames(of: [(":status", "200"), large], on: stream))
            }
        }

        /// Fields that end a stream, in as many frames as they need.
        private static func frames(of fields: [(String, String)], on stream: UInt32) -> [HTTP2Frame] {
            let block = HPACK.encode(fields)
            return stride(from: 0, to: block.count, by: 16_000).map { start in
                let end = min(start + 16_000, block.count)
                return HTTP2Frame(
                    start == 0 ? .headers : .continuation,
                    flags: (start == 0 ? HTTP2Frame.endStream : 0)
                        | (end == block.count ? HTTP2Frame.endHeaders : 0),
                    stream: stream, Array(block[start..<end]))
            }
        }
    }

    @Test(arguments: Turn.allCases, [true, false])
    func `that does not come is told by its cause`(turn: Turn, isFirst: Bool) throws {
        let upstream = try HTTP2Upstream { peer, _, stream in
            guard stream.hasEnd else { return }
            if stream[":path"] == "/h2/first" { return try peer.answer(stream.id) }
            try turn.take(peer, stream.id)
        }
        let sidecar = try HTTP2Route.sidecar(upstream, top: "limits: {header_bytes: 256KiB}")
        let client = try sidecar.client()
        if !isFirst { #expect(try client.request("GET", "/h2/first").status == 200) }
        let answer = try client.request("POST", "/h2/", body: "x")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(answer.text)")
        #expect(answer["Proxy-Status"] == "bearerd; error=\(turn.error)")
        #expect(answer.text.contains(turn.words), "\(answer.text)")
    }
}
