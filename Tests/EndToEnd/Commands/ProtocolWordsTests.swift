// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Which protocol a listener and an upstream speak is told by everything that tells of them.
@Suite(.blocking) struct `The protocols of listeners and upstreams` {
    /// The routes `/`, of HTTP/1.1, `/h2` and `/auto`.
    private static func routes(_ upstream: String, _ secure: String, _ authority: TLSAuthority) -> String {
        """
        - {path: /h2, upstream: "\(upstream)", upstream_protocol: h2, identity: none}
        - {path: /auto, upstream: "\(secure)", upstream_protocol: auto, identity: none, ca_file: "\(authority.certificateFile)"}
        """
    }

    @Test func `are in check, its JSON and its explanations`() throws {
        let (provider, directory, authority) = (
            try HostileProvider(), try TemporaryDirectory(), try TLSAuthority()
        )
        let listen = """
            [127.0.0.1:18080, {address: 127.0.0.1:18081, protocols: [http1]}, {address: 127.0.0.1:18082, protocols: [h2]}]
            """
        let file = try Sidecar.file(
            provider: provider, directory: directory,
            .init(
                moreRoutes: Self.routes("http://127.0.0.1:1", "https://localhost:1", authority),
                listen: listen))
        let check = try BearerdProcess.command("check", "-c", file)
        #expect(check.exit == 0, "\(check.errors)")
        for words in [
            "http://127.0.0.1:18080 (HTTP/1.1 and HTTP/2)", "http://127.0.0.1:18081 (HTTP/1.1 alone)",
            "http://127.0.0.1:18082 (HTTP/2 alone)", "http://127.0.0.1:1 (HTTP/2)\n",
            "https://localhost:1 (HTTP/2 or HTTP/1.1, as its TLS chooses)",
        ] {
            #expect(check.output.contains(words), "\(words): \(check.output)")
        }
        let json = try #require(
            TestJSON(parsing: BearerdProcess.command("check", "--json", "-c", file).output))
        let offered = [
            "127.0.0.1:18080": ["http1", "h2"], "127.0.0.1:18081": ["http1"], "127.0.0.1:18082": ["h2"],
        ]
        for (address, names) in offered {
            #expect(json["protocols"][address].array.map(\.string) == names)
        }
        #expect(json["routes"].array.map { $0["upstream_protocol"].string } == ["http1", "h2", "auto"])
        for (url, listener, upstream) in [
            ("/x", "127.0.0.1:18080 (HTTP/1.1 and HTTP/2)", "http://127.0.0.1:1\n"),
            (
                "http://127.0.0.1:18081/h2/x", "127.0.0.1:18081 (HTTP/1.1 alone)",
                "http://127.0.0.1:1 (HTTP/2)\n"
            ),
            (
                "http://127.0.0.1:18082/auto", "127.0.0.1:18082 (HTTP/2 alone)",
                "https://localhost:1 (HTTP/2 or HTTP/1.1, as its TLS chooses)\n"
            ),
        ] {
            let explained = try BearerdProcess.command("check", "-c", file, "--explain", "GET", url).output
            #expect(explained.contains("listener \(listener)\n"), "\(explained)")
            #expect(explained.contains("upstream \(upstream)"), "\(explained)")
        }
    }

    @Test func `of a listener are told by doctor`() throws {
        var fixture = try DoctorFixture()
        let port = try Socket.refusing().address.port
        fixture.settings.listen = "[{address: 127.0.0.1:\(port), protocols: [h2]}]"
        #expect(
            try fixture.run("--check", "listen").seen(by: "listen")
                == "127.0.0.1:\(port) is free, for HTTP/2 alone")
    }

    @Test func `are asked for by doctor, which says what ALPN brings`() throws {
        let authority = try TLSAuthority()
        let refuse: HTTP2Upstream.Serve = {
            peer, _, stream in
            guard stream.hasEnd else { return }
            try peer.answer(stream.id, 401, [("www-authenticate", "Bearer error=\"invalid_token\"")])
        }
        let two = try HTTP2Upstream(tls: authority.server().choosing("\u{2}h2"), serve: refuse)
        let plain = try HTTP2Upstream(serve: refuse)
        let one = try RawUpstream(tls: authority.server())
        let old = try RawUpstream { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        }
        func seen(_ upstream: String, _ secure: String) throws -> [String: (result: String?, text: String)] {
            var fixture = try DoctorFixture()
            fixture.settings.moreRoutes = Self.routes(upstream, secure, authority)
            let rows = try fixture.run("--check", "upstream").checks
            return Dictionary(
                rows.map { row in
                    let text = row["seen"].string ?? ""
                    return (
                        String(text.prefix { $0 != " " }),
                        (row["result"].string, text + " | " + (row["fix"].string ?? ""))
                    )
                }, uniquingKeysWith: { first, _ in first })
        }
        let well = try seen(plain.url, two.url)
        #expect(well["/h2"]?.result == "ok" && well["/h2"]?.text.contains("speaks HTTP/2") == true, "\(well)")
        #expect(well["/auto"]?.text.contains("speaks HTTP/2, as its TLS chooses (ALPN)") == true, "\(well)")
        for route in ["/h2", "/auto"] {
            #expect(
                well[route]?.text.contains("answers 401 (invalid_token) without a token") == true, "\(well)")
        }
        let ill = try seen(old.url, one.url)
        #expect(ill["/h2"]?.result == "fail", "\(ill)")
        #expect(ill["/h2"]?.text.contains("upstream_protocol: http1 or auto") == true, "\(ill)")
        #expect(ill["/auto"]?.result == "ok", "\(ill)")
        #expect(
            ill["/auto"]?.text.contains("speaks HTTP/1.1, as its TLS chooses (ALPN), and answers 200")
                == true, "\(ill)")
    }

    @Test func `are on the status page and in the status`() throws {
        let authority = try TLSAuthority()
        let sidecar = try Sidecar(
            .init(moreRoutes: Self.routes("http://127.0.0.1:1", "https://localhost:1", authority)))
        let status = try sidecar.admin("GET", "/api/status").json["routes"].array
        #expect(status.map { $0["upstream_protocol"].string } == ["http1", "h2", "auto"])
        let page = try sidecar.admin("GET", "/").text
        #expect(page.contains(">HTTP/2<") && page.contains(">HTTP/2 or HTTP/1.1<"))
        #expect(page.contains("Clients are served at \(try sidecar.bearerd.proxy) (HTTP/1.1 and HTTP/2)."))
    }
}
