// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A 401 marks an authorization error, then one forced refresh and one replay.
@Suite(.blocking) struct `A 401 from the upstream` {
    /// An upstream that refuses the tokens of which `isRefused` says so.
    private func upstream(refusing isRefused: @escaping @Sendable (String) -> Bool) throws -> RawUpstream {
        try RawUpstream { request in
            isRefused(request["Authorization"] ?? "") ? .unauthorized : .ok(request.text)
        }
    }

    private static let isFirst: @Sendable (String) -> Bool = { $0.contains("access-1.") }

    @Test func `causes one refresh and one replay, and the client sees only the second answer`() throws {
        let sidecar = try Sidecar(upstream: upstream(refusing: Self.isFirst))
        let client = try sidecar.client()
        #expect(try client.request("GET", "/a?b").status == 200)
        #expect(
            sidecar.upstream.tokens == sidecar.provider.accessTokens && sidecar.upstream.tokens.count == 2)
        #expect(sidecar.upstream.requests.map(\.head.target) == ["/a?b", "/a?b"])
        #expect(try sidecar.state() == "authorized")
        for _ in 0..<3 { #expect(try client.request("GET", "/").status == 200) }
        #expect(sidecar.provider.requests.count == 2)
    }

    @Test func `refreshes with the refresh token where there is one`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider, upstream: upstream(refusing: Self.isFirst))
        #expect(try sidecar.get().status == 200)
        #expect(provider.requests.map(\.grant) == ["client_credentials", "refresh_token"])
    }

    @Test func `replays a body that fits in replay_buffer, with Content-Length and in chunks`() throws {
        let sidecar = try Sidecar(upstream: upstream(refusing: Self.isFirst))
        let body = String(repeating: "0123456789abcdef", count: 4000)
        #expect(try sidecar.client().request("POST", "/", body: body).text == body)
        #expect(sidecar.upstream.requests.map(\.text) == [body, body])

        let chunked = try Sidecar(upstream: upstream(refusing: Self.isFirst))
        let answer = try chunked.client().exchange(
            "POST / HTTP/1.1\r\nHost: \(try chunked.bearerd.proxy)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
        #expect(answer.text == "hello world")
        #expect(chunked.upstream.requests.map(\.text) == ["hello world", "hello world"])
    }

    @Test func `passes through when the body is larger, and the next request refreshes first`() throws {
        let sidecar = try Sidecar(
            upstream: upstream(refusing: Self.isFirst), .init(route: "replay_buffer: 1KiB"))
        let body = String(repeating: "x", count: 5000)
        let first = try sidecar.client().request("POST", "/", body: body)
        #expect(first.status == 401 && first.text == "who are you?")
        #expect(first["WWW-Authenticate"] == #"Bearer realm="api", error="invalid_token""#)
        #expect(sidecar.provider.requests.count == 1)
        #expect(try sidecar.client().request("POST", "/", body: body).status == 200)
        #expect(sidecar.upstream.requests.count == 2 && sidecar.provider.requests.count == 2)
    }

    @Test func `a second 401 goes through untouched`() throws {
        let sidecar = try Sidecar(upstream: upstream { _ in true })
        let answer = try sidecar.get()
        #expect(answer.status == 401 && answer.text == "who are you?")
        #expect(answer["WWW-Authenticate"] == #"Bearer realm="api", error="invalid_token""#)
        #expect(answer["Proxy-Status"] == nil && sidecar.upstream.requests.count == 2)
        #expect(try sidecar.state() == "authorization_error")
        #expect(
            try sidecar.identityStatus()["last_error"]["detail"].string
                == "'/' answered 401 to the newest access token: invalid_token")
    }

    @Test func `goes through where the refresh brings the same token again`() throws {
        let sidecar = try Sidecar(upstream: upstream { _ in true })
        try sidecar.awaitToken()
        let token = try #require(sidecar.provider.accessTokens.first)
        sidecar.provider.always { _, _ in
            .json(#"{"access_token":"\#(token)","token_type":"Bearer","expires_in":300}"#)
        }
        for count in 1...3 {
            let answer = try sidecar.get()
            #expect(answer.status == 401 && answer.text == "who are you?")
            #expect(sidecar.upstream.requests.count == count && sidecar.provider.requests.count == 2)
        }
        #expect(try sidecar.state() == "authorization_error")
        #expect(try sidecar.metrics().sum("bearerd_replays_total") == 0)
    }

    @Test func `an upstream that always says 401 causes at most one forced refresh in 10 s`() throws {
        let sidecar = try Sidecar(upstream: upstream { _ in true })
        let start = ContinuousClock.now
        _ = try concurrently(8) { _ in
            let client = try sidecar.client()
            for _ in 0..<20 { #expect(try client.request("GET", "/").status == 401) }
            return true
        }
        let tens = Int((ContinuousClock.now - start) / .seconds(10))
        #expect(sidecar.provider.requests.count <= 2 + tens)
        #expect(try sidecar.metrics().sum("bearerd_authorization_errors_total") > 0)
        #expect(try sidecar.admin("GET", "/readyz").status == 200, "an unexpired token is still a token")
    }

    @Test func `the error heals when the upstream accepts the newest token`() throws {
        let sidecar = try Sidecar(upstream: upstream { _ in true })
        #expect(try sidecar.get().status == 401)
        #expect(try sidecar.state() == "authorization_error")
        #expect(
            try sidecar.metrics().sum("bearerd_authorization_errors_total") == 2, "and the one of the replay")
        sidecar.upstream.answer { _ in .response(404) }
        #expect(try sidecar.get().status == 404)
        #expect(try sidecar.state() == "authorized")
        #expect(sidecar.provider.requests.count == 2)
    }

    @Test func `a token that is refused soon after a replay waits for the end of the hold-off, then heals`()
        throws
    {
        let revoked = Monitor<Set<String>>([])
        let sidecar = try Sidecar(upstream: upstream { token in revoked.withLock { $0.contains(token) } })
        func revoke() { revoked.withLock { $0 = Set(sidecar.provider.accessTokens.map { "Bearer \($0)" }) } }
        #expect(try sidecar.get().status == 200)
        revoke()
        let start = ContinuousClock.now
        #expect(try sidecar.get().status == 200, "replayed")
        revoke()
        #expect(try sidecar.get().status == 401)
        try sidecar.provider.request(3)
        #expect(ContinuousClock.now - start > .seconds(9.5), "without traffic")
        try eventually("the new token") { try sidecar.get().status == 200 }
        #expect(sidecar.provider.requests.count == 3)
    }

    @Test func `soon after a replay waits for a renewal that is under way: some providers revoke at once`()
        throws
    {
        let revoked = Monitor<Set<String>>([])
        let sidecar = try Sidecar(upstream: upstream { token in revoked.withLock { $0.contains(token) } })
        func revoke() { revoked.withLock { $0 = Set(sidecar.provider.accessTokens.map { "Bearer \($0)" }) } }
        #expect(try sidecar.get().status == 200)
        revoke()
        #expect(try sidecar.get().status == 200, "replayed")
        let gate = Gate()
        sidecar.provider.always { _, provider in provider.tokens().held(by: gate) }
        revoke()
        let renewal = Background { try sidecar.act("refresh").status }
        try sidecar.provider.request(3)
        let answer = Background { try sidecar.get().status }
        try eventually("the refusal") { try sidecar.metrics().sum("bearerd_authorization_errors_total") == 2 }
        gate.open()
        #expect(try answer.value() == 200)
        #expect(try renewal.value() < 300)
        #expect(sidecar.provider.requests.count == 3)
    }

    @Test func `a 401 for an older token harms no newer one`() throws {
        let gate = Gate()
        let upstream = try RawUpstream { request in
            request.head.target == "/old" && Self.isFirst(request["Authorization"] ?? "")
                ? .unauthorized.held(by: gate) : .ok()
        }
        let sidecar = try Sidecar(upstream: upstream)
        let old = Background { try sidecar.get("/old") }
        try upstream.request(1)
        #expect(try sidecar.act("refresh").status < 300)
        #expect(try sidecar.get("/new").status == 200)
        gate.open()
        #expect(try old.value().status == 200, "it is replayed with the newer token")
        #expect(sidecar.provider.requests.count == 2, "without another refresh")
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `many at once cause one refresh`() throws {
        let sidecar = try Sidecar(upstream: upstream(refusing: Self.isFirst))
        let answers = try concurrently(50) { _ in try sidecar.get().status }
        #expect(answers.allSatisfy { $0 == 200 })
        #expect(sidecar.provider.requests.count == 2)
    }

    @Test func `when the forced refresh fails the unexpired token is sent on`() throws {
        let sidecar = try Sidecar(upstream: upstream(refusing: Self.isFirst))
        try sidecar.awaitToken()
        sidecar.provider.always { _, _ in .response(500) }
        #expect(try sidecar.get().status == 401)
        sidecar.upstream.answer { _ in .ok() }
        #expect(try sidecar.get().status == 200)
        #expect(Set(sidecar.upstream.tokens) == Set(sidecar.provider.accessTokens.prefix(1)))
    }

    @Test func `403 with insufficient_scope never refreshes`() throws {
        let upstream = try RawUpstream { _ in
            .response(
                403, [("WWW-Authenticate", #"Basic realm="error=x", Bearer error = "insufficient_scope""#)],
                "no")
        }
        let sidecar = try Sidecar(upstream: upstream, .init(route: "retry_on_status: [401, 403]"))
        for _ in 0..<3 { #expect(try sidecar.get().status == 403) }
        #expect(sidecar.provider.requests.count == 1 && upstream.requests.count == 3)
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `another status of retry_on_status refreshes and replays but marks nothing`() throws {
        let upstream = try RawUpstream { request in
            Self.isFirst(request["Authorization"] ?? "") ? .response(419) : .ok()
        }
        let sidecar = try Sidecar(upstream: upstream, .init(route: "retry_on_status: [401, 419]"))
        #expect(try sidecar.get().status == 200)
        #expect(sidecar.provider.requests.count == 2)
        #expect(try sidecar.metrics().sum("bearerd_authorization_errors_total") == 0)
    }

    @Test(arguments: ["[]", "[419]"])
    func `without a replay the next request refreshes first`(statuses: String) throws {
        let sidecar = try Sidecar(
            upstream: upstream(refusing: Self.isFirst), .init(route: "retry_on_status: \(statuses)"))
        #expect(try sidecar.get().status == 401)
        #expect(sidecar.upstream.requests.count == 1 && sidecar.provider.requests.count == 1)
        #expect(try sidecar.state() == "authorization_error")
        #expect(try sidecar.get().status == 200)
        #expect(sidecar.upstream.requests.count == 2 && sidecar.provider.requests.count == 2)
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `without a replay an upstream that always says 401 causes one forced refresh in 10 s too`()
        throws
    {
        let sidecar = try Sidecar(upstream: upstream { _ in true }, .init(route: "retry_on_status: []"))
        let start = ContinuousClock.now
        for _ in 0..<50 { #expect(try sidecar.get().status == 401) }
        #expect(sidecar.upstream.requests.count == 50)
        #expect(sidecar.provider.requests.count <= 2 + Int((ContinuousClock.now - start) / .seconds(10)))
    }

    @Test func `an answer to the client's own header is not ours`() throws {
        let sidecar = try Sidecar(
            upstream: upstream { $0.contains("mine") }, .init(route: "authorization: preserve"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/", [("Authorization", "Bearer mine")]).status == 401)
        #expect(sidecar.upstream.requests.count == 1 && sidecar.provider.requests.count == 1)
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `interim answers before a 401 do not hinder the replay`() throws {
        let upstream = try RawUpstream { request in
            Self.isFirst(request["Authorization"] ?? "")
                ? .raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n") : .ok()
        }
        #expect(try Sidecar(upstream: upstream).get().status == 200)
    }
}
