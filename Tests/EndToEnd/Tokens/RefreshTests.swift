// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// When tokens are renewed, and what happens to requests meanwhile.
@Suite(.blocking) struct `Tokens are renewed` {
    @Test func `in the background before they expire, without traffic`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "4" }
        let start = ContinuousClock.now
        let sidecar = try Sidecar(provider: provider)
        try provider.request(3)
        #expect(ContinuousClock.now - start > .seconds(2.5))
        #expect(try sidecar.get().status == 200)
    }

    @Test func `by 200 clients at once at expiry with one token request and no failed answer`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script(
            { _, provider in provider.tokens(expiresIn: "1") },
            { _, provider in provider.tokens().held(by: gate) })
        let sidecar = try Sidecar(provider: provider)
        try provider.request(2)
        try eventually("the first token to be gone") { try sidecar.admin("GET", "/readyz").status == 503 }
        let clients = try (0..<200).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/") }
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        #expect(provider.requests.count == 2)
        #expect(Set(sidecar.upstream.tokens.suffix(200)) == Set(provider.accessTokens.suffix(1)))
    }

    @Test func `at the start by 200 clients at once with one token request`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens().held(by: gate) })
        let sidecar = try Sidecar(provider: provider)
        let clients = try (0..<200).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/") }
        try provider.request(1)
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
        #expect(provider.requests.count == 1)
    }

    @Test func `even if the client that started it goes away`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens().held(by: gate) })
        let sidecar = try Sidecar(provider: provider)
        let first = try sidecar.client()
        try first.send("GET", "/")
        try provider.request(1)
        let second = try sidecar.client()
        try second.send("GET", "/")
        first.wire.reset()
        gate.open()
        #expect(try second.wire.readResponse().status == 200)
        #expect(provider.requests.count == 1)
    }

    @Test func `with the rotated refresh token each time`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        for _ in 0..<5 { #expect(try sidecar.act("refresh").status < 300) }
        #expect(
            provider.requests.map(\.grant) == ["client_credentials"]
                + Array(repeating: "refresh_token", count: 5))
        #expect(Set(provider.requests.compactMap { $0["refresh_token"] }).count == 5)
        #expect(try sidecar.get().status == 200)
    }

    @Test func `with the same refresh token where the provider does not rotate`() throws {
        let provider = try HostileProvider()
        provider.setPolicy {
            $0.givesRefreshTokens = true
            $0.rotates = false
        }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        for _ in 0..<3 { try sidecar.act("refresh") }
        #expect(Set(provider.requests.compactMap { $0["refresh_token"] }).count == 1)
    }

    @Test func `and a token still valid is used while that fails`() throws {
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens(expiresIn: "3") })
        provider.always { _, _ in .response(503) }
        let sidecar = try Sidecar(provider: provider, .init(top: "timeouts:\n  token_wait: 300ms"))
        try provider.request(3)
        #expect(try sidecar.get().status == 200, "stale-while-error")
        // Past its expiry it is never sent: requests wait, then fail.
        try eventually("the token to expire") { try sidecar.get().status == 503 }
        let sent = sidecar.upstream.requests.count
        let answer = try sidecar.get()
        #expect(answer.problem == "idp_unavailable" && sidecar.upstream.requests.count == sent)
        #expect(try sidecar.state() == "idp_unavailable")
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        provider.behave()
        try eventually("recovery") { try sidecar.get().status == 200 }
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `not before Retry-After says`() throws {
        let provider = try HostileProvider()
        let refusedAt = Monitor<ContinuousClock.Instant?>(nil)
        provider.script({ _, _ in
            refusedAt.withLock { $0 = .now }
            return .response(429, [("Retry-After", "2")], "later")
        })
        let sidecar = try Sidecar(provider: provider)
        try provider.request(2)
        let waited = try ContinuousClock.now - #require(refusedAt.withLock { $0 })
        #expect(waited > .seconds(1.9), "\(waited)")
        try eventually("a token") { try sidecar.get().status == 200 }
    }

    @Test func `with a back-off while the provider fails, one request at a time`() throws {
        let inFlight = Monitor((now: 0, most: 0))
        let provider = try HostileProvider()
        provider.always { _, _ in
            inFlight.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            return Reply { wire in
                try wire.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
                inFlight.withLock { $0.now -= 1 }
                return true
            }
        }
        let sidecar = try Sidecar(provider: provider, .init(top: "timeouts:\n  token_wait: 3s"))
        let answers = try concurrently(20) { _ in try sidecar.get().problem }
        #expect(answers.allSatisfy { $0 == "idp_unavailable" })
        #expect(inFlight.withLock { $0.most } == 1)
        #expect((3...8).contains(provider.requests.count), "\(provider.requests.count) in 3 s")
    }

    @Test func `after the provider was down at the start`() throws {
        let nobody = try Socket.refusing()
        let provider = try HostileProvider()
        provider.always { _, _ in .reset }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                top: "timeouts:\n  token_wait: 300ms",
                moreRoutes: "- path: /other\n  upstream: http://127.0.0.1:1\n  identity: other",
                moreIdentities: """
                    other:
                      issuer: http://\(nobody.address)
                      client_id: a
                      client_secret: b
                      grant_type: client_credentials
                    """))
        #expect(try sidecar.get().problem == "idp_unavailable")
        #expect(try sidecar.get("/other").problem == "idp_unavailable")
        provider.behave()
        try eventually("recovery") { try sidecar.get().status == 200 }
    }

    @Test func `on request, and invalidate never uses the present token again`() throws {
        let sidecar = try Sidecar()
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.act("refresh").status < 300)
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.act("invalidate").status < 300)
        #expect(try sidecar.get().status == 200)
        #expect(
            sidecar.upstream.tokens == sidecar.provider.accessTokens
                && Set(sidecar.upstream.tokens).count == 3)
    }

    @Test func `and an invalidated token is not sent though the refresh fails`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  token_wait: 300ms"))
        #expect(try sidecar.get().status == 200)
        sidecar.provider.always { _, _ in .response(500) }
        try sidecar.act("invalidate")
        #expect(try sidecar.get().problem == "idp_unavailable")
        #expect(sidecar.upstream.requests.count == 1)
    }
}
