// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

struct `A client's proof` {
    private let metadata = "https://sso.example/.well-known/openid-configuration"
    private let key = Secret(
        #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","kid":"k1"}"#)

    /// One token request of a client with these credentials.
    private func form(
        _ credentials: [Credential: Secret], grant: GrantType = .clientCredentials,
        with actual: Grant = .original,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> [String: String] {
        let exchange = try await exchange(credentials, grant: grant, with: actual, configure)
        if case .failure(let failure) = exchange.outcome.result { throw failure }
        return try #require(exchange.transport.last.map(parameters))
    }

    private func exchange(
        _ credentials: [Credential: Secret], grant: GrantType = .clientCredentials,
        with actual: Grant = .original,
        _ configure: (inout ClientConfiguration) -> Void
    ) async throws -> (outcome: TokenRequestResult, transport: FakeServer) {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: grant)
        configuration.issuer = "https://sso.example"
        configure(&configuration)
        let transport = FakeServer(journal: Journal())
        transport.publish(
            .status(
                200,
                #"{"issuer":"https://sso.example","token_endpoint":"https://SSO.example:443/token","mtls_endpoint_aliases":{"token_endpoint":"https://mtls.example/token"}}"#
            ), at: metadata)
        let server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: FakeCredentials(credentials),
            clock: ManualClock())
        return (await server.requestToken(with: actual), transport)
    }

