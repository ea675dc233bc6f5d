// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import OAuth
import OAuthRuntime
import Testing

/// What another program can do with the products `OAuth` and `OAuthRuntime`, in this process.
@Suite struct `A program with the library` {
    private func client(_ site: LoginSite) -> ClientConfiguration {
        var client = ClientConfiguration(
            name: "default", clientID: "web", grantType: .authorizationCode)
        client.issuer = site.issuer
        client.authentication = .basic
        client.scope = ["openid", "profile", "email", "offline_access"]
        return client
    }

    private let secret: @Sendable (Credential) -> String? = { $0 == .clientSecret ? "s" : nil }

    @Test func `logs somebody in, calls with fresh tokens, and goes on after a restart`() async throws {
        let site = try LoginSite()
        let key = Secret(String(repeating: "0123456789abcdef", count: 4))
        let directory = site.directory.path("library")
        let first: String
        do {
            let runtime = try AuthRuntime(storage: .encryptedDirectory(directory, key: key))
            let session = try runtime.session(for: client(site), credentials: secret)
            await session.start()
            #expect(await session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) { try await session.withFreshTokens { _ in } }
            let login = try await runtime.logIn(session, waitingAtMost: patience) { url in
                _ = Background { try browse(try site.logIn(at: url)).status }
            }
            #expect(login.hasRefreshToken && login.hasIDToken)
            first = try await session.withFreshTokens { tokens in
                let person = try #require(tokens.idToken.flatMap { IDToken($0) })
                #expect(person.subject == "alice" && person.email == nil)
                #expect("\(tokens)" == "[tokens]")
                return tokens.accessToken
            }
            let userinfo = try await session.userinfo()
            #expect(userinfo.subject == "alice" && userinfo["email"] == "alice@example.com")
            await session.stop()
        }
        let stored = TemporaryDirectory.entries(of: directory).flatMap {
            TemporaryDirectory.contents(of: "\(directory)/\($0)")
        }
        #expect(
            !stored.isEmpty
                && LeakScan.leaks(of: [first], in: String(decoding: stored, as: UTF8.self)).isEmpty)

        let runtime = try AuthRuntime(storage: .encryptedDirectory(directory, key: key))
        let session = try runtime.session(for: client(site), credentials: secret)
        await session.start()
        #expect(try await session.withFreshTokens { $0.accessToken } == first)
        try await session.refresh(waitingAtMost: patience)
        let second = try await session.withFreshTokens { $0.accessToken }
        #expect(second != first)
        let outcome = await session.logOut()
        #expect(outcome.revocation == .requested && outcome.failures.isEmpty)
        await #expect(throws: TokenError.loginRequired) { try await session.withFreshTokens { _ in } }
        await session.stop()
    }

    @Test func `reads metadata without a session, and is told what it cannot have`() async throws {
        let site = try LoginSite()
        let runtime = try AuthRuntime(storage: .memory)
        let service = try await ServiceConfiguration.discover(
            for: client(site), over: try runtime.transport())
        #expect(service.issuer == site.issuer && service["issuer"] == site.issuer)
        #expect(service.endpoints[.token]?.origin == site.issuer && service.json.hasPrefix("{"))
        #expect(throws: AuthRuntimeError.self) { try runtime.transport(caFile: "/nowhere/ca.pem") }
        #expect(throws: AuthRuntimeError.self) {
            try AuthRuntime(storage: .encryptedDirectory(site.directory.path("x"), key: Secret("short")))
        }
    }

    @Test func `has one person in all sessions of a client, logged in by a URL that it was handed`()
        async throws
    {
        let site = try LoginSite()
        let runtime = try AuthRuntime(storage: .memory)
        let first = try runtime.session(for: client(site), credentials: secret)
        let second = try runtime.session(for: client(site), credentials: secret)
        for session in [first, second] { await session.start() }
        let begun = try await first.authorizationFlow(redirectURI: "http://127.0.0.1:9/callback")
        // The program that opened the browser has ended meanwhile.
        let request = try #require(AuthorizationRequest(decoding: begun.request.encoded()))
        let flow = AuthorizationFlow(request)
        let url = try site.logIn(at: flow.url)
        #expect(throws: AuthorizationResponseError.otherAddress) {
            try flow.response(to: url.replacing("/callback", with: "/other"))
        }
        let login = try await first.logIn(with: flow.response(to: url))
        #expect(login.hasRefreshToken)
        #expect(throws: AuthorizationResponseError.alreadyUsed) { try flow.response(to: url) }
        let token = try await second.withFreshTokens { tokens in
            let person = try #require(tokens.idToken.flatMap { IDToken($0) })
            #expect(person.json.contains(#""sub":"alice""#) && person.strings("aud") == ["web"])
            return tokens.accessToken
        }
        #expect(try await second.userinfo().subject == "alice")
        try await second.refresh(waitingAtMost: patience)
        _ = await first.logOut()
        await #expect(throws: TokenError.loginRequired) { try await second.withFreshTokens { _ in } }
        #expect(await second.needsLogin)
        #expect(!token.isEmpty)
        for session in [first, second] { await session.stop() }
    }

    @Test func `need not handle a 401 by hand`() async throws {
        let provider = try HostileProvider()
        let api = try RawUpstream { request in
            request["Authorization"] == "Bearer \(provider.accessTokens.first ?? "")" ? .response(401) : .ok()
        }
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .clientCredentials)
        client.issuer = provider.issuer
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: client)
        await session.start()
        let answer = try await session.authorized("\(api.url)/orders") { credentials in
            let response = try Background {
                try RawClient(to: api.address).request(
                    "GET", "/orders", [(credentials.name, credentials.value)])
            }.value()
            return ResourceResponse(status: response.status, value: response.text)
        }
        #expect(answer.status == 200 && provider.requests.count == 2)
        #expect(await session.status.state == .authorized)
        await session.stop()
    }
}
