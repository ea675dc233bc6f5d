// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The status page, and the figures and events behind it.
@Suite(.blocking) struct `The status page` {
    private static func route(_ path: String, to upstream: String, identity: String = "default") -> String {
        "- {path: \(path), upstream: '\(upstream)', identity: \(identity)}"
    }

    /// What the status says of a route.
    private static func figures(of path: String, _ sidecar: Sidecar) throws -> TestJSON {
        try sidecar.admin("GET", "/api/status").json["routes"].array.first { $0["path"].string == path }
            ?? .null
    }

    @Test func `tells of each route who was to blame, and how its upstream is`() throws {
        let upstream = try RawUpstream { request in
            switch request.head.target {
            case "/missing": .raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            case "/broken": .raw("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
            case "/cut": .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", thenClose: true)
            default: .ok("fine")
            }
        }
        let nobody = try Socket.refusing()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes: [
                    Self.route("/dead", to: "http://\(nobody.address)"),
                    Self.route("/people", to: upstream.url, identity: "person"),
                ].joined(separator: "\n"),
                moreIdentities: """
                    person:
                      issuer: http://127.0.0.1:1
                      client_id: p
                    """))
        try sidecar.awaitToken()
        #expect(try Self.figures(of: "/", sidecar)["upstream_state"].string == "unknown")
        for target in ["/", "/missing", "/broken", "/cut", "/", "/dead", "/people"] {
            _ = try sidecar.get(target)
        }
        let root = try Self.figures(of: "/", sidecar)
        #expect(root["answers"]["ok"].number == 2 && root["answers"]["client"].number == 1)
        #expect(root["answers"]["upstream"].number == 2 && root["answers"]["provider"].number == 0)
        #expect(root["requests"].number == 5 && root["upstream_state"].string == "ok", "\(root)")
        #expect((root["p50_seconds"].number ?? 0) > 0 && (root["requests_per_second"].number ?? 0) > 0)
        let dead = try Self.figures(of: "/dead", sidecar)
        #expect(dead["answers"]["upstream"].number == 1 && dead["upstream_state"].string == "last_failed")
        #expect(dead["reason"].string?.contains("refused") == true, "\(dead)")
        let people = try Self.figures(of: "/people", sidecar)
        #expect(people["answers"]["provider"].number == 1 && people["upstream_state"].string == "unknown")

        let words = try sidecar.admin("GET", "/").text
        #expect(words.contains("token 1") && !words.contains("provider 1"), "\(words)")

