// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// HTTPS on the data listeners (`tls`).
@Suite(.blocking) struct `A TLS listener` {
    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `serves request after request`(version: Int32) throws {
        let site = try SecureSite()
        let client = try site.client(site.tls(protocols: ["spdy/3", "http/1.1"], highest: version))
        for index in 0..<5 { #expect(try client.request("GET", "/\(index)").text == "hello") }
        #expect(
            site.sidecar.upstream.tokens == Array(repeating: site.sidecar.provider.accessTokens[0], count: 5))
    }

    @Test func `resumes the session of a client that was there before`() throws {
        let site = try SecureSite()
        let authority = site.authority.certificateFile
        let port = try site.sidecar.bearerd.proxy.port
        let seen = try openssl([
            "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority, "-verify_return_error",
            "-reconnect", "-tls1_2",
        ])
        #expect(seen.contains("New, TLSv1.2") && seen.contains("Reused, TLSv1.2"))
        #expect(seen.contains("Secure Renegotiation IS supported") && !seen.contains("Compression: zlib"))
    }

    @Test func `is https to the upstream, to clients and to web pages`() throws {
        let upstream = try RawUpstream()
        let base = upstream.url
        upstream.answer { _ in .response(302, [("Location", base + "/next")]) }
        let site = try SecureSite(upstream: upstream, route: "forwarded: true")
        let host = "localhost:\(try site.sidecar.bearerd.proxy.port)"
        let answer = try site.get("/", [("Origin", "https://\(host)")])
        #expect(answer.status == 302 && answer["Location"] == "https://\(host)/next")
        #expect(try upstream.request()["X-Forwarded-Proto"] == "https")
        #expect(try site.get("/", [("Origin", "http://\(host)")]).status == 403)
        #expect(try site.client().request("GET", "https://\(host)/absolute").status == 302)
        #expect(try upstream.request(2).head.target == "/absolute")
    }

    @Test func `refuses what is not TLS of our days, and goes on`() throws {
        let site = try SecureSite()
        #expect(throws: SocketError.self) { try site.client(site.tls(highest: TLSClient.tls11)) }
        #expect(throws: SocketError.self) { try site.client(site.tls(protocols: ["spdy/3"])) }
        // What begins like TLS is told nothing in the clear; the rest is.
        let rubbish = [
            "\u{16}\u{3}\u{1}\u{0}\u{5}hello", "\u{16}\u{3}\u{1}\u{0}\u{2}GET / HTTP/1.1\r\n\r\n",
        ]
        for text in rubbish {
            let wire = try Wire(to: site.sidecar.bearerd.proxy)
            do { try wire.send(text) } catch is SocketError {}  // it may be cut short
            let answer = String(decoding: try wire.readToEnd(), as: UTF8.self)
            #expect(!answer.contains("HTTP"), "\(text.prefix(20))")
        }
        try eventually("all refusals to be counted") { try site.refusals() == 4 }
        #expect(site.sidecar.upstream.requests.isEmpty)
        #expect(try site.get().status == 200)
    }

