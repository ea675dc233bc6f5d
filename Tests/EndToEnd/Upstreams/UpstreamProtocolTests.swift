// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Whether an upstream speaks what its route says, and what ALPN (RFC 7301) makes of `auto`.
@Suite(.blocking) struct `The protocol of an upstream` {
    private static func upstream(_ tls: TLSServer? = nil) throws -> HTTP2Upstream {
        try HTTP2Upstream(tls: tls) { peer, event, stream in
            if stream.hasEnd { try peer.answer(stream.id, text: "two") }
        }
    }

    @Test func `is agreed on with TLS`() throws {
        let authority = try TLSAuthority()
        let upstream = try Self.upstream(authority.server().choosing("\u{2}h2"))
        for name in ["h2", "auto"] {
            let sidecar = try HTTP2Route.sidecar(
                upstream, speaking: name, route: "ca_file: \(authority.certificateFile)")
            #expect(try sidecar.get("/h2/").text == "two")
            #expect(upstream.streams.last?[":scheme"] == "https")
        }
    }

    @Test func `is HTTP/1.1 where auto finds nothing else`() throws {
        let authority = try TLSAuthority()
        for server in [try authority.server(), try authority.server().choosing("\u{8}http/1.1")] {
            let upstream = try RawUpstream(tls: server)
            let sidecar = try HTTP2Route.sidecar(
                at: upstream.url, speaking: "auto", route: "ca_file: \(authority.certificateFile)")
            let client = try sidecar.client()
            for _ in 0..<3 { #expect(try client.request("GET", "/h2/").text == "hello") }
            #expect(upstream.requests.count == 3 && upstream.connectionCount == 1)
        }
    }

    @Test func `that TLS does not choose is upstream_tls`() throws {
        let authority = try TLSAuthority()
        for server in [try authority.server(), try authority.server().choosing("\u{8}http/1.1")] {
            let upstream = try RawUpstream(tls: server)
            let sidecar = try HTTP2Route.sidecar(
                at: upstream.url, route: "ca_file: \(authority.certificateFile)")
            let answer = try sidecar.get("/h2/")
            #expect(answer.status == 502 && answer.problem == "upstream_tls", "\(answer.text)")
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func `that is another one is upstream_protocol`() throws {
        let upstream = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        }
        let sidecar = try HTTP2Route.sidecar(at: upstream.url)
        let answer = try sidecar.get("/h2/")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(answer.text)")
        #expect(try sidecar.get("/").status == 200)
    }
}
