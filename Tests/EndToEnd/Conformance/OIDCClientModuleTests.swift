// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import Testing

/// Modules of the OpenID conformance suite's client plans for OpenID Connect, a test for each under its name, with
/// the code flow and `client_secret_basic`.
///
/// All of `oidcc-client-basic-certification-test-plan`, `oidcc-client-config-certification-test-plan` and
/// `oidcc-client-refreshtoken-test-plan`; of `oidcc-client-test-plan` and `oidcc-client-dynamic-certification-test-plan`
/// what belongs to the code flow. Not among them, because bearerd does not do it:
///
/// - `…-form-post-error` and the plans `oidcc-client-formpost-…`: responses come in the query alone;
/// - `…-nonce-unless-code-flow`, `…-invalid-athash`, `…-missing-athash`, `…-invalid-chash`, `…-missing-chash` and the plans
///   `…-implicit-…` and `…-hybrid-…`: no token and no id token comes through a browser;
/// - `…-request-uri-signed-rs256`, `…-request-uri-signed-none`: requests are pushed (RFC 9126), not put where the provider
///   fetches them;
/// - `…-userinfo-bearer-body`: the token goes into the head, which is the other module of the two;
/// - `…-distributed-claims`: what another server knows is not fetched there, only its address is shown;
/// - `…-discovery-webfinger-acct`, `…-discovery-webfinger-url`: the configuration names the issuer;
/// - `…-3rd-party-init-login`, and the plans of session management and of front- and back-channel logout: nothing at a
///   provider, nor in a browser, reaches a program on loopback. `…-rp-init-logout`, `…-rp-init-logout-other-state` and
///   `…-rp-init-logout-no-state` demand one of those two channels, so that the request to end the session alone, which
///   `logout` makes, does not pass them.
@Suite(.blocking) struct `OpenID Connect client modules` {
    /// Somebody can log in, and a request reaches the resource server with the token.
    @discardableResult
    private func expectAccepted(
        scope: String = "openid", _ behaviour: ConformanceSite.Behaviour = .init()
    ) throws -> ConformanceSite {
        let site = try ConformanceSite(isFAPI: false, scope: scope, behaviour)
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        #expect(try site.daemon().get().status == 200)
        return site
    }

    private func expectRefused(
        saying reason: String, exit: Int32 = 69,
        _ change: @escaping @Sendable (inout ConformanceSite.Claims) -> Void
    ) throws {
        try expectRefused(.init(claims: change), saying: reason)
    }

