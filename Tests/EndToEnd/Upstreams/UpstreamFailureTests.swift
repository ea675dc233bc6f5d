// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What the log and the metrics say of an upstream that fails.
@Suite(.blocking) struct `A failing upstream` {
    private func warnings(of sidecar: Sidecar) -> [BearerdProcess.LogLine] {
        sidecar.bearerd.logLines.filter { $0.message == "the upstream fails" }
    }

    private func failures(of sidecar: Sidecar, _ reason: String, route: String = "/failing") throws -> Double
    {
        try sidecar.metrics().sum(
            "bearerd_upstream_failures_total", "route=\"\(route)\"", "reason=\"\(reason)\"")
    }

    /// Has a GET at an upstream fail, and checks what is said of it.
    ///
    /// - Returns: the `detail` of the answer.
    @discardableResult private func check(
        _ upstream: String, at place: String, _ label: String, says words: String, _ more: String = "",
        environment: [String: String] = [:], hint: String? = nil
    ) throws -> String {
        let sidecar = try Sidecar(
            environment: environment,
            .init(
                moreRoutes: "- path: /failing\n  upstream: \(upstream)\n  identity: default\n"
                    + "  allow_insecure_upstream: true\n" + indented(more, by: 2)))
        let client = try sidecar.client()
        try client.send("GET", "/failing?secret=1")
        let answer = try? client.wire.readResponse()
        let line = try sidecar.bearerd.logLine("a warning of \(words)") { $0.message == "the upstream fails" }
        #expect(line["level"] == "warning" && line["route"] == "/failing" && line["upstream"] == place)
        #expect(line["reason"]?.contains(words) == true && line["left_out"] == "0", "\(line.json)")
        if let hint { #expect(line["hint"]?.hasPrefix(hint) == true, "\(line.json)") }
        try eventually("the failure to be counted") { try failures(of: sidecar, label) == 1 }
        #expect(try sidecar.metrics().sum("bearerd_upstream_failures_total") == 1)
        #expect(!sidecar.bearerd.log.contains("secret=1"))
        for token in sidecar.provider.accessTokens { #expect(!sidecar.bearerd.log.contains(token)) }
        return answer?.json["detail"].string ?? ""
    }

    @Test func `answers with route and place on a local listener, and ends with where to look`() throws {
        let nobody = try Socket.refusing()
        let detail = try check(
            "http://\(nobody.address)", at: "\(nobody.address)", "refused", says: "refused")
        #expect(detail.contains("(route /failing, identity default, \(nobody.address))"), "\(detail)")
        #expect(detail.hasSuffix("; see 'bearerd status'"), "\(detail)")
    }

    @Test func `is not blamed for the proxy on the way`() throws {
        let nobody = try Socket.refusing()
        let refusing = try RawServer { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        }
        let socks = try RawServer { wire in
            _ = try wire.readSome()
            try wire.send([5, 0])
            _ = try wire.readSome()
            try wire.send([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        let stranger = try TLSAuthority()
        let secure = try RawServer(tls: stranger.server()) { _ in }
        let cases = [
            ("http://user:not-a-word@\(nobody.address)", "\(nobody.address)", "connection refused"),
            ("http://nowhere.invalid:3128", "nowhere.invalid:3128", "no address"),
            ("http://\(refusing.address)", "\(refusing.address)", "407"),
            ("socks5h://\(socks.address)", "\(socks.address)", "no way to the server"),
            ("https://localhost:\(secure.address.port)", "localhost:\(secure.address.port)", "unknown CA"),
        ]
        for (proxy, place, words) in cases {
            let (told, own) = ("the proxy \(place): ", "route /failing, \(place)")
            for scheme in ["http", "https"] {
                let detail = try check(
                    "\(scheme)://api.invalid:8443", at: "api.invalid:8443", "proxy", says: told,
                    "proxy: \(proxy)")
                #expect(detail.contains("proxy") && detail.contains(own), "\(detail)")
            }
            try check(
                "https://api.invalid", at: "api.invalid:443", "proxy", says: words, "proxy: environment",
                environment: ["https_proxy": proxy])
        }
        try check(
            "https://api.invalid", at: "api.invalid:443", "dns", says: "no address", "proxy: environment",
            environment: ["https_proxy": "http://\(nobody.address)", "no_proxy": "api.invalid"])
    }

    @Test func `is told with where connect_to leads`() throws {
        let nobody = try Socket.refusing()
        let place = "\(nobody.address)"
        let detail = try check(
            "https://api.invalid", at: "api.invalid:443", "refused",
            says: "connect_to \(place): connection refused",
            "connect_to: \(place)")
        #expect(detail.contains("(route /failing, identity default, \(place))"), "\(detail)")
        try check(
            "https://api.invalid", at: "api.invalid:443", "dns",
            says: "connect_to nowhere.invalid:1: the name",
            "connect_to: nowhere.invalid:1")
    }

    @Test func `that cannot be reached is told with the reason`() throws {
        let nobody = try Socket.refusing()
        try check("http://\(nobody.address)", at: "\(nobody.address)", "refused", says: "refused")
        try check(
            "http+unix:/nonexistent/api.sock", at: "/nonexistent/api.sock", "unreachable", says: "no route")
        try check("http://nowhere.invalid", at: "nowhere.invalid:80", "dns", says: "no address")
        let mute = try RawUpstream(script: { _ = try $0.readToEnd() })
        try check(
            "https://localhost:\(mute.address.port)", at: "localhost:\(mute.address.port)", "connect_timeout",
            says: "no greeting of TLS", "timeouts: {connect: 200ms}")
        for name in ["h2", "auto"] {
            let detail = try check(
                "https://localhost:\(mute.address.port)", at: "localhost:\(mute.address.port)",
                "connect_timeout", says: "no greeting of TLS",
                "timeouts: {connect: 200ms}\nupstream_protocol: \(name)")
            #expect(detail.contains("sent no greeting of TLS within"), "\(detail)")
        }
    }

    @Test func `that has another protocol in its TLS is told so`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server().choosing("\u{8}http/1.1"))
        let detail = try check(
            upstream.url, at: upstream.authority, "tls", says: "chooses no protocol that upstream_protocol",
            "upstream_protocol: h2\nca_file: \(authority.certificateFile)",
            hint: "upstream_protocol of the route: http1 or auto")
        #expect(detail.contains("chooses no protocol that upstream_protocol allows"), "\(detail)")
        let other = try RawUpstream(tls: authority.server().choosing("\u{2}h2"))
        try check(
            other.url, at: other.authority, "tls", says: "chooses no protocol that upstream_protocol",
            "ca_file: \(authority.certificateFile)", hint: "upstream_protocol of the route: h2, if")
    }

    @Test(arguments: [
        ("http://NOBODY", "", "start what should listen there, or mend upstream of the route"),
        (
            "http://api.invalid", "connect_to: NOBODY",
            "start what should listen there, or mend connect_to of the route"
        ),
        ("http://nowhere.invalid", "", "mend the name in upstream of the route, or the name server"),
        ("https://PLAIN", "", "http:// in upstream of the route, if it speaks plain HTTP"),
        ("http://MUTE", "", "it may want https:// or HTTP/2 (upstream_protocol: h2), or restart"),
    ])
    func `is logged with what mends it`(upstream: String, more: String, hint: String) throws {
        let nobody = try Socket.refusing()
        let mute = try RawServer { wire in _ = try wire.readSome() }
        let plain = try RawServer { wire in
            _ = try wire.readSome()
            try wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        func placed(_ text: String) -> String {
            text.replacing("NOBODY", with: "\(nobody.address)").replacing("PLAIN", with: "\(plain.address)")
                .replacing("MUTE", with: "\(mute.address)")
        }
        let sidecar = try Sidecar(
            .init(
                moreRoutes: "- path: /failing\n  upstream: \(placed(upstream))\n  identity: default\n"
                    + "  allow_insecure_upstream: true\n" + indented(placed(more), by: 2)))
        #expect(try sidecar.get("/failing").status == 502)
        let line = try sidecar.bearerd.logLine("the failure") { $0.message == "the upstream fails" }
        #expect(line["hint"]?.hasPrefix(hint) == true, "\(line.json)")
    }

    @Test func `that is not believed is told with what is wrong with its certificate`() throws {
        let authority = try TLSAuthority()
        let trusted = "ca_file: \(authority.certificateFile)"
        let stranger = try TLSAuthority()
        let named = try authority.certificate(for: [], subject: "localhost")
        for (server, words) in [
            (try stranger.server(), "unknown CA"), (try authority.server(for: ["other.test"]), "other name"),
            (try authority.server(days: -1), "expired"),
            (
                try TLSServer(certificateFile: named.certificateFile, keyFile: named.keyFile),
                "no subjectAltName"
            ),
        ] {
            let upstream = try RawUpstream(tls: server)
            try check(upstream.url, at: upstream.authority, "certificate", says: words, trusted)
        }
    }

    @Test func `that breaks is told with the reason`() throws {
        let cases: [(Reply, String, String)] = [
            (.reset, "closed", "before an answer"), (.close, "closed", "before an answer"),
            (.raw("SSH-2.0-OpenSSH_9\r\n\r\n", thenClose: true), "malformed", "not HTTP"),
            (
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), "malformed",
                "the answer has a Transfer-Encoding other than chunked"
            ),
            (
                .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), "malformed",
                "the answer is malformed: a Content-Length that is no number"
            ),
            (.raw("HTTP/1.1 200 OK\r\nContent-", thenClose: true), "closed", "inside the head of the answer"),
            (
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"), "truncated",
                "the answer broke off: it is malformed: a chunk size"
            ),
            (
                .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", thenClose: true), "truncated",
                "broke off"
            ),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), "timeout", "stalled"),
            (
                Reply { _ in
                    try Gate().pass(within: .seconds(1)); return false
                }, "timeout", "no answer"
            ),
        ]
        for (reply, label, words) in cases {
            let upstream = try RawUpstream { _ in reply }
            try check(
                upstream.url, at: upstream.authority, label, says: words,
                "timeouts: {first_byte: 200ms, stream_idle: 200ms}")
        }
    }

