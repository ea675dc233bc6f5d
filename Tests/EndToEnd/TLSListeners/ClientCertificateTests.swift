// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `tls.client_ca_file`.
@Suite(.blocking) struct `A client's certificate` {
    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `is needed, and by the right authority`(version: Int32) throws {
        let clients = try TLSAuthority()
        let strangers = try TLSAuthority()
        let site = try SecureSite(clientAuthority: clients)
        #expect(try site.serves(site.tls(certificate: clients.client(), highest: version)))
        #expect(try !site.serves(site.tls(highest: version)))
        #expect(try !site.serves(site.tls(certificate: strangers.client(), highest: version)))
        #expect(site.sidecar.upstream.requests.count == 1)
        #expect(try site.refusals() == 2)
    }

    @Test func `that is missing is what the client is told`() throws {
        let clients = try TLSAuthority()
        let site = try SecureSite(clientAuthority: clients)
        let port = try site.sidecar.bearerd.proxy.port
        let seen = try Subprocess.run([
            "/bin/sh", "-c",
            "(printf 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'; sleep 1) "
                + "| /usr/bin/openssl s_client -connect 127.0.0.1:\(port) 2>&1",
        ]).output
        #expect(seen.contains("certificate required"))
    }

    @Test func `of an authority that is no longer in the file is refused, resumed session or not`() throws {
        let before = try TLSAuthority()
        let after = try TLSAuthority()
        let site = try SecureSite(clientAuthority: before)
        let (old, new) = (
            try site.tls(certificate: before.client()), try site.tls(certificate: after.client())
        )
        #expect(try site.serves(old) && !site.serves(new))
        try site.install(after)
        try eventually("the new authority to count") { try site.serves(new) }
        #expect(try !site.serves(old))
    }

    private func reload(_ site: SecureSite) throws {
        #expect(try site.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
    }

    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `of an authority that is no longer in the file ends with the next request`(version: Int32) throws {
        let (before, after) = (try TLSAuthority(), try TLSAuthority())
        let site = try SecureSite(clientAuthority: before)
        let old = try site.tls(certificate: before.client(), highest: version)
        let (kept, watched) = (try site.client(old), try site.client(old))
        #expect(try kept.request("GET", "/").status == 200 && watched.request("GET", "/").status == 200)
        try site.install(after)
        try reload(site)
        let answer = try kept.request("GET", "/")
        #expect(answer.status == 403 && answer.json["code"].string == "access_denied")
        #expect(answer["Connection"] == "close")
        #expect(try watched.request("GET", "/").status == 403)
        #expect(site.sidecar.upstream.requests.count == 2)
    }

    @Test func `of an authority that leaves the file ends without a reload too, and its streams with it`()
        throws
    {
        let upstream = try RawUpstream { request in
            guard request.head.target == "/events" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let (before, after) = (try TLSAuthority(), try TLSAuthority())
        let site = try SecureSite(
            upstream: upstream, clientAuthority: before, top: "shutdown: {stream_close_delay: 50ms}")
        let old = try site.tls(certificate: before.client())
        let (kept, stream) = (try site.client(old), try site.client(old))
        try stream.send("GET", "/events")
        #expect(try stream.wire.readHead()?.status == 200)
        try site.install(after)
        try eventually("the old one to be refused") { try kept.request("GET", "/").status == 403 }
        _ = try? stream.wire.readToEnd()
        try site.sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
    }

    @Test func `of an authority that others join goes on, on the connections that there are`() throws {
        let (one, other) = (try TLSAuthority(), try TLSAuthority())
        let site = try SecureSite(clientAuthority: one)
        let kept = try site.client(site.tls(certificate: one.client()))
        #expect(try kept.request("GET", "/").status == 200)
        let both = [one, other].flatMap { TemporaryDirectory.contents(of: $0.certificateFile) }
        try site.directory.write("clients.pem", bytes: both)
        try reload(site)
        #expect(try kept.request("GET", "/").status == 200)
        #expect(try site.serves(site.tls(certificate: other.client())))
        try site.install(other)
        try reload(site)
        #expect(try kept.request("GET", "/").status == 403)
    }

    @Test func `that stays in a file from which others go is good for the connections that there are`() throws
    {
        let (one, other) = (try TLSAuthority(), try TLSAuthority())
        let site = try SecureSite(clientAuthority: one)
        let both = [one, other].flatMap { TemporaryDirectory.contents(of: $0.certificateFile) }
        try site.directory.write("clients.pem", bytes: both)
        try reload(site)
        let (stays, goes) = (
            try site.client(site.tls(certificate: one.client())),
            try site.client(site.tls(certificate: other.client()))
        )
        #expect(try stays.request("GET", "/").status == 200 && goes.request("GET", "/").status == 200)
        try site.install(one)
        try reload(site)
        #expect(try stays.request("GET", "/").status == 200)
        #expect(try goes.request("GET", "/").status == 403)
    }

    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `that has ended is refused with the next request, by HTTP2 and resumed sessions too`(
        version: Int32
    )
        throws
    {
        let upstream = try RawUpstream { request in
            guard request.head.target == "/events" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let clients = try TLSAuthority()
        let site = try SecureSite(
            upstream: upstream, clientAuthority: clients, top: "shutdown: {stream_close_delay: 50ms}")
        var connected: (tls: TLSClient, kept: RawClient, stream: RawClient, other: HTTP2Client)?
        // On a machine that is busy a short life may pass before all are connected.
        for seconds in [6, 12, 24, 48] where connected == nil {
            let certificate = try clients.client(endingAfter: seconds)
            let tls = try site.tls(certificate: certificate, highest: version)
            guard let kept = try? site.client(tls), let stream = try? site.client(tls),
                let other = try? HTTP2Client(
                    to: site.sidecar.bearerd.proxy,
                    over: site.tls(certificate: certificate, protocols: ["h2"], highest: version)),
                (try? kept.request("GET", "/"))?.status == 200,
                (try? other.request("GET", "/"))?.status == 200,
                (try? stream.send("GET", "/events")) != nil, (try? stream.wire.readHead())?.status == 200
            else { continue }
            connected = (tls, kept, stream, other)
        }
        let (tls, kept, stream, other) = try #require(connected)
        var last = try kept.request("GET", "/")
        try eventually("the certificate to end") {
            if last.status == 200 { last = try kept.request("GET", "/") }
            return last.status != 200
        }
        #expect(last.status == 403 && last.json["code"].string == "access_denied")
        #expect(last["Connection"] == "close")
        #expect(try other.request("GET", "/").status == 403)
        try other.awaitEnd()
        // A session that is resumed is as old as its certificate.
        #expect(try !site.serves(tls))
        try reload(site)
        _ = try? stream.wire.readToEnd()
        try site.sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
    }

    @Test func `that a reload begins to want is wanted of the connections that there are`() throws {
        let clients = try TLSAuthority()
        let site = try SecureSite()
        let kept = try site.client()
        #expect(try kept.request("GET", "/").status == 200)
        let file = try site.directory.write(
            "clients.pem", bytes: TemporaryDirectory.contents(of: clients.certificateFile))
        let path = site.directory.path("config.yaml")
        let text = String(decoding: TemporaryDirectory.contents(of: path), as: UTF8.self)
        try site.directory.write(
            "config.yaml", text.replacing("tls:\n", with: "tls:\n  client_ca_file: \(file)\n"))
        try reload(site)
        #expect(try kept.request("GET", "/").status == 403)
        #expect(try site.serves(site.tls(certificate: clients.client())))
    }
}
