// SPDX-License-Identifier: Apache-2.0

import Cryptography
import TestSupport
import Testing

/// Modules of the OpenID conformance suite's client plans for OpenID Connect, a test for each under its name, with
/// the code flow and `client_secret_basic`.
///
/// All of `oidcc-client-basic-certification-test-plan` and `oidcc-client-refreshtoken-test-plan`, those of
/// `oidcc-client-config-certification-test-plan`, and of `oidcc-client-test-plan` what belongs to the code flow of a
/// client that is registered already.
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
        saying reason: String, _ change: @escaping @Sendable (inout ConformanceSite.Claims) -> Void
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
        try expectRefusedRefresh(saying: "sub is not the one") { $0["sub"] = #""user-2""# }
    }

    /// A refresh is not believed, and its access token goes nowhere.
    private func expectRefusedRefresh(
        saying reason: String, _ change: @escaping @Sendable (inout ConformanceSite.Claims) -> Void
    ) throws {
        let site = try ConformanceSite(isFAPI: false, .init(refreshedClaims: change))
        #expect(try site.logIn().exit == 0)
        let refreshed = try BearerdProcess.command("refresh", "-c", site.file)
        #expect(refreshed.exit == 69 && refreshed.errors.contains(reason), "\(refreshed.errors)")
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
