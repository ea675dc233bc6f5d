// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The configuration is read again and takes the place of the one before, without a restart.
@Suite(.blocking) struct `A reload` {
    private func configuration(of sidecar: Sidecar, _ settings: Sidecar.Settings) -> String {
        Sidecar.configuration(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory, settings)
    }

    private func write(_ settings: Sidecar.Settings, for sidecar: Sidecar) throws {
        try sidecar.directory.write("config.yaml", configuration(of: sidecar, settings))
    }

    private func reload(_ sidecar: Sidecar) throws -> RawResponse {
        try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
    }

    /// Writes other settings and has them taken over.
    private func reload(_ sidecar: Sidecar, to settings: Sidecar.Settings) throws -> RawResponse {
        try write(settings, for: sidecar)
        return try reload(sidecar)
    }

    private func route(_ path: String, to upstream: RawUpstream, identity: String = "default") -> String {
        "- {path: \(path), upstream: '\(upstream.url)', identity: \(identity)}"
    }

    @Test func `brings and takes routes, and asks for no token`() throws {
        let sidecar = try Sidecar()
        let other = try RawUpstream { _ in .ok("other") }
        try sidecar.awaitToken()
        #expect(try reload(sidecar, to: .init(moreRoutes: route("/b", to: other))).status == 200)
        #expect(try sidecar.get("/b").text == "other")
        #expect(other.tokens == sidecar.provider.accessTokens)
        #expect(try reload(sidecar, to: .init()).status == 200)
        #expect(try sidecar.get("/b").text == "hello")
        #expect(sidecar.provider.requests.count == 1)
        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_config_reloads_total", "result=\"success\"") == 2)
        #expect(metrics.sum("bearerd_requests_total", "route=\"/b\"") == 1)
        #expect(metrics.sum("bearerd_config_last_reload_success_timestamp_seconds") > 1_700_000_000)
    }

    @Test func `has the session before ask for nothing any more that nobody waits for`() throws {
        let sidecar = try Sidecar.importing()
        let settings = Sidecar.Settings(identity: "scope: other", grant: "refresh_token")
        #expect(try reload(sidecar, to: settings).status == 200)
        try sidecar.provider.request(2)
        try eventually("the token of the new scope") { try sidecar.state() == "authorized" }
        // What began the session anew takes the access token from all who had one.
        try sidecar.importSession()
        try sidecar.provider.request(3)
        try eventually("the new session") { try sidecar.state() == "authorized" }
        // Whoever else asked did so before.
        for count in 4...5 {
            #expect(try sidecar.act("refresh").status == 200)
            #expect(sidecar.provider.requests.count == count)
        }
    }

    @Test func `keeps the connections of routes that stay, to clients and to upstreams`() throws {
        let sidecar = try Sidecar()
        let other = try RawUpstream()
        let client = try sidecar.client()
        for round in 0..<5 {
            #expect(try client.request("GET", "/").status == 200)
            let routes = round % 2 == 0 ? route("/b", to: other) : ""
            #expect(try reload(sidecar, to: .init(moreRoutes: routes)).status == 200)
        }
        #expect(try client.request("GET", "/").status == 200)
        #expect(sidecar.upstream.connectionCount == 1)
    }

    @Test func `of a file with errors leaves everything as it was, and says where they are`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let answer = try reload(sidecar, to: .init(top: "wrokers: 2\nlimits: {connections: many}"))
        #expect(answer.status == 422 && answer["Content-Type"] == "application/problem+json")
        let (problem, errors) = (answer.json, answer.json["errors"].array)
        #expect(problem["code"].string == "config_invalid" && errors.count == 2)
        for error in errors {
            #expect(error["file"].string == sidecar.directory.path("config.yaml"))
            #expect(error["line"].number ?? 0 > 1 && error["column"].number ?? 0 >= 1)
        }
        #expect(errors[0]["message"].string?.contains("workers") == true)
        #expect(try sidecar.get("/").status == 200)
        try sidecar.bearerd.logLine("the error") { $0["reason"]?.contains("wrokers") == true }
        #expect(try sidecar.metrics().sum("bearerd_config_reloads_total", "result=\"failure\"") == 1)
        #expect(try reload(sidecar, to: .init()).status == 200)
    }

    @Test(arguments: [
        ("workers: 3", "workers"), ("development: {api: 127.0.0.1:0}", "development.api"),
        ("on_state_change: [/bin/true]", "on_state_change"),
    ])
    func `names what only a restart brings`(line: String, key: String) throws {
        let sidecar = try Sidecar(.init(top: "workers: 2"))
        let answer = try reload(
            sidecar, to: .init(top: line.hasPrefix("workers") ? line : "workers: 2\n" + line))
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed")
        #expect(answer.json["keys"].array.map(\.string) == [key])
        #expect(try sidecar.get("/").status == 200)
    }

    @Test func `names the key of two new listeners that somebody passes once`() throws {
        let sidecar = try Sidecar()
        let answer = try reload(sidecar, to: .init(listen: "['fd:71', 'fd:72']"))
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed", "\(answer.text)")
        #expect(answer.json["keys"].array.map(\.string) == ["listen"])
    }

    @Test func `names a store and an admin listener that changed`() throws {
        let sidecar = try Sidecar()
        let text = configuration(of: sidecar, .init(store: "type: memory"))
        try sidecar.directory.write(
            "config.yaml",
            text.replacing("admin:\n  listen: 127.0.0.1:0", with: "admin:\n  listen: 127.0.0.1:1"))
        let answer = try reload(sidecar)
        #expect(answer.status == 422)
        #expect(answer.json["keys"].array.map(\.string) == ["store", "admin.listen"])
    }

    @Test func `adds and removes listeners, and closes none that stays`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init(listen: "[127.0.0.1:0, 127.0.0.1:0]")).status == 200)
        let second = try sidecar.bearerd.address(of: .proxy, 1)
        let guest = try RawClient(to: second)
        #expect(try guest.request("GET", "/").status == 200)
        #expect(try client.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init()).status == 200)
        #expect(try client.request("GET", "/").status == 200)
        let last = try guest.request("GET", "/")
        #expect(last.status == 200 && last["Connection"] == "close")
        #expect(throws: (any Error).self) { try RawClient(to: second).request("GET", "/") }
    }

    @Test func `has an identity with another scope ask for a token, and no other one`() throws {
        let sidecar = try Sidecar(.init(identity: "scope: one"))
        try sidecar.awaitToken()
        #expect(try reload(sidecar, to: .init(identity: "scope: two")).status == 200)
        try eventually("a token of the other scope") {
            try sidecar.get("/").status == 200
                && sidecar.upstream.tokens.last == sidecar.provider.accessTokens.last
                && sidecar.provider.requests.count == 2
        }
        #expect(try sidecar.provider.request(2)["scope"] == "two")
        #expect(try reload(sidecar).status == 200)
        #expect(sidecar.provider.requests.count == 2)
    }

    @Test func `has no refresh token stand in for another scope, after a restart neither`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        provider.setPolicy { $0.givesRefreshTokens = true }
        let upstream = try RawUpstream()
        let first = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, .init(identity: "scope: one"))
        try first.awaitToken()
        for (number, scope) in [(2, "two"), (3, "three")] {
            #expect(try reload(first, to: .init(identity: "scope: \(scope)")).status == 200)
            // In use, so that nothing is under way that a refresh would wait for.
            try eventually("a token of scope \(scope)") {
                try provider.requests.count == number && first.get("/").status == 200
                    && upstream.tokens.last == provider.accessTokens.last
            }
            let request = try provider.request(number)
            #expect(request.grant == "client_credentials" && request["scope"] == scope)
        }
        #expect(try first.act("refresh").status == 200)
        #expect(try provider.request(4).grant == "refresh_token", "what was granted for it is refreshed")
        #expect(try first.bearerd.terminate() == .exited(0))
        let second = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, .init(identity: "scope: four"))
        try second.awaitToken()
        let last = try provider.request(5)
        #expect(last.grant == "client_credentials" && last["scope"] == "four")
    }

    @Test func `brings and takes identities`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let identity = """
            second:
              issuer: \(sidecar.provider.issuer)
              client_id: other
              client_secret: \(sidecar.clientSecret)
              grant_type: client_credentials
            """
        let upstream = try RawUpstream()
        let both = Sidecar.Settings(
            moreRoutes: route("/b", to: upstream, identity: "second"), moreIdentities: identity)
        #expect(try reload(sidecar, to: both).status == 200)
        #expect(try sidecar.get("/b").status == 200)
        #expect(sidecar.provider.requests.count == 2 && upstream.tokens == [sidecar.provider.accessTokens[1]])
        func names() throws -> [String?] {
            try sidecar.admin("GET", "/api/status").json["identities"].array.map { $0["name"].string }
        }
        #expect(try names() == ["default", "second"])
        #expect(try reload(sidecar, to: .init()).status == 200)
        #expect(try names() == ["default"])
    }

    @Test func `takes over access, limits and the log`() throws {
        let sidecar = try Sidecar()
        let client = try sidecar.client()
        #expect(try client.request("POST", "/", body: "12345").status == 200)
        let top = "limits: {body_bytes: 4}\naccess: {key: local-fake-key}\nlog: {access: false}"
        #expect(try reload(sidecar, to: .init(top: top)).status == 200)
        #expect(try client.request("GET", "/").status == 403)
        let key = [("X-Bearerd-Key", "local-fake-key")]
        #expect(try client.request("GET", "/", key).status == 200)
        #expect(try sidecar.client().request("POST", "/", key, body: "12345").status == 413)
        #expect(try reload(sidecar).status == 200)
        try sidecar.bearerd.logLine("the second reload") { $0["count"] == "2" }
        #expect(sidecar.bearerd.logLines.count { $0.message == "request" } == 1)
    }

    @Test func `that mends an identity mends what the log says of it`() throws {
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        provider.always { _, _ in .oauthError("invalid_scope") }
        #expect(try reload(sidecar, to: .init(identity: "scope: wrong")).status == 200)
        try sidecar.bearerd.logLine("the trouble") { $0["state"] == "misconfigured" }
        provider.behave()
        #expect(try reload(sidecar, to: .init(identity: "scope: right")).status == 200)
        try sidecar.bearerd.logLine("the end of it") {
            $0["previous_state"] == "misconfigured" && $0["state"] == "authorized"
        }
    }

    @Test(arguments: [SIGHUP]) func `follows a signal`(signal: Int32) throws {
        let sidecar = try Sidecar()
        let other = try RawUpstream { _ in .ok("other") }
        try write(.init(moreRoutes: route("/b", to: other)), for: sidecar)
        sidecar.bearerd.process.signal(signal)
        try sidecar.bearerd.logLine("the reload") { $0.message == "configuration reloaded" }
        #expect(try sidecar.get("/b").text == "other")
    }

    @Test func `follows the file where it is watched, replaced or written in place`() throws {
        let sidecar = try Sidecar(.init(top: "reload: watch"))
        for (index, isRenamed) in [true, false].enumerated() {
            let other = try RawUpstream { _ in .ok("other \(index)") }
            let text = configuration(
                of: sidecar, .init(top: "reload: watch", moreRoutes: route("/b", to: other)))
            if isRenamed {
                let new = try sidecar.directory.write("new.yaml", text)
                rename(new, sidecar.directory.path("config.yaml"))
            } else {
                try sidecar.directory.write("config.yaml", text)
            }
            try eventually("the new route") { try sidecar.get("/b").text == "other \(index)" }
        }
    }

    @Test func `is one at a time, however many ask, and none during a drain`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { _ in Reply.ok().held(by: gate) }
        let sidecar = try Sidecar(upstream: upstream)
        let answers = try concurrently(10) { _ in try reload(sidecar).status }
        #expect(answers.allSatisfy { $0 == 200 })
        let client = try sidecar.client()
        try client.send("GET", "/")
        try upstream.request()
        sidecar.bearerd.process.signal(SIGTERM)
        try sidecar.bearerd.logLine("the drain") { $0.message == "draining" }
        let refused = try reload(sidecar)
        #expect(refused.status == 503 && refused.json["code"].string == "draining")
        #expect(try sidecar.admin("GET", "/api/status").json["draining"] == .bool(true))
        gate.open()
        #expect(try client.wire.readResponse().status == 200)
    }

    @Test func `ends the streams of a route that is gone after a while, and finishes its other answers`()
        throws
    {
        let gate = Gate()
        let upstream = try RawUpstream { request in
            guard request.head.target == "/b/events" else { return Reply.ok("whole").held(by: gate) }
            return Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let top = "shutdown: {stream_close_delay: 100ms}"
        let sidecar = try Sidecar(.init(top: top, moreRoutes: route("/b", to: upstream)))
        let (stream, answer) = (try sidecar.client(), try sidecar.client())
        try stream.send("GET", "/b/events")
        #expect(try stream.wire.readHead()?.status == 200)
        try answer.send("GET", "/b/answer")
        try upstream.request(2)
        #expect(try reload(sidecar, to: .init(top: top)).status == 200)
        _ = try? stream.wire.readToEnd()
        gate.open()
        #expect(try answer.wire.readResponse().text == "whole")
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "route_gone" }
    }

    @Test func `that only edits a route lets its streams go on`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { request in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                if request.head.target == "/b/events" {
                    try gate.pass()
                    try wire.send("data: 2\n\n")
                    return false
                }
                return try wire.endsCleanly()
            }
        }
        let top = "shutdown: {stream_close_delay: 50ms}"
        let (edited, gone) = (route("/b", to: upstream), route("/c", to: upstream))
        let sidecar = try Sidecar(.init(top: top, moreRoutes: edited + "\n" + gone))
        let (kept, cut) = (try sidecar.client(), try sidecar.client())
        try kept.send("GET", "/b/events", [("Connection", "close")])
        #expect(try kept.wire.readHead()?.status == 200)
        try cut.send("GET", "/c/events")
        #expect(try cut.wire.readHead()?.status == 200)
        let routes = edited.replacing("{path", with: "{methods: [GET, POST], path")
        #expect(try reload(sidecar, to: .init(top: top, moreRoutes: routes)).status == 200)
        _ = try? cut.wire.readToEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "route_gone" }
        gate.open()
        #expect(try String(decoding: kept.wire.readToEnd(), as: UTF8.self).contains("data: 2"))
    }

    @Test func `calls of gRPC whose route is gone end too, and are counted before`() throws {
        let upstream = try HTTP2Upstream { peer, event, stream in
            guard event == .head else { return }
            let fields = [(":status", "200"), ("content-type", "application/grpc")]
            try peer.send(.head(fields, stream: stream.id, endsStream: false))
        }
        let top = "shutdown: {stream_close_delay: 50ms}"
        let sidecar = try HTTP2Route.sidecar(upstream, top: top)
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let call = try client.begin(
            "POST", "/h2/watch", [("content-type", "application/grpc"), ("te", "trailers")])
        #expect(try client.head(on: call)[":status"] == "200")
        let routes = try sidecar.admin("GET", "/api/status").json["routes"].array
        #expect(routes.first { $0["path"].string == "/h2" }?["open_streams"].number == 1)
        #expect(try reload(sidecar, to: .init(top: "workers: 1\n" + top)).status == 200)
        let end = try client.answer(on: call)
        #expect(end.resetCode == nil && end.trailers["grpc-status"] == "12", "\(end)")
        try sidecar.bearerd.logLine("the call's end") { $0["code"] == "route_gone" }
    }

    @Test func `ends the streams of a protocol that its listener no longer speaks`() throws {
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                return try wire.endsCleanly()
            }
        }
        let top = "shutdown: {stream_close_delay: 50ms}"
        let sidecar = try Sidecar(upstream: upstream, .init(top: top))
        let client = try HTTP2Client(to: sidecar.bearerd.proxy)
        let stream = try client.begin("GET", "/events")
        #expect(try client.head(on: stream)[":status"] == "200")
        let listen = "{address: 127.0.0.1:0, protocols: [http1]}"
        #expect(try reload(sidecar, to: .init(top: top, listen: listen)).status == 200)
        try client.awaitEnd()
        try sidecar.bearerd.logLine("the stream's end") { $0["code"] == "route_gone" }
    }

    @Test func `tells idle connections of HTTP2 at once that their listener is gone`() throws {
        let sidecar = try Sidecar()
        let stays = try HTTP2Client(to: sidecar.bearerd.proxy)
        #expect(try stays.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init(listen: "[127.0.0.1:0, 127.0.0.1:0]")).status == 200)
        let guest = try HTTP2Client(to: sidecar.bearerd.address(of: .proxy, 1))
        #expect(try guest.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init()).status == 200)
        let goaway = try #require(try guest.goaway())
        #expect(goaway.number(at: 4) == 0)
        try guest.awaitEnd()
        #expect(try stays.request("GET", "/").status == 200)
        #expect(!stays.frames.contains { $0.kind == .goaway })
    }
}