    @Test(arguments: [
        "GET / HTTP/1.1", "HEAD / HTTP/1.0", "POST / HTTP/1.1\r\nContent-Length: 300000",
        "OPTIONS * HTTP/1.1",
        "CONNECT localhost:1 HTTP/1.1", "DELETE / HTTP/1.1", "\0\0\0\0",
    ])
    func `tells who speaks plain HTTP to it so in plain HTTP`(request: String) throws {
        let site = try SecureSite()
        let wire = try Wire(to: site.sidecar.bearerd.proxy)
        let body = String(repeating: "x", count: request.hasPrefix("POST") ? 300_000 : 0)
        do {
            try wire.send(request + "\r\nHost: localhost\r\n\r\n" + body)
        } catch is SocketError {}  // it need not be read to its end
        let answer = String(decoding: try wire.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(
            answer.contains("Connection: close\r\n")
                && answer.contains("Content-Type: application/problem+json\r\n"))
        #expect(answer.contains(#""code":"bad_request""#) && answer.contains("HTTPS"))
        #expect(try site.refusals() == 1)
        #expect(try site.sidecar.metrics().sum("bearerd_requests_total", #"code="400""#) == 1)
        #expect(site.sidecar.upstream.requests.isEmpty)
        #expect(try site.get().status == 200)
    }

    @Test(arguments: ["tls1_2 -cipher ECDHE+AESGCM", "tls1_2 -cipher ECDHE+CHACHA20", "tls1_3"])
    func `speaks HTTP/2 over TLS that HTTP/2 allows`(version: String) throws {
        let site = try SecureSite()
        let seen = try Self.handshake(with: site, "-alpn h2 -\(version)")
        #expect(seen.contains("ALPN protocol: h2") && seen.contains("Compression: NONE"), "\(seen)")
    }

    /// Of RFC 9113 §9.2: a version, and ciphers of appendix A.
    @Test(arguments: [
        "tls1_1 -cipher ALL@SECLEVEL=0", "tls1_2 -cipher ALL:!AESGCM:!CHACHA20", "tls1_2 -cipher kRSA+AESGCM",
        "tls1_2 -cipher aNULL@SECLEVEL=0",
    ])
    func `speaks nothing over TLS that HTTP/2 prohibits`(version: String) throws {
        let site = try SecureSite()
        let seen = try Self.handshake(with: site, "-alpn h2 -\(version)")
        #expect(seen.contains("Cipher is (NONE)") && seen.contains("alert"), "\(seen)")
        #expect(try site.get().status == 200)
    }

    /// What openssl's client says of it.
    private static func handshake(with site: SecureSite, _ arguments: String) throws -> String {
        let port = try site.sidecar.bearerd.proxy.port
        let command = "/usr/bin/openssl s_client -connect 127.0.0.1:\(port) \(arguments) </dev/null 2>&1"
        return try Subprocess.run(["/bin/sh", "-c", command]).output
    }

    @Test func `does not renegotiate`() throws {
        let site = try SecureSite()
        let port = try site.sidecar.bearerd.proxy.port
        let seen = try Subprocess.run([
            "/bin/sh", "-c",
            "(echo R; sleep 1) | /usr/bin/openssl s_client -connect 127.0.0.1:\(port) -tls1_2 2>&1",
        ]).output
        #expect(seen.contains("RENEGOTIATING") && seen.contains("no renegotiation"))
        #expect(try site.get().status == 200)
    }

    @Test func `ends a handshake that does not come to its end after timeouts header`() throws {
        let site = try SecureSite(top: "timeouts:\n  header: 300ms")
        let silent = try Wire(to: site.sidecar.bearerd.proxy)
        let slow = try Wire(to: site.sidecar.bearerd.proxy)
        try slow.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])
        #expect(try silent.endsCleanly() && slow.endsCleanly())
        #expect(try site.refusals() == 2)
    }

    @Test func `is for TCP addresses alone`() throws {
        let path = try TemporaryDirectory()
        let socket = path.path("plain.sock")
        let site = try SecureSite(listen: "[127.0.0.1:0, 'unix:\(socket)']")
        #expect(try RawClient(to: .unix(path: socket)).request("GET", "/").status == 200)
        #expect(try site.get().status == 200)
    }

    @Test func `off loopback needs no unsafe_listen, and check tells what is served`() throws {
        let authority = try TLSAuthority()
        let files = try authority.certificate(for: ["api.test", "other.test"])
        let directory = try TemporaryDirectory()
        func check(_ more: String = "") throws -> (exit: Int32, output: String, errors: String) {
            let text = Sidecar.configuration(
                provider: try HostileProvider(), upstream: "https://127.0.0.1", clientSecret: "s",
                directory: directory,
                .init(
                    top: """
                        tls:
                          certificate_file: \(files.certificateFile)
                          key_file: \(files.keyFile)
                        \(more)
                        """, listen: "0.0.0.0:8443"))
            return try BearerdProcess.command("check", "-c", directory.write("c.yaml", text))
        }
        let open = try check()
        #expect(open.exit == 0 && open.output.contains("https://0.0.0.0:8443"))
        #expect(open.output.contains("a certificate for api.test, other.test, valid until 20"))
        #expect(open.output.contains("no client needs a certificate"))
        #expect(open.errors.contains("whoever can reach 0.0.0.0:8443 may use the tokens"))
        let closed = try check("  client_ca_file: \(authority.certificateFile)")
        #expect(closed.exit == 0 && !closed.errors.contains("may use the tokens"))
        #expect(
            closed.output.contains(
                "clients need a certificate of the authority in \(authority.certificateFile)"))
    }

    @Test func `that a reload makes one answers no next request on the plain connections that there are`()
        throws
    {
        let upstream = try RawUpstream { request in
            guard request.head.target == "/events" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let delay = "shutdown: {stream_close_delay: 50ms}\n"
        let sidecar = try Sidecar(upstream: upstream, .init(top: delay))
        let (kept, stream) = (try sidecar.client(), try sidecar.client())
        let other = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try kept.request("GET", "/").status == 200 && other.request("GET", "/").status == 200)
        try stream.send("GET", "/events")
        #expect(try stream.wire.readHead()?.status == 200)
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        try sidecar.directory.write("server.pem", bytes: TemporaryDirectory.contents(of: certificate))
        try sidecar.directory.write("server.key", bytes: TemporaryDirectory.contents(of: key))
        withExtendedLifetime(authority) {}
        try sidecar.reload(
            to: .init(top: delay + "tls: {certificate_file: server.pem, key_file: server.key}"))
        let answer = try kept.request("GET", "/")
        #expect(answer.status == 400 && answer["Connection"] == "close")
        #expect(try kept.wire.endsCleanly())
        #expect(try other.request("GET", "/").status == 400)
        try other.awaitEnd()
        _ = try? stream.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
        #expect(upstream.requests.count == 3)
    }
}
