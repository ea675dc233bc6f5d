// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Keys are changed by the peer as often as it likes (RFC 8446 section 4.6.3), and each costs us more than it.
@Suite(.blocking) struct `Changed keys of TLS` {
    @Test func `are taken now and then, and end the connection of a client that changes nothing else`() throws
    {
        let site = try SecureSite()
        let client = try site.client()
        for _ in 0..<3 {
            try client.wire.updateKeys(5)
            #expect(try client.request("GET", "/").status == 200)
        }
        let neighbour = try site.client()
        #expect(try neighbour.request("GET", "/").status == 200)
        // The connection may end before all are sent.
        try? client.wire.updateKeys(5000)
        #expect((try? client.request("GET", "/").status) == nil)
        #expect(try neighbour.request("GET", "/").status == 200)
    }

    @Test func `end the connection of an upstream that changes nothing else`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server()) { request in
            let times = request.head.target == "/" ? 5 : 5000
            return Reply { wire in
                if request.head.target == "/early" { try wire.updateKeys(times) }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n123")
                try wire.updateKeys(times)
                try wire.send("456")
                return true
            }
        }
        let sidecar = try Sidecar(
            upstream: upstream, .init(route: "ca_file: \(authority.certificateFile)"))
        #expect(try sidecar.get("/").text == "123456")
        #expect((try? sidecar.get("/flood").text) != "123456")
        let early = try sidecar.get("/early")
        #expect(early.problem == "upstream_protocol" && early.text.contains("keys of TLS"), "\(early.text)")
        #expect(try sidecar.get("/").text == "123456")
    }

    @Test func `end the connection of an upstream of HTTP2 that changes nothing else, and it is told so`()
        throws
    {
        let authority = try TLSAuthority()
        let upstream = try HTTP2Upstream(tls: authority.server().choosing("\u{2}h2")) { peer, _, stream in
            if stream[":path"] == "/h2/flood" { try peer.updateKeys(5000) }
            if stream.hasEnd { try peer.answer(stream.id, text: "ok") }
        }
        let sidecar = try HTTP2Route.sidecar(
            upstream, route: "ca_file: \(authority.certificateFile)")
        #expect(try sidecar.get("/h2/").text == "ok")
        let answer = try sidecar.client().request("POST", "/h2/flood", body: "x")
        #expect(
            answer.problem == "upstream_protocol" && answer.text.contains("keys of TLS"), "\(answer.text)")
        #expect(try sidecar.get("/h2/").text == "ok")
    }
}