    @Test func `is a line a second at most, however many requests fail, and one when it works again`() throws
    {
        let upstream = try RawUpstream()
        let port = upstream.address.port
        let sidecar = try Sidecar(upstream: upstream)
        #expect(try sidecar.get().status == 200)
        upstream.stop()
        let client = try sidecar.client()
        let start = ContinuousClock.now
        var failed = 0
        while failed < 300 || ContinuousClock.now - start < .seconds(1.5) {
            #expect(try client.request("GET", "/").status == 502)
            failed += 1
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        let back = try RawUpstream(port: port)
        #expect(try client.request("GET", "/").status == 200)
        let notice = try sidecar.bearerd.logLine("the notice") { $0.message == "the upstream works again" }
        #expect(
            notice["level"] == "notice" && notice["route"] == "/" && notice["upstream"] == upstream.authority)
        let lines = warnings(of: sidecar)
        #expect(lines.count >= 2 && lines.count <= seconds + 1)
        let leftOut = (lines + [notice]).compactMap { $0["left_out"].flatMap { Int($0) } }.reduce(0, +)
        #expect(lines.count + leftOut == failed)
        #expect(try failures(of: sidecar, "refused", route: "/") == Double(failed))
        for _ in 0..<5 { #expect(try client.request("GET", "/").status == 200) }
        #expect(sidecar.bearerd.logLines.filter { $0.message == "the upstream works again" }.count == 1)
        withExtendedLifetime(back) {}
    }

    @Test func `is none where a dead connection was replaced, or the client went away`() throws {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readRequest() != nil else { return }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = try wire.readHead()
            wire.reset()
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        for _ in 0..<10 { #expect(try client.request("GET", "/").text == "ok") }
        #expect(warnings(of: sidecar).isEmpty)
        #expect(try sidecar.metrics().sum("bearerd_upstream_failures_total") == 0)
    }

    @Test func `that lets connections wait is seen as connecting`() throws {
        let gate = Gate()
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(script: { wire in
            try gate.pass()
            wire.close()
        })
        let sidecar = try Sidecar(
            .init(
                moreRoutes: """
                    - path: /slow
                      upstream: https://localhost:\(upstream.address.port)
                      ca_file: \(authority.certificateFile)
                      identity: default
                      timeouts: {connect: 0}
                    """))
        func connecting() throws -> Double {
            try sidecar.metrics().sum(
                "bearerd_upstream_connections", "route=\"/slow\"", "state=\"connecting\"")
        }
        #expect(try connecting() == 0)
        let clients = try (0..<3).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/slow") }
        try eventually("three connections in the making") { try connecting() == 3 }
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 502) }
        #expect(try connecting() == 0)
    }

