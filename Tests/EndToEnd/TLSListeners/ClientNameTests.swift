// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `tls.client_allow`.
@Suite(.blocking) struct `A client's names` {
    private static let rules =
        "{dns: [app.clients.test, '*.jobs.test'], uri: ['spiffe://prod.test/ns/*/sa/app']}"

    /// A site that admits the clients of an authority by their names.
    private static func site(
        _ authority: TLSAuthority, _ rules: String, upstream: RawUpstream? = nil
    ) throws
        -> SecureSite
    {
        try SecureSite(
            upstream: upstream, clientAuthority: authority, tls: "client_allow: \(rules)",
            top: "shutdown: {stream_close_delay: 50ms}")
    }

    private func reload(_ site: SecureSite, _ before: String, to after: String) throws {
        let text = String(
            decoding: TemporaryDirectory.contents(of: site.directory.path("config.yaml")), as: UTF8.self)
        #expect(text.contains(before))
        try site.directory.write("config.yaml", text.replacing(before, with: after))
        let answer = try site.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test(arguments: [TLSClient.tls12, TLSClient.tls13])
    func `let in who has one that fits, and nobody by the common name`(version: Int32) throws {
        let clients = try TLSAuthority()
        let site = try Self.site(clients, Self.rules)
        func status(_ names: [String], subject: String = "test client") throws -> Int {
            let certificate = try clients.certificate(for: names, subject: subject)
            let tls = try site.tls(certificate: certificate, highest: version)
            let answer = try site.get("/", [], tls)
            if answer.status == 403 {
                #expect(answer.json["code"].string == "access_denied")
                #expect(answer.json["detail"].string?.contains("tls.client_allow") == true)
            }
            // The same client resumes its session.
            #expect(try site.get("/", [], tls).status == answer.status)
            return answer.status
        }
        for names in [
            ["app.clients.test"], ["APP.clients.test"], ["a.jobs.test"], ["other.test", "a.jobs.test"],
            ["URI:spiffe://prod.test/ns/blue/sa/app"], ["127.0.0.1", "URI:spiffe://prod.test/ns/x/sa/app"],
        ] {
            #expect(try status(names) == 200, "\(names)")
        }
        let passed = site.sidecar.upstream.requests.count
        for names in [
            ["clients.test"], ["x.app.clients.test"], ["a.b.jobs.test"], ["jobs.test"],
            ["URI:spiffe://prod.test/ns/blue/sa/other"], ["URI:spiffe://prod.test/ns//sa/app"],
            ["URI:spiffe://prod.test/ns/../sa/app"], ["URI:spiffe://prod.test/ns/a/b/sa/app"],
            ["URI:spiffe://prod.test/ns/a?/sa/app"], ["URI:app.clients.test"], ["email:app@clients.test"], [],
        ] {
            #expect(try status(names, subject: "app.clients.test") == 403, "\(names)")
        }
        #expect(site.sidecar.upstream.requests.count == passed)
        #expect(try site.refusals() == 24)
    }

    @Test func `are judged again with the next request after a reload, streams too`() throws {
        let upstream = try RawUpstream { request in
            guard request.head.target == "/events" else { return .ok() }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let clients = try TLSAuthority()
        let site = try Self.site(clients, "{dns: [one.test, two.test]}", upstream: upstream)
        let (one, two) = (
            try site.tls(certificate: clients.certificate(for: ["one.test"])),
            try site.tls(certificate: clients.certificate(for: ["two.test"]))
        )
        let (stays, goes, stream) = (try site.client(one), try site.client(two), try site.client(two))
        for client in [stays, goes] { #expect(try client.request("GET", "/").status == 200) }
        try stream.send("GET", "/events")
        #expect(try stream.wire.readHead()?.status == 200)
        try reload(site, "[one.test, two.test]", to: "[one.test]")
        #expect(try stays.request("GET", "/").status == 200)
        let answer = try goes.request("GET", "/")
        #expect(answer.status == 403 && answer["Connection"] == "close")
        _ = try? stream.wire.readToEnd()
        try site.sidecar.bearerd.logLine("the stream's end") { $0["code"] == "access_gone" }
        try reload(site, "{dns: [one.test]}", to: "{dns: ['*.test']}")
        #expect(try site.get("/", [], two).status == 200)
    }

    @Test func `go on counting when the authorities' file changes`() throws {
        let (before, after) = (try TLSAuthority(), try TLSAuthority())
        let site = try Self.site(before, "{dns: [one.test]}")
        let old = try site.tls(certificate: before.certificate(for: ["one.test"]))
        #expect(try site.get("/", [], old).status == 200)
        try site.install(after)
        let new = try site.tls(certificate: after.certificate(for: ["one.test"]))
        try eventually("the new authority to count") { try site.serves(new) }
        let other = try site.tls(certificate: after.certificate(for: ["two.test"]))
        #expect(try site.get("/", [], other).status == 403)
    }
}