    private func parameters(_ request: TransferRequest) -> [String: String] {
        var result: [String: String] = [:]
        for pair in String(decoding: request.body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            result[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        return result
    }

    private func token(_ form: [String: String], _ name: String = "client_assertion") throws -> JWS {
        try JWS(compact: try #require(form[name]))
    }

    @Test func `by its secret is an assertion under HS256`() async throws {
        let form = try await form([.clientSecret: Secret("s3cret")]) { $0.authentication = .clientSecretJWT }
        #expect(form["client_id"] == "app")
        #expect(form["client_secret"] == nil)
        #expect(
            form["client_assertion_type"]
                == "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer")
        let token = try token(form)
        try SigningKey(secret: Secret("s3cret")).verify(token)
        #expect(token.claims?["iss"] == "app")
        #expect(token.claims?["sub"] == "app")
    }

    @Test func `by its key is short-lived, for the token endpoint as the server spells it, and used once`()
        async throws
    {
        var identifiers: Set<String> = []
        for _ in 0..<3 {
            let form = try await form([.privateKey: key]) { $0.authentication = .privateKeyJWT }
            let token = try token(form)
            let claims = try #require(token.claims)
            #expect(token.algorithm == .edDSA)
            #expect(token.keyID == "k1")
            #expect(form["client_id"] == "app")
            #expect(claims["aud"] == "https://SSO.example:443/token")
            let issued = try #require(claims["iat"]?.integer)
            #expect(claims["exp"]?.integer == issued + 60)
            identifiers.insert(try #require(claims["jti"]?.string))
        }
        #expect(identifiers.count == 3)
    }

    @Test func `is for the issuer, or whom the configuration names`() async throws {
        for (audience, expected) in [
            (AssertionSettings.Audience.issuer, "https://sso.example"), (.value("urn:x"), "urn:x"),
        ] {
            let form = try await form([.privateKey: key]) {
                $0.authentication = .privateKeyJWT
                $0.assertion.audience = audience
                $0.assertion.keyID = "mine"
            }
            #expect(try token(form).claims?["aud"]?.string == expected)
            #expect(try token(form).keyID == "mine")
        }
    }

    @Test func `may be a file that somebody else signed`() async throws {
        let form = try await form([.assertion: Secret("projected")]) { $0.authentication = .privateKeyJWT }
        #expect(form["client_assertion"] == "projected")
        #expect(form["client_id"] == "app")
    }

    @Test(arguments: [ClientAuthentication.tlsClientAuth, .selfSignedTLSClientAuth])
    func `by its certificate goes to the server's other address, with client_id alone`(
        method: ClientAuthentication
    ) async throws {
        let exchange = try await exchange([:]) {
            $0.authentication = method
            $0.presentsCertificate = true
        }
        let request = try #require(exchange.transport.last)
        #expect(request.url.description == "https://mtls.example/token")
        #expect(parameters(request) == ["grant_type": "client_credentials", "client_id": "app"])
    }

    @Test func `that is missing, unreadable or no key is a misconfiguration`() async throws {
        let cases: [([Credential: Secret], ClientAuthentication, String)] = [
            ([:], .basic, "no_client_secret"), ([:], .privateKeyJWT, "no_private_key"),
            ([.privateKey: Secret("rubbish")], .privateKeyJWT, "bad_private_key"),
            (
                [.privateKey: key, .assertionCertificate: Secret("rubbish")], .privateKeyJWT,
                "bad_assertion_certificate"
            ),
        ]
        for (credentials, method, code) in cases {
            let exchange = try await exchange(credentials) { $0.authentication = method }
            guard case .failure(let failure) = exchange.outcome.result else {
                Issue.record("no failure")
                continue
            }
            #expect(failure.kind == .misconfigured)
            #expect(failure.code == code)
            #expect(exchange.transport.bodies.isEmpty)
        }
    }

    // MARK: Grants

    @Test func `of a password grant is name and password`() async throws {
        let form = try await form([.password: Secret("p&w")], grant: .password) {
            $0.username = "u ser"
            $0.scope = ["a"]
        }
        #expect(
            form == [
                "grant_type": "password", "username": "u%20ser", "password": "p%26w", "scope": "a",
                "client_id": "app",
            ])
    }

    @Test func `of a jwt_bearer grant is an assertion about somebody, and the client needs none of its own`()
        async throws
    {
        let form = try await form([.privateKey: key], grant: .jwtBearer) {
            $0.assertion.subject = "somebody"
            $0.assertion.claims = ["admin": true, "n": 7]
        }
        #expect(form["grant_type"] == "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        #expect(form["client_assertion"] == nil)
        let claims = try #require(try token(form, "assertion").claims)
        #expect(claims["iss"] == "app")
        #expect(claims["sub"] == "somebody")
        #expect(claims["admin"] == true)
        #expect(claims["n"] == 7)
        #expect(claims["aud"] == "https://SSO.example:443/token")
    }

    @Test func `of a jwt_bearer grant may be a file, and the client may sign for itself`() async throws {
        let form = try await form([.privateKey: key, .assertion: Secret("ready")], grant: .jwtBearer) {
            $0.authentication = .privateKeyJWT
            $0.assertion.claims = ["admin": true]
        }
        #expect(form["assertion"] == "ready")
        #expect(try token(form).claims?["sub"] == "app")
        #expect(try token(form).claims?["admin"] == nil)
    }

    @Test func `of a token exchange is the subject token`() async throws {
        let form = try await form([.subjectToken: Secret("sub.ject")], grant: .tokenExchange) {
            $0.subjectTokenType = "urn:t:a"
            $0.requestedTokenType = "urn:t:b"
            $0.audience = ["api"]
        }
        #expect(
            form == [
                "grant_type": "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange",
                "subject_token": "sub.ject", "subject_token_type": "urn%3At%3Aa",
                "requested_token_type": "urn%3At%3Ab", "audience": "api", "client_id": "app",
            ])
    }

    @Test func `of a refresh has nothing of the grant that began`() async throws {
        let form = try await form([.password: Secret("pw")], grant: .password, with: .refresh(Secret("rt"))) {
            $0.username = "u"
        }
        #expect(form == ["grant_type": "refresh_token", "refresh_token": "rt", "client_id": "app"])
    }

    @Test func `goes to any endpoint`() async throws {
        var configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: .clientCredentials)
        configuration.authentication = .basic
        configuration.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
        let transport = FakeServer(journal: Journal())
        let server = AuthorizationServer(
            configuration: configuration, transport: transport,
            credentials: FakeCredentials([.clientSecret: Secret("a+b")]), clock: ManualClock())
        transport.script(.status(400, #"{"error":"invalid_client"}"#), .status(200))
        var body = FormBody()
        body.append(name: "token", "t")
        #expect(try await server.post(body, to: .revocation).status == 200)
        #expect(server.learnedEncoding == .raw)
        #expect(transport.bodies == ["token=t", "token=t"])
        await #expect(throws: TokenFailure.self) { try await server.post(body, to: .introspection) }
    }
}

/// Credentials that never change.
struct FakeCredentials: CredentialSource {
    let credentials: [Credential: Secret]

    init(_ credentials: [Credential: Secret]) {
        self.credentials = credentials
    }

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? { credentials[credential] }
}