    /// The client waits in the middle of its content, and is there.
    @Test(arguments: [true, false], [true, false])
    func `in the middle of a request is its own failure, and not the client's`(
        upstreamIsHTTP2: Bool, clientIsHTTP2: Bool
    ) throws {
        let resetting = try HTTP2Upstream { peer, event, stream in
            if event == .content { try peer.send(.reset(stream.id, code: 0x2)) }
        }
        let closing = try RawServer { wire in
            _ = try wire.readHead()
            _ = try wire.read(exactly: 5)
        }
        let sidecar = try HTTP2Route.sidecar(
            at: upstreamIsHTTP2 ? resetting.url : "http://\(closing.address)",
            speaking: upstreamIsHTTP2 ? "h2" : "http1")
        try sidecar.awaitToken()
        let status: Int?
        if clientIsHTTP2 {
            let client = try HTTP2Client(to: sidecar.bearerd.proxy)
            let stream = try client.begin("POST", "/h2/", endsStream: false)
            try client.send(.data("start", stream: stream))
            status = try client.head(on: stream)[":status"].flatMap { Int($0) }
        } else {
            let client = try sidecar.client()
            try client.send("POST", "/h2/", [("Content-Length", "1000")])
            try client.wire.send("start")
            status = try client.wire.readHead()?.status
        }
        #expect(status == 502)
        let line = try sidecar.bearerd.logLine("its line") { $0["path"] == "/h2/" }
        #expect(line["status"] == "502" && line["code"] == "upstream_protocol", "\(line.json)")
        #expect(try sidecar.metrics().sum("bearerd_upstream_failures_total", "route=\"/h2\"") == 1)
    }
}