    /// Nobody can log in: the id token is not believed, and the command says why.
    private func expectRefused(_ behaviour: ConformanceSite.Behaviour, saying reason: String) throws {
        let site = try ConformanceSite(isFAPI: false, behaviour)
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains(reason), "\(login.exit) \(login.errors)")
        #expect(try !site.hasToken())
    }

    // MARK: oidcc-client-basic-certification-test-plan

    @Test func `oidcc-client-test`() throws {
        let site = try expectAccepted()
        site.provider.serve("GET", "/userinfo") { _ in .json(#"{"sub":"user-1"}"#) }
        let userinfo = try BearerdProcess.command("userinfo", "-c", site.file)
        #expect(userinfo.exit == 0 && userinfo.output.contains("user-1"), "\(userinfo.errors)")
    }

    @Test func `oidcc-client-test-nonce-invalid`() throws {
        try expectRefused(saying: "nonce mismatch") { $0["nonce"] = #""another""# }
    }

    @Test func `oidcc-client-test-scope-userinfo-claims`() throws {
        let site = try expectAccepted(scope: "openid profile email phone address")
        site.provider.serve("GET", "/userinfo") { _ in
            .json(#"{"sub":"user-1","name":"A B","email":"a@example.com","address":{"country":"X"}}"#)
        }
        let userinfo = try BearerdProcess.command("userinfo", "-c", site.file)
        let claims = try #require(TestJSON(parsing: userinfo.output), "\(userinfo.errors)")
        #expect(claims["name"].string == "A B" && claims["email"].string == "a@example.com")
        #expect(claims["address"]["country"].string == "X")
    }

    @Test func `oidcc-client-test-userinfo-invalid-sub`() throws {
        let site = try expectAccepted()
        site.provider.serve("GET", "/userinfo") { _ in .json(#"{"sub":"somebody-else"}"#) }
        let userinfo = try BearerdProcess.command("userinfo", "-c", site.file)
        #expect(userinfo.exit == 69 && userinfo.output.isEmpty)
    }

    @Test func `oidcc-client-test-client-secret-basic`() throws {
        let site = try expectAccepted()
        let request = try #require(site.provider.requests.first)
        #expect(request.basicCredentials?.password == "fake-secret" && request["client_secret"] == nil)
    }

    @Test func `oidcc-client-test-idtoken-sig-none`() throws {
        try expectRefused(
            .init(token: { ConformanceSite.unsigned($0) }),
            saying: "unsigned, or signed by an algorithm that is not allowed")
    }

    @Test func `oidcc-client-test-idtoken-sig-rs256`() throws {
        let site = try expectAccepted()
        #expect(site.key.withLock { $0.algorithm } == .rs256)
    }

    @Test func `oidcc-client-test-invalid-aud`() throws {
        try expectRefused(saying: "audience mismatch") { $0["aud"] = #""somebody-else""# }
    }

    @Test func `oidcc-client-test-invalid-sig-rs256`() throws {
        let site = try ConformanceSite(isFAPI: false, .init(token: nil))
        // Another key under the name of the one that is published.
        let other = try SigningKey.generateRSA()
        site.published.withLock { published in
            published = published.map { text in
                ConformanceSite.text(other).replacing(other.keyID ?? "-", with: keyID(of: text))
            }
        }
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains("does not verify"), "\(login.errors)")
        #expect(try !site.hasToken())
    }

    @Test func `oidcc-client-test-invalid-iss`() throws {
        try expectRefused(saying: "issuer mismatch") { $0["iss"] = #""https://other.example.com""# }
    }

    @Test func `oidcc-client-test-kid-absent-single-jwks`() throws {
        let key = try UnnamedKey()
        let site = try ConformanceSite(isFAPI: false, .init(token: { try key.signed($0) }))
        site.published.withLock { $0 = [key.published] }
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        #expect(try site.hasToken())
    }

    @Test func `oidcc-client-test-kid-absent-multiple-jwks`() throws {
        let (first, second) = (try UnnamedKey(), try UnnamedKey())
        let site = try ConformanceSite(isFAPI: false, .init(token: { try second.signed($0) }))
        site.published.withLock { $0 = [first.published, second.published] }
        let login = try site.logIn()
        #expect(login.exit == 0, "each key that fits is tried: \(login.errors)")
        #expect(try site.hasToken())
    }

    @Test func `oidcc-client-test-missing-iat`() throws {
        try expectRefused(saying: "claim iat is missing") { $0["iat"] = nil }
    }

    @Test func `oidcc-client-test-missing-sub`() throws {
        try expectRefused(saying: "claim sub is missing") { $0["sub"] = nil }
    }

    // MARK: oidcc-client-config-certification-test-plan

    @Test func `oidcc-client-test-discovery-issuer-mismatch`() throws {
        let site = try ConformanceSite(isFAPI: false, discoveredIssuer: "https://other.example.com")
        let login = try site.logIn()
        #expect(login.exit != 0 && login.errors.contains("other.example.com"), "\(login.errors)")
        #expect(site.provider.requests.isEmpty)
    }

    @Test func `oidcc-client-test-discovery-openid-config`() throws {
        let site = try expectAccepted()
        #expect(site.provider.discoveryRequestCount > 0)
    }

    @Test func `oidcc-client-test-discovery-jwks-uri-keys`() throws {
        let site = try ConformanceSite(isFAPI: false)
        #expect(try site.logIn().exit == 0)
        #expect(site.provider.requests("GET", "/jwks").count == 1)
    }

    @Test func `oidcc-client-test-signing-key-rotation`() throws {
        let site = try ConformanceSite(isFAPI: false)
        #expect(try site.logIn().exit == 0)
        try site.rotateKey()
        let second = try site.logIn()
        #expect(second.exit == 0, "\(second.errors)")
    }

    @Test func `oidcc-client-test-signing-key-rotation-just-before-signing`() throws {
        let site = try expectAccepted()
        let daemon = try site.daemon()
        #expect(try daemon.act("refresh").status < 300)
        let before = site.provider.requests("GET", "/jwks").count
        try site.rotateKey()
        #expect(try daemon.act("refresh").status < 300)
        #expect(try daemon.lastError() == nil && site.provider.requests.last?.grant == "refresh_token")
        #expect(site.provider.requests("GET", "/jwks").count == before + 1, "the keys are asked for again")
    }

    // MARK: oidcc-client-refreshtoken-test-plan

    @Test func `oidcc-client-test-refresh-token`() throws {
        let site = try expectAccepted()
        let before = site.provider.accessTokens.count
        let refreshed = try BearerdProcess.command("refresh", "-c", site.file)
        #expect(refreshed.exit == 0, "\(refreshed.errors)")
        #expect(site.provider.requests.last?.grant == "refresh_token")
        #expect(site.provider.accessTokens.count == before + 1)
        site.provider.serve("GET", "/userinfo") { _ in .json(#"{"sub":"user-1"}"#) }
        #expect(try BearerdProcess.command("userinfo", "-c", site.file).exit == 0)
        let field = site.provider.requests("GET", "/userinfo").last?.message["Authorization"]
        #expect(field == "Bearer \(site.provider.accessTokens.last ?? "")")
    }

    @Test func `oidcc-client-test-refresh-token-invalid-issuer`() throws {
        try expectRefusedRefresh(saying: "issuer mismatch") { $0["iss"] = #""https://other.example.com""# }
    }

    @Test func `oidcc-client-test-refresh-token-invalid-sub`() throws {
        try expectRefusedRefresh(saying: "sub is not the one", exit: 77) { $0["sub"] = #""user-2""# }
    }

    /// A refresh is not believed, and its access token goes nowhere.
    private func expectRefusedRefresh(
        saying reason: String, exit: Int32 = 69,
        _ change: @escaping @Sendable (inout ConformanceSite.Claims) -> Void
    ) throws {
        let site = try ConformanceSite(isFAPI: false, .init(refreshedClaims: change))
        #expect(try site.logIn().exit == 0)
        let refreshed = try BearerdProcess.command("refresh", "-c", site.file)
        #expect(refreshed.exit == exit && refreshed.errors.contains(reason), "\(refreshed.errors)")
        let token = try BearerdProcess.command("token", "-c", site.file)
        #expect(!token.output.contains(site.provider.accessTokens.last ?? "-"))
    }

    // MARK: oidcc-client-test-plan

    @Test func `oidcc-client-test-missing-aud`() throws {
        try expectRefused(saying: "claim aud is missing") { $0["aud"] = nil }
    }

    @Test func `oidcc-client-test-invalid-sig-es256`() throws {
        let (other, published) = (try SigningKey.generateP256(), try SigningKey.generateP256())
        let site = try ConformanceSite(
            isFAPI: false,
            .init(token: { try ConformanceSite.signed($0, with: other) }))
        site.published.withLock {
            $0 = [
                ConformanceSite.text(published).replacing(published.keyID ?? "-", with: other.keyID ?? "-")
            ]
        }
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains("does not verify"), "\(login.errors)")
    }

    @Test func `oidcc-client-test-invalid-sig-hs256`() throws {
        let other = try SigningKey(secret: Secret("another-secret-of-thirty-two-bytes"))
        try expectRefused(
            .init(token: { try ConformanceSite.signed($0, with: other) }), saying: "does not verify")
    }

    @Test func `oidcc-client-test-userinfo-bearer-header`() throws {
        let site = try expectAccepted()
        site.provider.serve("GET", "/userinfo") { _ in .json(#"{"sub":"user-1"}"#) }
        #expect(try BearerdProcess.command("userinfo", "-c", site.file).exit == 0)
        let asked = try #require(site.provider.requests("GET", "/userinfo").last)
        #expect(asked.message["Authorization"] == "Bearer \(site.provider.accessTokens.last ?? "")")
        #expect(asked["access_token"] == nil)
    }

    @Test func `oidcc-client-test-aggregated-claims`() throws {
        let site = try expectAccepted(scope: "openid address phone")
        let sources = #"{"src1":{"JWT":"eyJhbGciOiJub25lIn0.eyJhZGRyZXNzIjp7fX0."}}"#
        site.provider.serve("GET", "/userinfo") { _ in
            .json(
                #"{"sub":"user-1","_claim_names":{"address":"src1","phone_number":"src1"},"#
                    + #""_claim_sources":\#(sources)}"#)
        }
        let userinfo = try BearerdProcess.command("userinfo", "-c", site.file)
        let claims = try #require(TestJSON(parsing: userinfo.output), "\(userinfo.errors)")
        #expect(claims["_claim_names"]["address"].string == "src1")
        #expect(
            claims["_claim_sources"]["src1"]["JWT"].string?.hasPrefix("eyJ") == true
                && claims["address"] == .null,
            "what a third party says is shown as its words, and not as the provider's")
    }

    @Test(arguments: ["tls_client_auth", "self_signed_tls_client_auth"])
    func `oidcc-client-test-mtls-endpoint-aliases`(method: String) throws {
        let authority = try TLSAuthority()
        let pair = try TestKeyPair("ES256")
        let client =
            method == "tls_client_auth"
            ? try authority.client() : (certificateFile: pair.certificateFile, keyFile: pair.privateKeyFile)
        let secure = try HostileProvider(
            tls: authority.server(
                clientAuthority: method == "tls_client_auth"
                    ? authority.certificateFile : pair.certificateFile))
        let site = try ConformanceSite(
            isFAPI: false, tls: authority.server(), secure: secure,
            identity: """
                ca_file: \(authority.certificateFile)
                token_endpoint_auth_method: \(method)
                client_certificate_file: \(client.certificateFile)
                client_key_file: \(client.keyFile)
                """,
            .init(authenticates: { request in
                request["client_id"] == "legacy-app" && request["client_secret"] == nil
                    && request["client_assertion"] == nil && request.basicCredentials == nil
            }))
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        secure.serve("GET", "/userinfo") { _ in .json(#"{"sub":"user-1"}"#) }
        let userinfo = try BearerdProcess.command("userinfo", "-c", site.file)
        #expect(userinfo.exit == 0 && userinfo.output.contains("user-1"), "\(userinfo.errors)")
        #expect(secure.requests.map(\.grant) == ["authorization_code"])
        #expect(site.provider.requests.isEmpty && site.provider.requests("GET", "/userinfo").isEmpty)
        #expect(try site.daemon().get().status == 200)
    }

    // MARK: oidcc-client-dynamic-certification-test-plan

    @Test func `oidcc-client-test-dynamic-registration`() throws {
        let site = try registeredSite()
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        let asked = try #require(
            TestJSON(parsing: site.provider.requests("POST", "/register").last?.message.text ?? ""))
        #expect(asked["grant_types"].array.contains { $0.string == "authorization_code" })
        #expect(asked["response_types"].array.map(\.string) == ["code"])
        #expect(asked["redirect_uris"][0].string?.hasPrefix("http://127.0.0.1/") == true)
        #expect(site.provider.requests.last?.basicCredentials?.name == "made-1")
    }

    @Test func `oidcc-client-test-userinfo-signed`() throws {
        let site = try registeredSite("registration_params: {userinfo_signed_response_alg: RS256}")
        let asked = site.provider.requests("POST", "/register").last?.message.text ?? ""
        #expect(TestJSON(parsing: asked)?["userinfo_signed_response_alg"].string == "RS256")
        #expect(try site.logIn().exit == 0)
        let claims = [
            "iss": #""\#(site.provider.issuer)""#, "aud": #""made-1""#, "sub": #""user-1""#,
            "name": #""A B""#,
        ]
        func userinfo(signedWith key: SigningKey) throws -> (exit: Int32, output: String, errors: String) {
            let signed = try ConformanceSite.signed(claims, with: key)
            site.provider.serve("GET", "/userinfo") { _ in
                .response(200, [("Content-Type", "application/jwt")], signed)
            }
            return try BearerdProcess.command("userinfo", "-c", site.file)
        }
        let good = try userinfo(signedWith: site.key.withLock { $0 })
        #expect(good.exit == 0 && good.output.contains("A B"), "\(good.errors)")
        let bad = try userinfo(signedWith: .generateRSA())
        #expect(
            bad.exit == 69 && bad.output.isEmpty && bad.errors.contains("does not verify"), "\(bad.errors)")
    }

    /// Of a client that has just registered, as `made-1`.
    private func registeredSite(_ identity: String = "") throws -> ConformanceSite {
        let site = try ConformanceSite(
            isFAPI: false, identity: identity, isRegistered: false,
            .init(
                claims: { $0["aud"] = #""made-1""# },
                authenticates: {
                    $0.basicCredentials?.name == "made-1" && $0.basicCredentials?.password == "made"
                }))
        site.provider.serve("POST", "/register") { _ in
            .json(#"{"client_id":"made-1","client_secret":"made","client_secret_expires_at":0}"#, status: 201)
        }
        let registered = try BearerdProcess.command("register", "-c", site.file)
        #expect(registered.exit == 0, "\(registered.errors)")
        return site
    }

    /// The `kid` of a key in JSON.
    private func keyID(of jwk: String) -> String { TestJSON(parsing: jwk)?["kid"].string ?? "-" }
}

/// What the plans' modules leave out.
@Suite(.blocking) struct `An OpenID Connect client, beyond the modules` {
    @Test(arguments: ["expired", "600 seconds"])
    func `refuses id tokens that are too old`(reason: String) throws {
        let site = try ConformanceSite(
            isFAPI: false, .init(claims: { $0[reason == "expired" ? "exp" : "iat"] = "1700000000" }))
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains(reason), "\(login.errors)")
    }

    @Test(arguments: [("https://other.example.com", nil), ("", "another"), ("", "")])
    func `ignores responses of another issuer, or with another state`(issuer: String, state: String?) throws {
        let site = try ConformanceSite(isFAPI: false, .init(issuer: issuer, state: state))
        #expect(try site.logIn().exit != 0)
        #expect(site.provider.requests.isEmpty)
    }

    @Test func `takes answers without a lifetime, and types however they are spelled`() throws {
        for behaviour in [ConformanceSite.Behaviour(members: ""), .init(tokenType: "bEARER")] {
            let site = try ConformanceSite(isFAPI: false, behaviour)
            let login = try site.logIn()
            #expect(login.exit == 0, "\(login.errors)")
            #expect(try site.hasToken())
        }
    }
}
