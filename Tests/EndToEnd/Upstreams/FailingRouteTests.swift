// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Synchronization
import Testing

/// What is told of a route most of whose answers fail.
@Suite(.blocking) struct `A route that fails` {
    private static let scope = Reply.response(
        403,
        [
            (
                "WWW-Authenticate",
                #"Bearer error="insufficient_scope", error_description="orders need more", scope="orders:write""#
            )
        ])

    private func route(_ sidecar: Sidecar, _ path: String = "/") throws -> TestJSON {
        try sidecar.admin("GET", "/api/status").json["routes"].array.first { $0["path"].string == path }
            ?? .null
    }

    private func lines(_ sidecar: Sidecar, _ message: String) -> [BearerdProcess.LogLine] {
        sidecar.bearerd.logLines.filter { $0.message == message }
    }

    private func gauge(_ sidecar: Sidecar, _ path: String = "/") throws -> Double? {
        try sidecar.metrics().series["bearerd_route_failing{route=\"\(path)\"}"]
    }

    @Test func `is told on the page, in the status, in the log and by a metric, and so is its end`() throws {
        let sidecar = try Sidecar(
            upstream: RawUpstream { _ in .response(502, [], "broken") }, .init(top: "workers: 3"))
        try sidecar.awaitToken()
        #expect(try gauge(sidecar) == 0)
        for _ in 0..<2 { #expect(try sidecar.get().status == 502) }
        try eventually("two answers to be counted") {
            try route(sidecar)["requests"].number == 2
        }
        #expect(try route(sidecar)["upstream_state"].string == "ok" && gauge(sidecar) == 0)
        for _ in 0..<8 { #expect(try sidecar.get().status == 502) }
        let warning = try sidecar.bearerd.logLine("the warning") { $0.message == "the route fails" }
        #expect(warning["level"] == "warning" && warning["route"] == "/" && warning["status"] == "502")
        #expect(warning["upstream"] == sidecar.upstream.authority, "\(warning.json)")
        try eventually("ten answers to be counted") {
            try route(sidecar)["reason"].string
                == "10 of 10 answers in the last minute failed, lately with 502 from the upstream"
        }
        #expect(try route(sidecar)["upstream_state"].string == "failing" && gauge(sidecar) == 1)
        let page = try sidecar.admin("GET", "/").text
        #expect(page.contains("Routes that fail:</strong> /") && !page.contains("All is well"))

        sidecar.upstream.answer { _ in .ok() }
        for _ in 0..<31 { #expect(try sidecar.get().status == 200) }
        let notice = try sidecar.bearerd.logLine("the notice") { $0.message == "the route fails no more" }
        #expect(notice["level"] == "notice" && notice["route"] == "/")
        #expect(notice["reason"]?.hasPrefix("10 of 4") == true, "\(notice.json)")
        #expect(try route(sidecar)["upstream_state"].string == "ok" && gauge(sidecar) == 0)
        #expect(try sidecar.admin("GET", "/").text.contains("All is well"))
        #expect(
            lines(sidecar, "the route fails").count == 1
                && lines(sidecar, "the route fails no more").count == 1)
    }

    @Test func `is not confused with another one of its path`() throws {
        let (holder, refusing) = try Socket.refusing()
        defer { withExtendedLifetime(holder) {} }
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(
                moreRoutes: """
                    - {path: /m, methods: [GET], upstream: "\(upstream.url)", identity: none}
                    - {path: /m, methods: [POST], upstream: "http://\(refusing)", identity: none}
                    - {path: /m, host: dead.test, upstream: "http://\(refusing)", identity: none}
                    """))
        for _ in 0..<30 {
            #expect(try sidecar.client().request("POST", "/m", body: "").status == 502)
        }
        for _ in 0..<3 { #expect(try sidecar.get("/m").status == 200) }
        func states() throws -> [String: String] {
            let routes = try sidecar.admin("GET", "/api/status").json["routes"].array
            return Dictionary(
                routes.filter { $0["path"].string == "/m" }.map {
                    (
                        $0["host"].string ?? $0["methods"][0].string ?? "",
                        $0["upstream_state"].string ?? ""
                    )
                }
            ) { one, _ in one }
        }
        try eventually("the state of each") {
            try states() == ["GET": "ok", "POST": "failing", "dead.test": "unknown"]
        }
        #expect(try gauge(sidecar, "/m") == 1, "a metric's name is the path")
        let page = try sidecar.admin("GET", "/").text
        #expect(page.contains("Routes that fail:</strong> /m (POST). "))
        let file = try sidecar.directory.fileAsking(sidecar.bearerd.admin)
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(status.output.contains("routes that fail:\n  /m (POST)  http://\(refusing)  "), "\(status)")
        #expect(!status.output.contains("/m (GET)") && !status.output.contains("dead.test"), "\(status)")
        let doctor = try BearerdProcess.command("doctor", "--check", "daemon", "-c", file)
        #expect(doctor.output.contains("/m (POST) at http://\(refusing)"), "\(doctor)")
        #expect(!doctor.output.contains("/m (GET)") && !doctor.output.contains("dead.test"), "\(doctor)")
    }

    @Test func `has the upstream's own words about the token, and whom that is for`() throws {
        let provider = try HostileProvider()
        // {"alg":"none"} and {"aud":["account","other"]}: no signature is looked at.
        let token = "eyJhbGciOiJub25lIn0.eyJhdWQiOlsiYWNjb3VudCIsIm90aGVyIl19.c2ln"
        provider.always { _, _ in
            .json(#"{"access_token":"\#(token)","token_type":"Bearer","expires_in":300}"#)
        }
        let sidecar = try Sidecar(provider: provider, upstream: RawUpstream { _ in Self.scope })
        for _ in 0..<3 { #expect(try sidecar.get().status == 403) }
        let warning = try sidecar.bearerd.logLine("the warning") { $0.message == "the route fails" }
        #expect(warning["status"] == "403" && warning["error"] == "insufficient_scope")
        #expect(warning["error_description"] == "orders need more" && warning["scope"] == "orders:write")
        #expect(warning["identity"] == "default" && warning["audience"] == "account other")
        #expect(
            try sidecar.metrics().sum("bearerd_authorization_errors_total", "error=\"insufficient_scope\"")
                == 3)
        let reason = try route(sidecar)["reason"].string ?? ""
        #expect(reason.contains("lately with 403 from the upstream: insufficient_scope"), "\(reason)")
        #expect(!sidecar.bearerd.log.contains(token) && !reason.contains(token))
        #expect(provider.requests.count == 1, "no refresh mends a scope")
    }

    @Test func `is one that refuses each token, and its upstream was asked`() throws {
        let refusal = Reply.response(
            401, [("WWW-Authenticate", #"Bearer error="invalid_token", error_description="wrong audience""#)])
        let sidecar = try Sidecar(upstream: RawUpstream { _ in refusal })
        for _ in 0..<2 { #expect(try sidecar.get().status == 401) }
        #expect(try route(sidecar)["upstream_state"].string == "ok")
        let line = try sidecar.bearerd.logLine("the refusal") {
            $0.message == "the upstream refused the token"
        }
        #expect(line["error"] == "invalid_token" && line["error_description"] == "wrong audience")
        #expect(try sidecar.get().status == 401)
        try eventually("three answers to be judged") {
            try route(sidecar)["upstream_state"].string == "failing"
        }
    }

    @Test func `shows no secret that an upstream repeats`() throws {
        let upstream = try RawUpstream { request in
            let token = (request["Authorization"] ?? "").split(separator: " ").last ?? ""
            return .response(
                403, [("WWW-Authenticate", "Bearer error_description=\"\(token)\", scope=\"\(token)\"")])
        }
        let sidecar = try Sidecar(upstream: upstream)
        for _ in 0..<3 { #expect(try sidecar.get().status == 403) }
        _ = try sidecar.bearerd.logLine("the warning") { $0.message == "the route fails" }
        let told = try sidecar.bearerd.log + sidecar.admin("GET", "/api/status").text
        for token in sidecar.provider.accessTokens { #expect(!told.contains(token)) }
    }

    @Test func `is none where the client's own mistakes fill the minute`() throws {
        let upstream = try RawUpstream { request in
            switch request.head.target {
            case "/own": .unauthorized
            case "/forbidden": .response(403)
            default: .response(404)
            }
        }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(moreRoutes: "- {path: /own, upstream: '\(upstream.url)', identity: none}"))
        for _ in 0..<4 {
            #expect(try sidecar.get("/own").status == 401)
            #expect(try sidecar.get("/forbidden").status == 403)
            #expect(try sidecar.get("/missing").status == 404)
        }
        try eventually("all to be counted") { try route(sidecar)["requests"].number == 8 }
        #expect(try gauge(sidecar) == 0 && gauge(sidecar, "/own") == 0)
        #expect(lines(sidecar, "the route fails").isEmpty)
    }

    @Test func `is one whose answers break off, or that nobody answers`() throws {
        let nobody = try Socket.refusing()
        let upstream = try RawUpstream { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", thenClose: true)
        }
        let sidecar = try Sidecar(
            upstream: upstream,
            .init(moreRoutes: "- {path: /dead, upstream: 'http://\(nobody.address)', identity: none}"))
        for _ in 0..<3 {
            _ = try? sidecar.get("/")
            #expect(try sidecar.get("/dead").status == 502)
        }
        try eventually("both to fail") { try gauge(sidecar) == 1 && gauge(sidecar, "/dead") == 1 }
        #expect(try route(sidecar, "/dead")["reason"].string?.contains("502: connection refused") == true)
        #expect(try route(sidecar)["reason"].string?.contains("broke off") == true)
    }

    @Test func `is told of no more when a reload has taken it away`() throws {
        let nobody = try Socket.refusing()
        let sidecar = try Sidecar(
            .init(moreRoutes: "- {path: /dead, upstream: 'http://\(nobody.address)', identity: none}"))
        for _ in 0..<3 { #expect(try sidecar.get("/dead").status == 502) }
        _ = try sidecar.bearerd.logLine("the warning") { $0.message == "the route fails" }
        try Sidecar.file(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory)
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        let notice = try sidecar.bearerd.logLine("the notice") { $0.message == "the route fails no more" }
        #expect(notice["reason"]?.contains("a reload has taken the route away") == true)
        #expect(try gauge(sidecar, "/dead") == nil && gauge(sidecar) == 0)
    }
}
