// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import Testing

/// The OpenID conformance suite's plan `fapi2-security-profile-final-client-test-plan`, a test for each module under
/// its name: with `private_key_jwt`, DPoP, OpenID Connect, unsigned requests and plain responses, where no module on
/// JARM or Open Banking's intents applies.
@Suite(.blocking) struct `FAPI 2 client modules` {
    /// Somebody can log in, and a request reaches the resource server with the token.
    private func expectAccepted(_ behaviour: ConformanceSite.Behaviour = .init()) throws {
        let site = try ConformanceSite(isFAPI: true, behaviour)
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        #expect(try site.daemon().get().status == 200)
        #expect(site.judge.faults == [] && site.upstreamJudge.faults == [])
        #expect(site.upstreamJudge.challenges == (behaviour.wantsNonces ? 1 : 0))
    }

    /// Nobody can log in: the id token is not believed, and the command says why.
    private func expectRefused(_ behaviour: ConformanceSite.Behaviour, saying reason: String) throws {
        let site = try ConformanceSite(isFAPI: true, behaviour)
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains(reason), "\(login.exit) \(login.errors)")
        #expect(site.judge.faults == [])
        #expect(try !site.hasToken())
    }

    private func expectRefused(
        saying reason: String, _ change: @escaping @Sendable (inout ConformanceSite.Claims) -> Void
    ) throws {
        try expectRefused(.init(claims: change), saying: reason)
    }

    /// The authorization response is not believed, and its code goes nowhere.
    private func expectResponseIgnored(_ behaviour: ConformanceSite.Behaviour) throws {
        let site = try ConformanceSite(isFAPI: true, behaviour)
        #expect(try site.logIn().exit != 0)
        #expect(site.provider.requests.isEmpty && site.judge.faults == [])
        #expect(try !site.hasToken())
    }

    @Test func `fapi2-security-profile-final-client-test-happy-path`() throws {
        let site = try ConformanceSite(isFAPI: true)
        let login = try site.logIn()
        #expect(login.exit == 0, "\(login.errors)")
        let pushed = try #require(site.provider.requests("POST", "/par").last)
        #expect(pushed["code_challenge_method"] == "S256" && pushed["client_secret"] == nil)
        #expect(site.judge.faults == [] && site.judge.challenges == 1)
        let identifiers = (site.provider.requests("POST", "/par") + site.provider.requests).compactMap {
            TestToken($0["client_assertion"] ?? "")?.claims["jti"].string
        }
        #expect(identifiers.count == 3 && Set(identifiers).count == 3, "no assertion is used twice")
        let line = try BearerdProcess.command(
            "token", "--header", "--dpop", "GET", site.upstream.url + "/", "-c", site.file)
        #expect(line.output.hasPrefix("Authorization: DPoP "), "\(line.errors)")
        #expect(try site.daemon().get().status == 200)
        #expect(site.upstreamJudge.faults == [] && site.upstreamJudge.challenges == 1)
    }

    @Test func `fapi2-security-profile-final-client-test-happy-path-no-dpop-nonce`() throws {
        try expectAccepted(.init(wantsNonces: false))
    }

    @Test func `fapi2-security-profile-final-client-test-discovery-issuer-mismatch`() throws {
        let site = try ConformanceSite(isFAPI: true, discoveredIssuer: "https://other.example.com")
        let login = try site.logIn()
        #expect(login.exit != 0 && login.errors.contains("other.example.com"), "\(login.errors)")
        #expect(site.provider.requests("POST", "/par").isEmpty && site.provider.requests.isEmpty)
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-iss`() throws {
        try expectRefused(saying: "issuer mismatch") { $0["iss"] = #""https://other.example.com""# }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-missing-iss`() throws {
        try expectRefused(saying: "claim iss is missing") { $0["iss"] = nil }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-aud`() throws {
        try expectRefused(saying: "audience mismatch") { $0["aud"] = #""somebody-else""# }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-missing-aud`() throws {
        try expectRefused(saying: "claim aud is missing") { $0["aud"] = nil }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-secondary-aud`() throws {
        try expectRefused(saying: "azp") { $0["aud"] = #"["legacy-app","somebody-else"]"# }
    }

    @Test func `fapi2-security-profile-final-client-test-valid-aud-as-array`() throws {
        try expectAccepted(.init(claims: { $0["aud"] = #"["legacy-app"]"# }))
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-null-alg`() throws {
        try expectRefused(
            .init(token: { ConformanceSite.unsigned($0) }),
            saying: "unsigned, or signed by an algorithm that is not allowed")
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-alternate-alg`() throws {
        let key = try SigningKey.generateRSA()
        let site = try ConformanceSite(
            isFAPI: true, .init(token: { try ConformanceSite.signed($0, with: key) }))
        site.published.withLock { $0.append(ConformanceSite.text(key)) }
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains("algorithm that is not allowed"), "\(login.errors)")
        #expect(try !site.hasToken())
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-expired-exp`() throws {
        try expectRefused(saying: "expired") { claims in
            claims["exp"] = "\((claims["iat"].flatMap { Int($0) } ?? 0) - 330)"
        }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-missing-exp`() throws {
        try expectRefused(saying: "claim exp is missing") { $0["exp"] = nil }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-nonce`() throws {
        try expectRefused(saying: "nonce mismatch") { $0["nonce"] = #""another""# }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-missing-nonce`() throws {
        try expectRefused(saying: "nonce mismatch") { $0["nonce"] = nil }
    }

    @Test func `fapi2-security-profile-final-client-test-invalid-authorization-response-iss`() throws {
        try expectResponseIgnored(.init(issuer: "https://other.example.com"))
    }

    @Test func `fapi2-security-profile-final-client-test-remove-authorization-response-iss`() throws {
        try expectResponseIgnored(.init(issuer: nil))
    }

    @Test
    func `fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails`()
        throws
    {
        try expectResponseIgnored(.init(state: "another"))
    }

    @Test
    func
        `fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails`()
        throws
    {
        try expectResponseIgnored(.init(state: ""))
    }

    @Test func `fapi2-security-profile-final-client-test-token-endpoint-response-without-expires_in`() throws
    {
        try expectAccepted(.init(members: ""))
    }

    @Test func `fapi2-security-profile-final-client-test-token-type-case-insensitivity`() throws {
        try expectAccepted(.init(tokenType: "dpOp"))
    }

    @Test func `fapi2-security-profile-final-client-test-rs-dpop-auth-scheme-case-insensitivity`() throws {
        try expectAccepted(.init(scheme: "dpOp"))
    }

    @Test func `fapi2-security-profile-final-client-refresh-token-test`() throws {
        let site = try ConformanceSite(isFAPI: true)
        #expect(try site.logIn().exit == 0)
        let daemon = try site.daemon()
        #expect(try daemon.get().status == 200)
        for count in 2...3 {
            if count == 3 { #expect(try daemon.act("refresh").status < 300) }
            let keys = Set(site.provider.bindings.withLock { $0.values })
            #expect(keys.count == 1, "the key stays")
            if count == 2 {
                site.provider.bindings.withLock {
                    $0 = $0.filter { $0.key == site.provider.latestRefreshToken }
                }
            }
            #expect(try daemon.get().status == 200, "a refused token is renewed")
            #expect(site.provider.requests.last?.grant == "refresh_token")
        }
        #expect(site.judge.faults == [] && site.upstreamJudge.faults == [])
    }
}

/// What the plan's modules leave out.
@Suite(.blocking) struct `A FAPI 2 client, beyond the modules` {
    @Test func `refuses a bearer token where a bound one was asked for`() throws {
        let site = try ConformanceSite(isFAPI: true, .init(tokenType: "Bearer"))
        let login = try site.logIn()
        #expect(login.exit == 69 && login.errors.contains("DPoP"), "\(login.errors)")
        #expect(try !site.hasToken())
    }

    @Test func `may have a certificate in place of keys for assertions and proofs`() throws {
        let authority = try TLSAuthority()
        let client = try authority.client()
        let provider = try HostileProvider(
            tls: authority.server(clientAuthority: authority.certificateFile))
        let directory = try TemporaryDirectory()
        provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #","pushed_authorization_request_endpoint":"\#(provider.issuer)/par""#)
        }
        provider.takePushedRequests()
        let upstream = try RawUpstream(
            tls: authority.server(clientAuthority: authority.certificateFile))
        let certificate = """
            ca_file: \(authority.certificateFile)
            client_certificate_file: \(client.certificateFile)
            client_key_file: \(client.keyFile)
            """
        let settings = Sidecar.Settings(
            identity: """
                profile: fapi2
                scope: api
                token_endpoint_auth_method: tls_client_auth
                dpop: false
                \(certificate)
                """, route: certificate, grant: "authorization_code", hasSecret: false)
        let file = try Sidecar.file(
            provider: provider, upstream: upstream.url, directory: directory, settings)
        let login = try Subprocess([BearerdProcess.binary, "login", "--no-browser", "-c", file])
        let url = try login.output.wait(for: "the login's URL") { capture in
            capture.text.contains("\n") ? capture.text.split(separator: "\n").first.map(String.init) : nil
        }
        _ = try browse(try provider.approve(url))
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
        for request in provider.requests("POST", "/par") + provider.requests {
            #expect(request["client_id"] == "legacy-app" && request["client_secret"] == nil)
            #expect(request["client_assertion"] == nil && request.message["DPoP"] == nil)
        }
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: "", settings)
        #expect(try sidecar.get().status == 200)
        #expect(upstream.tokens == provider.accessTokens)
    }

    @Test(arguments: ["ES256", "PS256"])
    func `may be a service, with its own credentials`(algorithm: String) throws {
        let key = try TestKeyPair(algorithm)
        let provider = try HostileProvider()
        let (judge, resource) = (ProofJudge(nonce: "as-1", rotates: true), ProofJudge(nonce: "rs-1"))
        provider.demandProofs(judge)
        let upstream = try RawUpstream(answer: provider.resource(resource))
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream,
            .init(identity: "profile: fapi2\nprivate_key_file: \(key.privateKeyFile)", hasSecret: false))
        #expect(try sidecar.get().status == 200)
        #expect(judge.faults == [] && resource.faults == [])
        let assertions = try provider.requests.map { try key.verify($0["client_assertion"] ?? "") }
        #expect(assertions.allSatisfy { $0?.claims["aud"].string == provider.issuer })
        #expect(assertions.count == 2 && Set(assertions.map { $0?.claims["jti"].string }).count == 2)
    }

    @Test func `logs in with a browser alone`() throws {
        let site = try ConformanceSite(isFAPI: true)
        let login = try BearerdProcess.command("login", "--device", "-c", site.file)
        #expect(login.exit == 64 && login.errors.contains("profile fapi2"), "\(login.errors)")
    }

    @Test func `refuses an id token that is weeks old`() throws {
        let site = try ConformanceSite(
            isFAPI: true,
            .init(claims: { claims in
                claims["iat"] = "\((claims["iat"].flatMap { Int($0) } ?? 0) - 604_800)"
            }))
        let login = try site.logIn()
        #expect(login.exit == 65 && login.errors.contains("600 seconds"), "\(login.errors)")
    }
}
