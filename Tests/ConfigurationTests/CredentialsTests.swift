// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdJSON
import OAuth
import Testing

@Suite struct `What a client proves itself with` {
    private let directory: TemporaryDirectory
    /// The key of RFC 8037 appendix A.1.
    private let key: String
    private let token: String

    init() throws {
        directory = try TemporaryDirectory()
        key = try directory.file(
            "key",
            #"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        )
        token = try directory.file("token", "a.b.c\n")
    }

    private func identity(
        _ lines: String..., grant: String = "authorization_code"
    ) -> (
        IdentityConfiguration?, [String]
    ) {
        let text = withIdentity(lines.joined(separator: "\n")).replacing("authorization_code", with: grant)
        let report = report(text)
        return (report.configuration?.identities.first, report.problems.map(\.reason))
    }

    @Test func `follows from what there is`() throws {
        let cases: [([String], String, ClientAuthentication)] = [
            ([], "authorization_code", .none), (["client_secret: s"], "client_credentials", .basic),
            (["private_key_file: \(key)"], "client_credentials", .privateKeyJWT),
            (["assertion_file: \(token)"], "client_credentials", .privateKeyJWT),
            (["client_secret: s", "private_key_file: \(key)"], "jwt_bearer", .basic),
            (["private_key_file: \(key)"], "jwt_bearer", .none),
            (["assertion_file: \(token)"], "jwt_bearer", .none),
            (
                ["private_key_file: \(key)", "token_endpoint_auth_method: private_key_jwt"], "jwt_bearer",
                .privateKeyJWT
            ),
        ]
        for (lines, grant, method) in cases {
            let (identity, problems) = identity(lines.joined(separator: "\n"), grant: grant)
            #expect(problems == [], "\(lines)")
            #expect(identity?.client.authentication == method, "\(lines)")
        }
    }

    @Test(arguments: [
        ("token_endpoint_auth_method: client_secret_jwt", "needs client_secret"),
        ("token_endpoint_auth_method: private_key_jwt", "needs private_key_file or assertion_file"),
        ("token_endpoint_auth_method: tls_client_auth", "is missing, and tls_client_auth needs it"),
        (
            "token_endpoint_auth_method: self_signed_tls_client_auth",
            "is missing, and self_signed_tls_client_auth needs it"
        ),
        (
            "token_endpoint_auth_method: private_key_jwk",
            "'private_key_jwk' is not one of none, client_secret_basic, client_secret_post, client_secret_jwt, private_key_jwt, tls_client_auth, self_signed_tls_client_auth; did you mean 'private_key_jwt'?"
        ),
        ("signing_alg: HS256", "'HS256' is not one of RS256, PS256, ES256, EdDSA; did you mean 'RS256'?"),
        (
            "subject_token_type: tokn",
            "is neither a URI nor one of access_token, refresh_token, id_token, saml1, saml2, jwt"
        ),
    ])
    func `must be there, and be known`(line: String, reason: String) {
        #expect(identity(line).1.contains(reason))
        #expect(identity(line).0 == nil)
    }

    @Test func `is looked at before anything is served`() throws {
        let rubbish = try directory.file("rubbish", "no key")
        let problems = [
            identity("private_key_file: \(rubbish)").1, identity("assertion_certificate_file: \(rubbish)").1,
            identity("private_key_file: \(key)", "signing_alg: ES256").1,
        ]
        #expect(problems[0].first?.hasPrefix("\(rubbish) holds no private key that can be used") == true)
        #expect(problems[1] == ["\(rubbish) holds no certificate in PEM"])
        #expect(problems[2] == ["\(key) holds a key for EdDSA, not for the ES256 of signing_alg"])
        let loose = try directory.file("loose", "a.b.c", mode: 0o666)
        #expect(identity("assertion_file: \(loose)").1.first?.contains("may be written by others") == true)
        #expect(identity("private_key_file: /none").1.first?.contains("cannot be read") == true)
    }

    @Test func `is warned of where a program has none for a grant that demands one`() {
        let said = "has nothing by which it proves itself, as client_credentials demands"
        #expect(identity(grant: "client_credentials").1.map { $0.hasPrefix(said) } == [true])
        for line in [
            "client_secret: s", "private_key_file: \(key)", "assertion_file: \(token)",
            "token_endpoint_auth_method: none",
        ] {
            #expect(identity(line, grant: "client_credentials").1 == [], "\(line)")
        }
        let certificate = identity("client_certificate_file: /none", grant: "client_credentials").1
        #expect(!certificate.contains { $0.hasPrefix(said) }, "\(certificate)")
        let misspelt = identity("client_secrt: s", grant: "client_credentials").1
        #expect(misspelt.count == 1 && misspelt.first?.contains("unknown key") == true, "\(misspelt)")
        let unregistered = report(
            smallest.replacing("    client_id: app\n", with: "").replacing(
                "authorization_code", with: "client_credentials"))
        #expect(
            unregistered.problems.map(\.reason) == [
                "is missing: 'bearerd register' gets one, or configure it"
            ])
    }

