// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The admin listener: health, readiness, metrics, status and actions.
@Suite(.blocking) struct `The admin listener` {
    @Test func `says ok at healthz, whatever the Host`() throws {
        let sidecar = try Sidecar()
        let answer = try sidecar.admin("GET", "/healthz", [("Host", "10.1.2.3:9090")])
        #expect(answer.status == 200 && answer.text.hasPrefix("ok"))
        #expect(try sidecar.admin("GET", "/readyz", [("Host", "10.1.2.3:9090")]).status != 421)
        #expect(try sidecar.admin("GET", "/metrics", [("Host", "10.1.2.3:9090")]).status == 200)
        #expect(try sidecar.admin("GET", "/api/status", [("Host", "evil.test")]).status == 421)
    }

    @Test func `is ready when every identity that a route names has a token`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens().held(by: gate) })
        let sidecar = try Sidecar(provider: provider)
        try provider.request(1)
        let waiting = try sidecar.admin("GET", "/readyz")
        #expect(waiting.status == 503 && waiting.json != .null && waiting.text.contains("default"))
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        gate.open()
        try eventually("readiness") { try sidecar.admin("GET", "/readyz").status == 200 }
    }

    @Test func `tells the readiness of one route`() throws {
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                moreRoutes: "- path: /other\n  upstream: http://127.0.0.1:1\n  identity: other",
                moreIdentities: """
                    other:
                      token_endpoint: \(provider.issuer)/nowhere
                      client_id: a
                      client_secret: b
                      grant_type: client_credentials
                    """))
        try sidecar.awaitToken()
        #expect(try sidecar.admin("GET", "/readyz?route=/").status == 200)
        #expect(try sidecar.admin("GET", "/readyz?route=/other").status == 503)
        #expect(try sidecar.admin("GET", "/readyz?route=%2Fother").status == 503)
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        #expect(try sidecar.admin("GET", "/readyz?any").status == 200, "one route can serve")
        #expect(try sidecar.admin("GET", "/readyz?any&route=/other").status == 503)
    }

    @Test func `is ready for any route where no route has a token only if one needs none`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in Reply.json(#"{"error": "invalid_client"}"#, status: 400) }
        func sidecar(_ route: String) throws -> Sidecar {
            try Sidecar(
                provider: provider,
                .init(moreRoutes: "- {path: /b, upstream: 'http://127.0.0.1:1', \(route)}"))
        }
        let (all, open) = (try sidecar("identity: default"), try sidecar("identity: none"))
        for one in [all, open] { try eventually("the refusal") { try one.state() == "misconfigured" } }
        let answer = try all.admin("GET", "/readyz?any")
        #expect(answer.status == 503 && answer.text.contains("misconfigured"))
        #expect(try open.admin("GET", "/readyz?any").status == 200)
        #expect(try open.admin("GET", "/readyz").status == 503)
    }

    @Test func `shows the identities, and no token, at api status`() throws {
        let sidecar = try Sidecar(.init(identity: "scope: [openid, profile]"))
        _ = try sidecar.get()
        let answer = try sidecar.admin("GET", "/api/status")
        let status = answer.json
        #expect(answer.status == 200 && answer["Content-Type"]?.hasPrefix("application/json") == true)
        #expect(status["version"].string?.isEmpty == false && status["uptime_seconds"].number ?? -1 >= 0)
        let identity = status["identities"][0]
        #expect(identity["name"].string == "default" && identity["state"].string == "authorized")
        #expect(identity["generation"].number == 1 && identity["expires_at"] != .null)
        #expect(identity["last_refresh"] != .null && identity["last_error"] == .null)
        #expect(identity.object.keys.contains("scope"))
        #expect(status["routes"].array.count == 1 && status["requests"] != .null)
        #expect(
            LeakScan.leaks(of: sidecar.provider.handedOut + [sidecar.clientSecret], in: answer.text).isEmpty)
    }

    @Test func `shows the last error`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .oauthError("invalid_client", status: 401) }
        let sidecar = try Sidecar(provider: provider)
        try provider.request(1)
        try eventually("the error") { try sidecar.state() == "misconfigured" }
        #expect(try "\(sidecar.identityStatus()["last_error"])".contains("invalid_client"))
    }

    @Test(arguments: [nil, "300"])
    func `tells of a token that serves, and cannot be had again`(lifetime: String?) throws {
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens(expiresIn: lifetime) })
        provider.always { _, _ in .oauthError("invalid_client", status: 401) }
        let sidecar = try Sidecar(provider: provider)
        #expect(try sidecar.get().status == 200)
        let state = { try sidecar.identityStatus()["state"].string }
        #expect(try sidecar.act("refresh").status == 503)
        try eventually("the error") { try state() == "misconfigured" }
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.identityStatus()["token_usable"] == .bool(true))
        #expect(try sidecar.metrics().sum("bearerd_token_usable", #"identity="default""#) == 1)
        #expect(try sidecar.admin("GET", "/").text.contains("Has a token, which cannot be renewed"))
        _ = try sidecar.act("invalidate")
        try eventually("no token") {
            try sidecar.metrics().sum("bearerd_token_usable", #"identity="default""#) == 0
        }
        #expect(try sidecar.identityStatus()["token_usable"] == .null)
    }

    @Test func `has every metric of the contract`() throws {
        let sidecar = try Sidecar()
        for _ in 0..<3 { _ = try sidecar.get() }
        _ = try sidecar.get("/", [("Host", "evil.test")])
        let answer = try sidecar.admin("GET", "/metrics")
        #expect(answer["Content-Type"]?.hasPrefix("text/plain") == true)
        let metrics = Metrics(parsing: answer.text)
        for name in [
            "bearerd_build_info", "bearerd_requests_total", "bearerd_request_duration_seconds",
            "bearerd_upstream_connections", "bearerd_token_requests_total",
            "bearerd_token_expiry_timestamp_seconds", "bearerd_token_usable",
            "bearerd_identity_state", "bearerd_identity_routes", "bearerd_authorization_errors_total",
            "bearerd_replays_total",
            "bearerd_denied_total", "bearerd_open_connections", "process_resident_memory_bytes",
            "process_cpu_seconds_total", "process_open_fds", "process_start_time_seconds",
        ] {
            #expect(metrics.typed.contains(name), "\(name)")
        }
        let starts = try (0..<20).map { _ in try sidecar.metrics().sum("process_start_time_seconds") }
        #expect(Set(starts).count == 1, "a process starts once: \(starts)")
        #expect(metrics.sum("bearerd_requests_total", #"route="/""#, #"code="200""#) == 3)
        #expect(metrics.sum("bearerd_request_duration_seconds_count") >= 3)
        #expect(metrics.sum("bearerd_request_duration_seconds_bucket", #"le="+Inf""#) >= 3)
        #expect(metrics.sum("bearerd_denied_total", #"reason="host""#) == 1)
        #expect(
            metrics.sum(
                "bearerd_token_requests_total", #"identity="default""#, #"grant="client_credentials""#) == 1)
        #expect(metrics.sum("bearerd_token_expiry_timestamp_seconds", #"identity="default""#) > 1.7e9)
        let states = [
            "authorized", "refreshing", "authorization_error", "login_required", "misconfigured",
            "idp_unavailable",
            "empty",
        ]
        for state in states {
            let series = #"bearerd_identity_state{identity="default",state="\#(state)"}"#
            #expect(metrics.series[series] == (state == "authorized" ? 1 : 0), "\(state)")
        }
    }

    @Test func `counts replays and authorization errors`() throws {
        let upstream = try RawUpstream { request in
            request["Authorization"]?.contains("access-1.") == true ? .unauthorized : .ok()
        }
        let sidecar = try Sidecar(upstream: upstream)
        #expect(try sidecar.get().status == 200)
        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_replays_total", #"route="/""#) == 1)
        #expect(metrics.sum("bearerd_authorization_errors_total", #"route="/""#) == 1)
    }

    @Test func `acts only with X-Bearerd-Admin and an Origin of its own or none`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let target = "/api/identities/default/refresh"
        let host = "\(try sidecar.bearerd.admin)"
        let header = ("X-Bearerd-Admin", "1")
        #expect(try sidecar.admin("POST", target).status == 403)
        #expect(try sidecar.admin("POST", target, [header, ("Origin", "http://evil.test")]).status == 403)
        #expect(try sidecar.admin("POST", target, [header, ("Origin", "null")]).status == 403)
        #expect(try sidecar.admin("POST", target, [header, ("Host", "evil.test")]).status == 421)
        #expect(try sidecar.admin("GET", target, [header]).status == 405)
        #expect(sidecar.provider.requests.count == 1)
        #expect(try sidecar.admin("POST", target, [header, ("Origin", "http://\(host)")]).status < 300)
        #expect(try sidecar.admin("POST", target, [header]).status < 300)
        #expect(sidecar.provider.requests.count == 3)
        #expect(try sidecar.admin("POST", "/api/identities/nobody/refresh", [header]).status == 404)
        #expect(try sidecar.admin("GET", "/nowhere").status == 404)
    }

    @Test func `answers problem documents too`() throws {
        let answer = try Sidecar().admin("GET", "/nowhere")
        #expect(answer["Content-Type"]?.hasPrefix("application/problem+json") == true)
        #expect(answer.json["status"].number == 404)
    }

    @Test func `is never on the data port`() throws {
        let sidecar = try Sidecar()
        #expect(try sidecar.get("/healthz").text == "hello")
        #expect(try sidecar.get("/api/status").text == "hello")
    }
}