        let page = try sidecar.admin("GET", "/")
        let policy = page["Content-Security-Policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; frame-ancestors 'none'") && !policy.contains("unsafe"))
        #expect(policy.contains("script-src 'sha256-") && policy.contains("style-src 'sha256-"), "\(policy)")
        #expect(
            page.body.count < 100 << 10 && !page.text.contains(" style=") && !page.text.contains(" onclick"))
        for words in [
            "Has a token", "Somebody must log in", "href=\"/login/person\"", "The last request failed:",
            "/dead",
        ] {
            #expect(page.text.contains(words), "\(words)")
        }
        let person = try sidecar.admin("GET", "/api/status").json["identities"].array[1]
        #expect(person["next_refresh"] == .null)
        let machine = try sidecar.identityStatus()
        #expect(
            machine["next_refresh"].string?.hasSuffix("Z") == true
                && machine["lifetime_seconds"].number == 300)
    }

    @Test func `tells when the first of several tokens is renewed`() throws {
        let provider = try HostileProvider()
        provider.always { request, provider in
            let lifetime = request["scope"] == "own" ? 300 : 36_000
            return .json(
                #"{"access_token":"\#(provider.makeAccessToken())","token_type":"Bearer","expires_in":\#(lifetime)}"#
            )
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                moreRoutes: "- {path: /own, upstream: 'http://127.0.0.1:1', identity: default, scope: own}"))
        try eventually("both tokens") {
            let tokens = try sidecar.identityStatus()["tokens"].array
            return tokens.count == 2 && tokens.allSatisfy { $0["state"].string == "authorized" }
        }
        let identity = try sidecar.identityStatus()
        let ends = identity["tokens"].array.compactMap { $0["expires_at"].string }.sorted()
        let next = try #require(identity["next_refresh"].string)
        #expect(ends.count == 2 && next < ends[0], "\(identity)")
    }

    @Test func `tells when a token is renewed, however long the provider says that it lives`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "1e300" }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let machine = try sidecar.identityStatus()
        #expect(machine["next_refresh"].string?.hasSuffix("Z") == true, "\(machine)")
        #expect(
            machine["expires_at"].string?.hasSuffix("Z") == true && machine["lifetime_seconds"].number != nil)
    }

    @Test func `counts event streams and tunnels as open`() throws {
        let end = Gate()
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n"
                )
                try end.pass()
                return false
            }
        }
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("GET", "/")
        _ = try client.wire.readHead()
        _ = try client.wire.readChunk()
        #expect(try Self.figures(of: "/", sidecar)["open_streams"].number == 1)
        end.open()
        while try client.wire.readChunk() != nil {}
        try eventually("the stream to be over") {
            try Self.figures(of: "/", sidecar)["open_streams"].number == 0
        }
    }

    @Test func `blames the token for what the upstream says of ours, and not of the caller's`() throws {
        let upstream = try RawUpstream()
        upstream.answer { _ in .unauthorized }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes:
                    "- {path: /own, upstream: '\(upstream.url)', identity: default, authorization: preserve}")
        )
        try sidecar.awaitToken()
        #expect(try sidecar.get("/").status == 401)
        #expect(try sidecar.get("/own", [("Authorization", "Bearer own")]).status == 401)
        try eventually("both to be counted") {
            try Self.figures(of: "/own", sidecar)["requests"].number == 1
                && Self.figures(of: "/", sidecar)["requests"].number == 1
        }
        let ours = try Self.figures(of: "/", sidecar)["answers"]
        #expect(ours["provider"].number == 1 && ours["client"].number == 0, "\(ours)")
        let own = try Self.figures(of: "/own", sidecar)["answers"]
        #expect(own["provider"].number == 0 && own["client"].number == 1, "\(own)")
    }

    @Test func `sends what the status says each second, and what has changed of the page`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let client = try RawClient(to: sidecar.bearerd.admin)
        let page = try RawClient(to: sidecar.bearerd.admin)
        try client.send("GET", "/api/events")
        try page.send("GET", "/api/events?page")
        let head = try #require(try client.wire.readHead())
        #expect(head["Content-Type"] == "text/event-stream" && head["Cache-Control"] == "no-store")
        #expect(String(decoding: try client.wire.readChunk() ?? [], as: UTF8.self).hasPrefix("retry: "))
        for _ in 0..<2 {
            let event = String(decoding: try client.wire.readChunk() ?? [], as: UTF8.self)
            #expect(event.hasPrefix("data: {\"version\"") && event.hasSuffix("}\n\n"))
        }
        _ = try page.wire.readHead()
        let mark = try sidecar.admin("GET", "/").text.split(separator: "data-mark=\"")[1].prefix {
            $0 != "\""
        }
        #expect(
            String(decoding: try page.wire.readChunk() ?? [], as: UTF8.self)
                == "retry: 3000\nevent: of\ndata: \(mark)\n\n", "the events of this page")
        let parts = String(decoding: try page.wire.readChunk() ?? [], as: UTF8.self)
        #expect(parts.contains("event: part\ndata: {\"id\":\"i0-state\""), "\(parts.prefix(300))")
        let next = String(decoding: try page.wire.readChunk() ?? [], as: UTF8.self)
        // Charts may have changed; who the identity is and what can be done with it has not.
        #expect(next.contains("\"uptime\"") && !next.contains("i0-actions"), "only what has changed")
        // Another configuration may have other identities: the page is to be loaded anew.
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        var last = ""
        while let chunk = try page.wire.readChunk() { last = String(decoding: chunk, as: UTF8.self) }
        #expect(last.hasPrefix("event: stale"))
    }

    @Test func `is looked at by eight of a user at once, who cost nobody else anything`() throws {
        let sidecar = try Sidecar()
        let lookers = try (0..<8).map { _ in
            let client = try RawClient(to: sidecar.bearerd.admin, receiveBuffer: 4096)
            try client.send("GET", "/api/events")
            _ = try client.wire.readHead()
            return client
        }
        let refused = try sidecar.admin("GET", "/api/events")
        #expect(refused.status == 503 && refused.problem == "busy" && refused["Retry-After"] != nil)
        #expect(try sidecar.admin("GET", "/").status == 200 && sidecar.admin("GET", "/healthz").status == 200)
        #expect(try sidecar.get().status == 200)
        for looker in lookers { looker.wire.close() }
        try eventually("those who have gone to look no more") {
            let client = try RawClient(to: sidecar.bearerd.admin)
            try client.send("GET", "/api/events")
            return try client.wire.readHead()?.status == 200
        }
    }

    @Test func `shows nothing to pages of other sites`() throws {
        let sidecar = try Sidecar()
        for site in ["cross-site", "same-site"] {
            for path in ["/api/events", "/api/status", "/"] {
                let fields = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors")]
                #expect(try sidecar.admin("GET", path, fields).status == 403, "\(site) \(path)")
            }
            let link = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")]
            #expect(try sidecar.admin("GET", "/", link).status == 200)
        }
        #expect(try sidecar.admin("GET", "/api/events", [("Host", "rebound.example")]).status == 421)
        let form = try RawClient(to: sidecar.bearerd.admin).request(
            "POST", "/api/identities/default/refresh",
            [("Origin", "http://evil.example"), ("Content-Type", "application/x-www-form-urlencoded")],
            body: "")
        #expect(form.status == 403)
    }
}
