// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Routes that ask for tokens of their own, from one session (`routes[].scope`).
@Suite(.blocking) struct `A route with a token of its own` {
    private static let routes = """
        - path: /read
          upstream: UPSTREAM
          identity: default
          scope: api.read
        - path: /also-read
          upstream: UPSTREAM
          identity: default
          scope: [api.read]
        - path: /other
          upstream: UPSTREAM
          identity: default
          audience: other
          resource: https://other.example.com/
        """

    /// Access tokens tell what they were asked for; a spent refresh token kills the session.
    private func provider(expiresIn: String = "300") throws -> HostileProvider {
        let provider = try HostileProvider()
        provider.setPolicy {
            $0.givesRefreshTokens = true
            $0.expiresIn = expiresIn
        }
        return provider
    }

    @Test(arguments: ["invalid_target", "invalid_scope"])
    func `whose refresh is refused for what it asks is tried again by itself, and after a restart`(
        code: String
    ) throws {
        let provider = try provider()
        let before = try Sidecar.ended(provider: provider)
        provider.always { request, provider in
            request["refresh_token"] == nil ? provider.goodAnswer(to: request) : .oauthError(code)
        }
        let sidecar = try before.another(.init(identity: "scope: nonsense", grant: "refresh_token"))
        try eventually("the refusal") { try sidecar.state() == "misconfigured" }
        #expect(try sidecar.get().problem == "misconfigured")
        #expect(try sidecar.identityStatus()["last_error"]["code"].string == code)
        let count = provider.requests.count
        try provider.request(count + 2)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        let after = try before.another(.init(identity: "scope: nonsense", grant: "refresh_token"))
        try eventually("the refusal after a restart") { try after.state() == "misconfigured" }
        provider.behave()
        try eventually("the token, once the provider knows the scope") { try after.state() == "authorized" }
        #expect(try after.bearerd.terminate() == .exited(0))
    }