    @Test func `of an assertion is read whole`() throws {
        let (identity, problems) = identity(
            "private_key_file: \(key)", "private_key_id: k7", "signing_alg: EdDSA",
            "assertion_audience: urn:a",
            "subject: robot", "assertion_claims: {admin: true, level: 3, name: x, quoted: '3'}",
            grant: "jwt_bearer")
        #expect(problems == [])
        let assertion = try #require(identity?.client.assertion)
        #expect(assertion.audience == .value("urn:a"))
        #expect(assertion.keyID == "k7")
        #expect(assertion.algorithm == .edDSA)
        #expect(assertion.subject == "robot")
        let claims: JSONObject = ["admin": true, "level": 3, "name": "x", "quoted": "3"]
        #expect(assertion.claims == claims)
        #expect(
            self.identity("private_key_file: \(key)", "assertion_claims: {exp: 1}", grant: "jwt_bearer").1
                == [
                    "clashes with a claim that bearerd sets itself"
                ])
    }

    @Test func `of an assertion for the issuer needs to know the issuer`() {
        let text = withIdentity("private_key_file: \(key)", "assertion_audience: issuer")
        #expect(report(text).configuration != nil)
        let issuer = text.split(separator: "\n").first { $0.contains(" issuer: https") } ?? ""
        #expect(!issuer.isEmpty)
        let report = report(text.replacing(issuer, with: "    token_endpoint: https://sso.example.com/token"))
        #expect(report.lines.count == 1 && report.configuration == nil, "\(report.lines)")
        #expect(
            report.lines.first?.contains("assertion_audience: needs issuer or discovery_url") == true)
    }

    // MARK: Grants

    @Test func `a password grant needs name and password, and is warned about`() throws {
        #expect(identity(grant: "password").1.count == 3)
        let report = report(
            withIdentity("username: u", "password_file: \(token)").replacing(
                "authorization_code", with: "password"))
        #expect(report.lines.count == 1)
        #expect(report.lines.first?.contains("warning: identities.default.grant_type: RFC 9700") == true)
        let identity = try #require(report.configuration?.identities.first)
        #expect(identity.client.username == "u")
        #expect(try identity.credentials[.password]?.read().plaintext == "a.b.c")
    }

    @Test func `a token exchange needs its subject's token, and takes n_a`() throws {
        #expect(
            identity(grant: "token_exchange").1 == [
                "is missing, and token_exchange needs it, or subject_token: from_request"
            ])
        let (identity, problems) = identity(
            "subject_token_file: \(token)", "subject_token_type: jwt", "requested_token_type: urn:mine",
            grant: "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(problems == [])
        let client = try #require(identity?.client)
        #expect(client.subjectTokenType == "urn:ietf:params:oauth:token-type:jwt")
        #expect(client.requestedTokenType == "urn:mine")
        #expect(client.acceptedTokenTypes == ["bearer", "n_a"])
        let standard = self.identity("subject_token_file: \(token)", grant: "token_exchange").0
        #expect(standard?.client.subjectTokenType == "urn:ietf:params:oauth:token-type:access_token")
    }

    @Test func `a jwt_bearer grant needs a key or a file`() {
        #expect(
            identity(grant: "jwt_bearer").1 == ["is missing, and jwt_bearer needs it, or assertion_file"])
        #expect(
            identity(
                "assertion_file: \(token)", "token_endpoint_auth_method: private_key_jwt", grant: "jwt_bearer"
            )
            .1 == ["needs private_key_file: with jwt_bearer assertion_file is the grant's"])
    }

    @Test func `what another grant would use is pointed out`() {
        #expect(identity("subject: s").1 == ["is not used: it belongs to grant_type jwt_bearer"])
        #expect(identity("username: u").0 != nil)
    }

    @Test func `additional parameters must not clash with our own`() throws {
        for name in ["client_assertion", "subject_token", "assertion", "username", "code_verifier"] {
            #expect(
                identity("token_params: {\(name): x}").1 == [
                    "clashes with a parameter that bearerd sends itself"
                ])
        }
        for name in ["state", "nonce", "response_type", "code_challenge"] {
            #expect(
                identity("authorization_params: {\(name): x}").1 == [
                    "clashes with a parameter that bearerd sends itself"
                ])
        }
        let client = try #require(identity("authorization_params: {prompt: consent}").0?.client)
        #expect(client.authorizationParameters == [NamedValue("prompt", "consent")])
    }
}
