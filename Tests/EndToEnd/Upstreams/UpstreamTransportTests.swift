// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// TLS with verification, Unix sockets, and no proxy of the environment.
@Suite(.blocking) struct `Upstream transports` {
    private static func settings(
        _ upstream: String, _ more: String = "", top: String = ""
    ) -> Sidecar.Settings {
        .init(
            top: top,
            moreRoutes: "- path: /tls\n  upstream: \(upstream)\n  identity: default\n\(indented(more, by: 2))"
        )
    }

    @Test func `a TLS upstream is verified against ca_file`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server())
        let sidecar = try Sidecar(Self.settings(upstream.url, "ca_file: \(authority.certificateFile)"))
        let client = try sidecar.client()
        for _ in 0..<5 { #expect(try client.request("GET", "/tls", []).text == "hello") }
        #expect(upstream.tokens.allSatisfy { sidecar.provider.accessTokens.contains($0) })
        #expect(try upstream.request()["Host"] == upstream.authority && upstream.connectionCount == 1)
    }

    @Test func `a large body goes through TLS both ways`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server()) { request in .ok(request.text) }
        let sidecar = try Sidecar(Self.settings(upstream.url, "ca_file: \(authority.certificateFile)"))
        let body = String((0..<2_000_000).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
        let client = try sidecar.client()
        let writer = Background { try client.send("POST", "/tls", body: body) }
        #expect(try client.wire.readResponse().text == body)
        try writer.value()
    }

    @Test func `a certificate that does not verify gets no token`() throws {
        let authority = try TLSAuthority()
        let stranger = try TLSAuthority()
        let trusted = "ca_file: \(authority.certificateFile)"
        let named = try authority.certificate(for: [], subject: "localhost")
        let common = try TLSServer(certificateFile: named.certificateFile, keyFile: named.keyFile)
        let cases = [
            ("unknown CA", try RawUpstream(tls: stranger.server()), trusted),
            ("unknown CA", try RawUpstream(tls: authority.server()), ""),
            ("other name", try RawUpstream(tls: authority.server(for: ["other.test"])), trusted),
            ("expired", try RawUpstream(tls: authority.server(days: -1)), trusted),
            ("no subjectAltName", try RawUpstream(tls: common), trusted),
        ]
        for (name, upstream, more) in cases {
            let sidecar = try Sidecar(Self.settings(upstream.url, more))
            let answer = try sidecar.get("/tls")
            #expect(answer.problem == "upstream_tls" && answer.text.contains(name), "\(answer.text)")
            `bearerd's own answers`.check(answer, 502, "upstream_tls", proxyError: "tls_certificate_error")
            #expect(upstream.requests.isEmpty, "\(name)")
        }
    }

    @Test
    func `an upstream that wants a client's certificate gets the one that there is, or it is upstream_tls`()
        throws
    {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server(clientAuthority: authority.certificateFile))
        let trusted = "ca_file: \(authority.certificateFile)"
        let bare = try Sidecar(Self.settings(upstream.url, trusted))
        for method in ["GET", "POST"] {
            `bearerd's own answers`.check(
                try bare.client().request(method, "/tls", body: method == "POST" ? "body" : ""), 502,
                "upstream_tls",
                proxyError: "tls_protocol_error")
        }
        #expect(upstream.requests.isEmpty)
        let files = try authority.certificate(for: ["client.test"])
        let directory = try TemporaryDirectory()
        let (certificate, key) = (directory.path("c.pem"), directory.path("c.key"))
        try directory.write("c.key", bytes: TemporaryDirectory.contents(of: files.keyFile))
        try directory.write("c.pem", bytes: TemporaryDirectory.contents(of: files.certificateFile))
        let sidecar = try Sidecar(
            Self.settings(
                upstream.url,
                trusted + "\nclient_certificate_file: \(certificate)\nclient_key_file: \(key)",
                top: "workers: 1"))
        #expect(try sidecar.get("/tls").status == 200)
        let count = upstream.connectionCount
        // Half of a change: the pair before serves until the other half is there.
        let next = try authority.certificate(for: ["next.test"])
        try directory.write("c.pem", bytes: TemporaryDirectory.contents(of: next.certificateFile))
        for _ in 0..<5 { #expect(try sidecar.get("/tls").status == 200) }
        try directory.write("c.key", bytes: TemporaryDirectory.contents(of: next.keyFile))
        #expect(upstream.connectionCount == count)
        try sidecar.bearerd.logLine("the other certificate") { $0.message == "client certificate changed" }
        for _ in 0..<5 { #expect(try sidecar.get("/tls").status == 200) }
        #expect(
            upstream.connectionCount == count + 1, "a kept connection would show the certificate of before")
    }

    @Test(arguments: [false, true])
    func `an answer that comes before a body's end reaches the client, though the upstream hangs up`(
        isSecure: Bool
    ) throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(
            tls: isSecure ? authority.server() : nil,
            script: { wire in
                guard try wire.readHead() != nil else { return }
                try wire.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
                wire.close()
            })
        let sidecar = try Sidecar(Self.settings(upstream.url, "ca_file: \(authority.certificateFile)"))
        let body = String(repeating: "x", count: 300_000)
        for _ in 0..<20 {
            let client = try sidecar.client()
            let writer = Background { try? client.send("POST", "/tls", body: body) }
            let answer = try client.wire.readResponse()
            #expect(answer.status == 413 && answer.text == "no")
            client.wire.close()
            try writer.value()
        }
    }

    @Test func `a plain server behind https is upstream_tls`() throws {
        let upstream = try RawUpstream(script: { wire in
            _ = try wire.readSome()
            try wire.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        })
        let sidecar = try Sidecar(Self.settings("https://\(upstream.address)"))
        `bearerd's own answers`.check(try sidecar.get("/tls"), 502, "upstream_tls")
    }

    @Test func `an answer cut without close_notify is truncated`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server()) { request in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\n\r\nuntil the end")
                if request.head.target == "/tls/cut" { wire.cut() } else { wire.close() }
                return false
            }
        }
        let sidecar = try Sidecar(Self.settings(upstream.url, "ca_file: \(authority.certificateFile)"))
        let whole = try sidecar.get("/tls/whole")
        #expect(whole.text == "until the end" && whole.isComplete)
        #expect(try !sidecar.get("/tls/cut").isComplete)
    }

    @Test func `an upstream may be a Unix socket`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream(unixPath: directory.path("api.sock"))
        let sidecar = try Sidecar(upstream: upstream)
        #expect(try sidecar.get("/a?b").text == "hello")
        #expect(try upstream.request().head.target == "/a?b")
        #expect(upstream.tokens == sidecar.provider.accessTokens)
    }

    @Test func `bearerd may listen at a Unix socket`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(directory: directory, .init(listen: "unix:\(path)"))
        let client = try RawClient(to: .unix(path: path))
        for _ in 0..<3 { #expect(try client.request("GET", "/").text == "hello") }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `a socket left behind by a killed daemon does not hinder the next`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let first = try Sidecar(directory: directory, .init(listen: "unix:\(path)"))
        try first.bearerd.kill()
        let second = try Sidecar(directory: directory, .init(listen: "unix:\(path)"))
        #expect(try RawClient(to: .unix(path: path)).request("GET", "/").text == "hello")
        _ = second
    }

    @Test func `bearerd may listen at several addresses`() throws {
        let sidecar = try Sidecar(.init(listen: "[127.0.0.1:0, 127.0.0.1:0]"))
        for index in 0..<2 {
            let client = try RawClient(to: sidecar.bearerd.address(of: .proxy, index))
            #expect(try client.request("GET", "/").status == 200)
        }
    }

    @Test func `a proxy of the environment never sees a request`() throws {
        let trap = try RawUpstream()
        var environment = ["no_proxy": "", "NO_PROXY": ""]
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            environment[name] = trap.url
        }
        let sidecar = try Sidecar(environment: environment)
        #expect(try sidecar.get().status == 200)
        #expect(trap.connectionCount == 0)
    }

    @Test func `redirects are passed on, never followed`() throws {
        let trap = try RawUpstream()
        let location = trap.url + "/elsewhere"
        let sidecar = try Sidecar(upstream: try RawUpstream { _ in .response(302, [("Location", location)]) })
        let answer = try sidecar.get()
        #expect(answer.status == 302 && answer["Location"] == location && trap.connectionCount == 0)
    }
}