    private func sidecar(
        _ provider: HostileProvider, _ upstream: RawUpstream, directory: TemporaryDirectory? = nil,
        secret: String = "secret-" + randomText(), grant: String = "client_credentials", top: String = ""
    ) throws -> Sidecar {
        try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret,
            .init(
                top: top, identity: "scope: openid",
                moreRoutes: Self.routes.replacing("UPSTREAM", with: upstream.url), grant: grant))
    }

    /// A sidecar whose session a person began.
    private func loggedIn(
        _ provider: HostileProvider, _ upstream: RawUpstream, top: String = ""
    ) throws -> Sidecar {
        let before = try Sidecar.ended(provider: provider)
        return try sidecar(
            provider, upstream, directory: before.directory, secret: before.clientSecret,
            grant: "refresh_token", top: top)
    }

    private func what(_ request: TokenRequest) -> String {
        ["scope", "audience", "resource"].compactMap { name in request[name].map { "\(name)=\($0)" } }
            .joined(separator: " ")
    }

    @Test func `gets it from the session's one refresh token, used once each`() throws {
        let provider = try provider()
        let upstream = try RawUpstream()
        let sidecar = try loggedIn(provider, upstream)
        for path in ["/", "/read", "/also-read", "/other", "/read/more"] {
            #expect(try sidecar.get(path).status == 200)
        }
        let requests = provider.requests.dropFirst()
        let targets: Set = [
            "scope=openid", "scope=api.read",
            "scope=openid audience=other resource=https://other.example.com/",
        ]
        #expect(Set(requests.map(what)) == targets)
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0.grant == "refresh_token" })
        let shown = requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == 3, "each refresh token once")
        let tokens = upstream.tokens
        #expect(tokens.count == 5 && Set(tokens).count == 3)
        #expect(tokens[1] == tokens[2] && tokens[1] == tokens[4])
    }

    @Test func `gets it from a grant of its own where nobody logs in`() throws {
        let provider = try provider()
        let upstream = try RawUpstream()
        let sidecar = try sidecar(provider, upstream)
        for path in ["/", "/read", "/other"] { #expect(try sidecar.get(path).status == 200) }
        #expect(provider.requests.map(\.grant) == Array(repeating: "client_credentials", count: 3))
        #expect(Set(provider.requests.map { $0["scope"] ?? "" }) == ["openid", "api.read"])
        #expect(Set(upstream.tokens).count == 3)
    }

    @Test func `keeps each token fresh, and never uses a refresh token twice`() throws {
        let provider = try provider(expiresIn: "1")
        let upstream = try RawUpstream()
        let sidecar = try loggedIn(provider, upstream)
        try provider.request(20)
        for path in ["/", "/read", "/other"] { #expect(try sidecar.get(path).status == 200) }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count)
    }

    @Test func `refreshes its token alone when the upstream refuses it`() throws {
        let provider = try provider()
        let refused = Monitor<Set<String>>([])
        let upstream = try RawUpstream { request in
            let token = String(request["Authorization"]?.dropFirst("Bearer ".count) ?? "")
            return refused.withLock { $0.contains(token) } ? .unauthorized : .ok()
        }
        let sidecar = try loggedIn(provider, upstream)
        for path in ["/", "/read", "/other"] { #expect(try sidecar.get(path).status == 200) }
        let own = upstream.tokens[0]
        let routes = upstream.tokens[1]
        let before = provider.requests.count
        refused.withLock { _ = $0.insert(routes) }
        #expect(try sidecar.get("/read").status == 200)
        #expect(provider.requests.count == before + 1)
        #expect(provider.requests.last?["scope"] == "api.read")
        #expect(try sidecar.get("/").status == 200)
        #expect(upstream.tokens.last == own)
    }

    @Test func `survives a restart with every token`() throws {
        let provider = try provider()
        let upstream = try RawUpstream()
        let first = try loggedIn(provider, upstream)
        for path in ["/", "/read", "/other"] { #expect(try first.get(path).status == 200) }
        let tokens = upstream.tokens
        let before = provider.requests.count
        try first.bearerd.kill()
        let second = try sidecar(
            provider, upstream, directory: first.directory, secret: first.clientSecret, grant: "refresh_token"
        )
        for path in ["/", "/read", "/other"] { #expect(try second.get(path).status == 200) }
        #expect(Array(upstream.tokens.suffix(3)) == tokens)
        #expect(provider.requests.count == before)
    }

    @Test func `is not ready without its token, and is seen in the status`() throws {
        let provider = try provider()
        provider.always { request, provider in
            request["scope"] == "api.read"
                ? .oauthError("invalid_scope") : provider.goodAnswer(to: request)
        }
        let sidecar = try sidecar(provider, try RawUpstream())
        try eventually("the other tokens") { try sidecar.admin("GET", "/readyz?route=/other").status == 200 }
        #expect(try sidecar.admin("GET", "/readyz?route=/").status == 200)
        #expect(try sidecar.admin("GET", "/readyz?route=/read").status == 503)
        #expect(try sidecar.admin("GET", "/readyz").status == 503)
        #expect(try sidecar.get("/").status == 200)
        #expect(try sidecar.get("/read").problem == "misconfigured")
        let status = try sidecar.identityStatus()
        #expect(status["state"].string == "misconfigured")
        #expect(status["last_error"]["code"].string == "invalid_scope")
        #expect(
            status["tokens"].array.map { $0["state"].string } == [
                "authorized", "misconfigured", "authorized",
            ])
        #expect(status["tokens"].array.map { $0["scope"].string } == ["openid", "api.read", "openid"])

        provider.behave()
        try eventually("the token to come") { try sidecar.admin("GET", "/readyz").status == 200 }
        #expect(try sidecar.state() == "authorized")
    }

    @Test func `loses nothing when the disk is out of order`() throws {
        let provider = try provider(expiresIn: "1")
        let upstream = try RawUpstream()
        let sidecar = try loggedIn(provider, upstream)
        try sidecar.awaitToken()
        // Where the new file would be written is a directory.
        mkdir("\(sidecar.storeDirectory)/default.session.new", 0o700)
        let before = provider.requests.count
        try provider.request(before + 12)
        for path in ["/", "/read", "/other"] { #expect(try sidecar.get(path).status == 200) }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count)
    }
}
