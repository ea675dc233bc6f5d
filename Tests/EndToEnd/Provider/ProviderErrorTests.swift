// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The classes of a token request's outcome, and what follows.
@Suite(.blocking) struct `A provider that says no` {
    /// A sidecar whose session was begun before: its store holds a refresh token, its grant is `refresh_token`.
    private func loggedIn(
        _ provider: HostileProvider, _ upstream: RawUpstream, expiresIn: String = "300", top: String = ""
    ) throws -> Sidecar {
        provider.setPolicy {
            $0.givesRefreshTokens = true
            $0.expiresIn = expiresIn
        }
        let sidecar = try Sidecar.ended(provider: provider, upstream: upstream)
            .another(.init(top: top, grant: "refresh_token"))
        try sidecar.awaitToken()
        return sidecar
    }

    @Test func `a stored session is used by the next process`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let upstream = try RawUpstream()
        let first = try Sidecar(provider: provider, upstream: upstream)
        try first.awaitToken()
        #expect(try first.bearerd.terminate() == .exited(0))
        let next = try Sidecar(
            provider: provider, upstream: upstream, directory: first.directory,
            clientSecret: first.clientSecret)
        #expect(try next.get().status == 200)
        #expect(provider.requests.count == 1, "the stored access token still serves")
        try next.act("refresh")
        #expect(provider.requests.map(\.grant) == ["client_credentials", "refresh_token"])
    }

    @Test(arguments: [
        ("closed", Reply.close), ("reset", .reset),
        ("cut", .raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"acc", thenClose: true)),
    ])
    func `an answer that is lost is asked for again at once, with the same refresh token`(
        how: String, lost: Reply
    ) throws {
        let provider = try HostileProvider()
        let sidecar = try loggedIn(provider, try RawUpstream())
        let newest = try #require(provider.latestRefreshToken)
        let before = provider.requests.count
        provider.script({ _, _ in lost })
        #expect(try sidecar.act("refresh").status == 200, "\(how)")
        #expect(provider.requests.dropFirst(before).map { $0["refresh_token"] } == [newest, newest])
        #expect(try sidecar.get().status == 200)
    }

    @Test(arguments: ["invalid_grant", "interaction_required", "consent_required", "login_required"])
    func `is final for a session that a person began`(code: String) throws {
        let provider = try HostileProvider()
        let sidecar = try loggedIn(provider, try RawUpstream())
        let before = provider.requests.count
        provider.always { _, _ in .oauthError(code) }
        try sidecar.act("invalidate")
        try provider.request(before + 1)
        let answer = try sidecar.get()
        `bearerd's own answers`.check(answer, 503, "login_required")
        #expect(try sidecar.state() == "login_required")
        for _ in 0..<20 { #expect(try sidecar.get().problem == "login_required") }
        #expect(provider.requests.count == before + 1, "not one more token request")

        #expect(try sidecar.act("refresh").status != 0)
        try provider.request(before + 2)
        provider.behave()
        #expect(try sidecar.act("refresh").status < 300, "an explicit refresh asks with the kept token")
        #expect(provider.requests.last?["refresh_token"] == provider.requests[before]["refresh_token"])
        #expect(try sidecar.get().status == 200)
    }

    @Test(arguments: ["invalid_grant", "login_required", "invalid_client", "invalid_scope"])
    func `is not believed of a gateway that is broken`(code: String) throws {
        let provider = try HostileProvider()
        let sidecar = try loggedIn(provider, try RawUpstream())
        let before = provider.requests.count
        provider.script(
            { _, _ in .oauthError(code, status: 502) }, { _, _ in .oauthError(code, status: 503) })
        try sidecar.act("invalidate")
        try provider.request(before + 3)
        try eventually("a token") { try sidecar.get().status == 200 }
        #expect(try sidecar.state() == "authorized")
        #expect(!sidecar.storedSession.contains(code))
        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_token_requests_total", #"outcome="transient""#) == 2)
        #expect(metrics.sum("bearerd_token_requests_total", #"outcome="final""#) == 0)
    }

    @Test func `stays final over a restart`() throws {
        let provider = try HostileProvider()
        let upstream = try RawUpstream()
        let sidecar = try loggedIn(provider, upstream)
        let before = provider.requests.count
        provider.always { _, _ in .oauthError("invalid_grant") }
        try sidecar.act("invalidate")
        try provider.request(before + 1)
        try eventually("the verdict") { try sidecar.state() == "login_required" }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        let next = try Sidecar(
            provider: provider, upstream: upstream, directory: sidecar.directory,
            clientSecret: sidecar.clientSecret, .init(grant: "refresh_token"))
        #expect(try next.get().problem == "login_required")
        #expect(provider.requests.count == before + 1)
    }

    @Test func `leaves a token that is still valid in use until its expiry`() throws {
        let provider = try HostileProvider()
        let sidecar = try loggedIn(provider, try RawUpstream())
        provider.always { _, _ in .oauthError("invalid_grant") }
        try sidecar.act("refresh")
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.state() == "login_required")
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
    }

    @Test func `without any session is login_required from the start`() throws {
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider, .init(grant: "refresh_token"))
        #expect(try sidecar.get().problem == "login_required")
        #expect(provider.requests.isEmpty)
    }

    @Test func `to a refresh makes the grant of the configuration anew`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        provider.script({ _, _ in .oauthError("invalid_grant") })
        try sidecar.act("invalidate")
        #expect(try sidecar.get().status == 200)
        #expect(
            provider.requests.map(\.grant) == ["client_credentials", "refresh_token", "client_credentials"])
    }

    @Test func `with invalid_client heals within a second when the secret file changes`() throws {
        #expect(try isOnce(within: .seconds(1.6), healWithAnotherSecret))
    }

    private func healWithAnotherSecret(_ begin: () -> Void) throws {
        let provider = try HostileProvider()
        let right = "right-" + randomText()
        provider.setPolicy { $0.clientSecret = right }
        let directory = try TemporaryDirectory()
        let file = try directory.write("client_secret", "wrong-\(randomText())\n")
        let text = Sidecar.configuration(
            provider: provider, upstream: try RawUpstream().url, clientSecret: "x", directory: directory)
        let upstream = try RawUpstream()
        let configuration = text.replacing("client_secret: x", with: "client_secret_file: \(file)")
            .replacing(#/upstream: http:\S+/#, with: "upstream: \(upstream.url)")
        let bearerd = try BearerdProcess(configuration: configuration, in: directory)
        let client = try RawClient(to: bearerd.proxy)
        #expect(try client.request("GET", "/").problem == "misconfigured")
        // Let the back-off grow beyond a second, so that only the change can end it.
        try provider.request(3)
        try directory.write("client_secret", right + "\n")
        begin()
        try eventually("a token") { try client.request("GET", "/").status == 200 }
        #expect(upstream.tokens == provider.accessTokens)
    }

    @Test(
        arguments: [
            ("invalid_client", 401), ("invalid_client", 400), ("unauthorized_client", 400),
            ("invalid_scope", 400),
            ("invalid_target", 400), ("unsupported_grant_type", 400), ("invalid_grant", 400),
        ])
    func `to a grant of the configuration is a misconfiguration`(code: String, status: Int) throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .oauthError(code, status: status) }
        let sidecar = try Sidecar(provider: provider)
        #expect(try sidecar.get().problem == "misconfigured")
        #expect(try sidecar.state() == "misconfigured")
        try provider.request(2)
        provider.behave()
        try eventually("recovery") { try sidecar.get().status == 200 }
    }

    @Test func `with 403 and an empty body, or with 404, is a misconfiguration too`() throws {
        for reply in [Reply.response(403), .json("{}", status: 403), .response(404, [], "nothing here")] {
            let provider = try HostileProvider()
            provider.always { _, _ in reply }
            let sidecar = try Sidecar(provider: provider)
            #expect(try sidecar.get().problem == "misconfigured")
        }
    }

    @Test func `without a telling code to a refresh is doubtful, and after two more tries login_required`()
        throws
    {
        for reply in [
            Reply.response(400), .json("{}", status: 400), .oauthError("invalid_request"), .response(401),
        ] {
            let provider = try HostileProvider()
            let sidecar = try loggedIn(provider, try RawUpstream())
            let before = provider.requests.count
            provider.always { _, _ in reply }
            try sidecar.act("invalidate")
            try provider.request(before + 3)
            try eventually("the verdict") { try sidecar.state() == "login_required" }
            #expect(try sidecar.get().problem == "login_required")
            #expect(provider.requests.count == before + 3)
        }
    }

    @Test func `an issuer that does not match is a misconfiguration, and heals`() throws {
        let provider = try HostileProvider()
        provider.discovery { _, provider in provider.discoveryDocument(issuer: "https://evil.test") }
        let sidecar = try Sidecar(provider: provider)
        #expect(try sidecar.get().problem == "misconfigured")
        #expect(provider.requests.isEmpty)
        provider.discovery { _, provider in provider.discoveryDocument() }
        try eventually("recovery") { try sidecar.get().status == 200 }
    }

    @Test func `a discovery that is broken for a while is waited for`() throws {
        let provider = try HostileProvider()
        let broken = [Reply.response(500), .ok("<html>"), .json("[]"), .reset, .response(200)]
        let count = Monitor(0)
        provider.discovery { _, provider in
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return index < broken.count ? broken[index] : provider.discoveryDocument()
        }
        let sidecar = try Sidecar(provider: provider)
        try eventually("a token") { try sidecar.get().status == 200 }
    }
}
