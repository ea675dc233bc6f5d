// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Grants that are made from configuration alone.
@Suite(.blocking) struct `A configured grant` {
    @Test func `password sends name and password, and check warns of it`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("password", "p&ss w\n")
        let provider = try HostileProvider()
        let settings = Sidecar.Settings(
            identity: "username: ä user\npassword_file: \(file)\nscope: a b", grant: "password")
        let sidecar = try Sidecar(provider: provider, settings)
        #expect(try sidecar.get().status == 200)
        let request = try provider.request(1)
        #expect(request.grant == "password")
        #expect(
            request["username"] == "ä user" && request["password"] == "p&ss w" && request["scope"] == "a b")

        let text = Sidecar.configuration(
            provider: provider, upstream: sidecar.upstream.url, clientSecret: "s", directory: directory,
            settings)
        let check = try BearerdProcess.command("check", "-c", directory.write("c.yaml", text))
        #expect(check.exit == 0)
        #expect(check.errors.contains("RFC 9700"))
        #expect(!sidecar.bearerd.log.contains("p&ss"))
    }

    @Test func `jwt_bearer signs an assertion about its subject`() throws {
        let pair = try TestKeyPair("RS256")
        let provider = try HostileProvider()
        let tokens = Monitor<[TestToken?]>([])
        provider.always { request, provider in
            let token = try pair.verify(request["assertion"] ?? "")
            tokens.withLock { $0.append(token) }
            return token == nil ? .oauthError("invalid_grant") : provider.goodAnswer(to: request)
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: """
                    private_key_file: \(pair.privateKeyFile)
                    subject: robot@example.com
                    assertion_audience: https://aud.example
                    assertion_claims:
                      scope: read
                      admin: true
                    """, grant: "jwt_bearer", hasSecret: false))
        #expect(try sidecar.get().status == 200)
        let request = try provider.request(1)
        #expect(request.grant == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        #expect(request["client_assertion"] == nil && request["client_id"] == "legacy-app")
        let claims = try #require(tokens.withLock { $0.first ?? nil }).claims
        #expect(claims["iss"].string == "legacy-app" && claims["sub"].string == "robot@example.com")
        #expect(claims["aud"].string == "https://aud.example" && claims["scope"].string == "read")
        #expect(claims["admin"] == .bool(true))
    }

    @Test func `jwt_bearer sends an assertion_file where there is one, and the client proves itself apart`()
        throws
    {
        let directory = try TemporaryDirectory()
        let file = try directory.write("assertion", "made.by.others")
        let sidecar = try Sidecar(.init(identity: "assertion_file: \(file)", grant: "jwt_bearer"))
        #expect(try sidecar.get().status == 200)
        let request = try sidecar.provider.request(1)
        #expect(request["assertion"] == "made.by.others")
        #expect(request.basicCredentials?.name == "legacy-app")
    }

    @Test func `token_exchange reads its subject token anew and takes token_type N_A`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("subject", "subject.one\n")
        let provider = try HostileProvider()
        provider.always { _, provider in
            provider.tokens(
                tokenType: #""N_A""#,
                members: #","issued_token_type":"urn:ietf:params:oauth:token-type:access_token""#)
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: """
                    subject_token_file: \(file)
                    subject_token_type: jwt
                    requested_token_type: urn:ietf:params:oauth:token-type:access_token
                    audience: [api-one, api-two]
                    resource: https://api.example.com/
                    """, grant: "urn:ietf:params:oauth:grant-type:token-exchange"))
        #expect(try sidecar.get().status == 200)
        try directory.write("subject", "subject.two\n")
        try sidecar.act("refresh")
        #expect(provider.requests.map { $0["subject_token"] } == ["subject.one", "subject.two"])
        let request = try provider.request(1)
        #expect(request.grant == "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(request["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
        #expect(request["requested_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
        #expect(request.parameters.filter { $0.name == "audience" }.map(\.value) == ["api-one", "api-two"])
        #expect(request["resource"] == "https://api.example.com/")
    }

    @Test(.timeLimit(.minutes(10)))
    func `refused is a misconfiguration, which a changed subject token ends within a second`() throws {
        #expect(try isOnce(within: .seconds(2), healWithAnotherSubject))
    }

    private func healWithAnotherSubject(_ begin: () -> Void) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("subject", "expired.token")
        let provider = try HostileProvider()
        provider.always { request, provider in
            request["subject_token"] == "fresh.token"
                ? provider.goodAnswer(to: request) : .oauthError("invalid_grant")
        }
        let sidecar = try Sidecar(
            provider: provider, .init(identity: "subject_token_file: \(file)", grant: "token_exchange"))
        try provider.request(3)
        #expect(try sidecar.state() == "misconfigured")
        `bearerd's own answers`.check(try sidecar.get(), 503, "misconfigured")
        begin()
        try directory.write("subject", "fresh.token")
        try sidecar.awaitToken()
    }

    @Test func `uses the refresh token it was given, and is made again when that dies`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(
            provider: provider, .init(identity: "username: u\npassword: p", grant: "password"))
        #expect(try sidecar.get().status == 200)
        try sidecar.act("refresh")
        provider.script({ _, _ in .oauthError("invalid_grant") })
        try sidecar.act("refresh")
        #expect(provider.requests.map(\.grant) == ["password", "refresh_token", "refresh_token", "password"])
        #expect(provider.requests[1]["password"] == nil)
        let line = try sidecar.bearerd.logLine("the refusal") { $0.message == "token request failed" }
        #expect(line["reason"]?.contains("bearerd login") == false, "nobody logs in here: \(line.json)")
    }
}
