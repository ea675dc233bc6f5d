// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// How the client proves itself; the provider of the test checks every proof itself.
@Suite(.blocking) struct `Client authentication` {
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// Answers only requests whose assertion is right, each `jti` once.
    private final class Judge: Sendable {
        private let seen = Monitor<Set<String>>([])
        let verdicts = Monitor<[String]>([])

        func judge(
            _ request: TokenRequest, _ provider: HostileProvider, audience: String,
            issuer: String = "legacy-app",
            subject: String = "legacy-app", _ token: TestToken?
        ) -> Reply {
            let objection = objection(to: token, audience, issuer, subject)
            verdicts.withLock { $0.append(objection ?? "good") }
            return objection == nil
                ? provider.goodAnswer(to: request) : .oauthError("invalid_client", status: 401)
        }

        /// A provider that takes those assertions alone that the pair has signed.
        static func provider(
            _ pair: TestKeyPair, _ audience: @escaping @Sendable (HostileProvider) -> String
        ) throws -> (Judge, HostileProvider) {
            let (judge, provider) = (Judge(), try HostileProvider())
            provider.always { request, provider in
                judge.judge(
                    request, provider, audience: audience(provider),
                    try pair.verify(request["client_assertion"] ?? ""))
            }
            return (judge, provider)
        }

        private func objection(
            to token: TestToken?, _ audience: String, _ issuer: String, _ subject: String
        ) -> String? {
            guard let claims = token?.claims else { return "signature" }
            let now = Double(time(nil))
            guard claims["aud"].string == audience else { return "aud" }
            guard claims["iss"].string == issuer, claims["sub"].string == subject else { return "iss or sub" }
            guard let expiry = claims["exp"].number, expiry > now, expiry <= now + 61 else { return "exp" }
            guard let issued = claims["iat"].number, abs(issued - now) < 5 else { return "iat" }
            guard let identifier = claims["jti"].string,
                seen.withLock({ $0.insert(identifier).inserted })
            else { return "jti" }
            return nil
        }
    }

    private func check(_ sidecar: Sidecar, _ judge: Judge) throws {
        #expect(try sidecar.get().status == 200)
        for _ in 0..<3 { try sidecar.act("refresh") }
        #expect(judge.verdicts.withLock { $0 } == ["good", "good", "good", "good"])
        for request in sidecar.provider.requests {
            #expect(request["client_id"] == "legacy-app")
            #expect(request["client_assertion_type"] == Self.assertionType)
            #expect(request["client_secret"] == nil && request.message["Authorization"] == nil)
        }
    }

    @Test(arguments: ["RS256", "PS256", "ES256", "EdDSA"])
    func `private_key_jwt signs with a key in PEM`(algorithm: String) throws {
        let pair = try TestKeyPair(algorithm)
        let (judge, provider) = try Judge.provider(pair) { $0.tokenEndpoint }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity:
                    "private_key_file: \(pair.privateKeyFile)\nsigning_alg: \(algorithm)\nprivate_key_id: k9",
                hasSecret: false))
        try check(sidecar, judge)
        #expect(TestToken(provider.requests[0]["client_assertion"] ?? "")?.header["kid"].string == "k9")
    }

    @Test func `private_key_jwt is for the issuer on demand, and names its certificate`() throws {
        let pair = try TestKeyPair("RS256")
        let (judge, provider) = try Judge.provider(pair) { $0.issuer }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: """
                    private_key_file: \(pair.privateKeyFile)
                    assertion_certificate_file: \(pair.certificateFile)
                    assertion_audience: issuer
                    """, hasSecret: false))
        try check(sidecar, judge)
        let header = try #require(TestToken(provider.requests[0]["client_assertion"] ?? "")).header
        for (member, digest) in [("x5t", "sha1"), ("x5t#S256", "sha256")] {
            let text = (header[member].string ?? "").replacing("-", with: "+").replacing("_", with: "/")
            let digits = (base64Decoded(text) ?? []).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            #expect(digits.joined() == (try pair.fingerprint(digest)), "\(member)")
        }
    }

    @Test func `a certificate of another key is a configuration error`() throws {
        let (pair, other) = (try TestKeyPair("ES256"), try TestKeyPair("ES256"))
        let directory = try TemporaryDirectory()
        let provider = try HostileProvider()
        func check(_ certificate: String) throws -> (exit: Int32, output: String, errors: String) {
            let text = Sidecar.configuration(
                provider: provider, upstream: "https://api.test", clientSecret: "s", directory: directory,
                .init(
                    identity: """
                        private_key_file: \(pair.privateKeyFile)
                        assertion_certificate_file: \(certificate)
                        """, hasSecret: false))
            return try BearerdProcess.command("check", "-c", directory.write("c.yaml", text))
        }
        let good = try check(pair.certificateFile)
        #expect(good.exit == 0 && good.output.contains("private_key_jwt"), "\(good.errors)")
        let bad = try check(other.certificateFile)
        #expect(bad.exit == 78 && bad.errors.contains("certifies another key"), "\(bad.errors)")
    }

    @Test func `client_secret_jwt signs with the secret`() throws {
        let directory = try TemporaryDirectory()
        let secret = "secret-" + randomText() + randomText()
        let judge = Judge()
        let provider = try HostileProvider()
        provider.always { request, provider in
            let token = TestToken(request["client_assertion"] ?? "")
            let isGood = try token.map { token in
                let file = try directory.write("signed", token.signed)
                let digest = try openssl(
                    ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "key:\(secret)", "-hex", file])
                let hex = token.signature.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                return token.header["alg"].string == "HS256" && digest.contains(hex)
            }
            return judge.judge(
                request, provider, audience: provider.tokenEndpoint, isGood == true ? token : nil)
        }
        let sidecar = try Sidecar(
            provider: provider, clientSecret: secret,
            .init(identity: "token_endpoint_auth_method: client_secret_jwt"))
        try check(sidecar, judge)
    }

    @Test func `an assertion_file is sent as it is at each use`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("assertion", "first.of.all\n")
        let sidecar = try Sidecar(.init(identity: "assertion_file: \(file)", hasSecret: false))
        #expect(try sidecar.get().status == 200)
        try directory.write("assertion", "second.one.now\n")
        try sidecar.act("refresh")
        #expect(
            sidecar.provider.requests.map { $0["client_assertion"] } == ["first.of.all", "second.one.now"])
        #expect(sidecar.provider.requests.allSatisfy { $0["client_id"] == "legacy-app" })
    }

    @Test(.timeLimit(.minutes(10)))
    func `a key that is replaced ends the back-off within a second`() throws {
        #expect(try isOnce(within: .seconds(2), healWithAnotherKey))
    }

    private func healWithAnotherKey(_ begin: () -> Void) throws {
        let directory = try TemporaryDirectory()
        let wrong = try TestKeyPair("ES256")
        let right = try TestKeyPair("ES256")
        let file = directory.path("key")
        try directory.write("key", bytes: TemporaryDirectory.contents(of: wrong.privateKeyFile))
        let provider = try HostileProvider()
        provider.always { request, provider in
            try right.verify(request["client_assertion"] ?? "") == nil
                ? .oauthError("invalid_client", status: 401) : provider.goodAnswer(to: request)
        }
        let sidecar = try Sidecar(
            provider: provider, .init(identity: "private_key_file: \(file)", hasSecret: false))
        // The third try fails after 3 s, and the fourth is 4 s away.
        try provider.request(3)
        #expect(try sidecar.state() == "misconfigured")
        begin()
        try directory.write("key", bytes: TemporaryDirectory.contents(of: right.privateKeyFile))
        try sidecar.awaitToken()
    }

    @Test(.timeLimit(.minutes(10)))
    func `an authority that is replaced ends the back-off within a second`() throws {
        #expect(try isOnce(within: .seconds(2), healWithAnotherAuthority))
    }

    private func healWithAnotherAuthority(_ begin: () -> Void) throws {
        let directory = try TemporaryDirectory()
        let wrong = try TLSAuthority()
        let right = try TLSAuthority()
        let file = try directory.write("ca", bytes: TemporaryDirectory.contents(of: wrong.certificateFile))
        let sidecar = try Sidecar(
            provider: try HostileProvider(tls: right.server()), .init(identity: "ca_file: \(file)"))
        // The next try is 4 s away.
        try eventually("the third failure") {
            sidecar.bearerd.log.split(separator: "token request failed").count > 3
        }
        #expect(try sidecar.state() == "misconfigured" && sidecar.bearerd.log.contains("certificate"))
        begin()
        try directory.write("ca", bytes: TemporaryDirectory.contents(of: right.certificateFile))
        try sidecar.awaitToken()
    }

    @Test(arguments: ["tls_client_auth", "self_signed_tls_client_auth"])
    func `a client certificate is shown to a provider that demands one, at its other address`(
        method: String
    ) throws {
        let authority = try TLSAuthority()
        let pair = try TestKeyPair("ES256")
        let client =
            method == "tls_client_auth"
            ? try authority.client() : (certificateFile: pair.certificateFile, keyFile: pair.privateKeyFile)
        let clientAuthority = method == "tls_client_auth" ? authority.certificateFile : pair.certificateFile
        let provider = try HostileProvider(tls: authority.server())
        let demanding = try HostileProvider(tls: authority.server(clientAuthority: clientAuthority))
        provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #","mtls_endpoint_aliases":{"token_endpoint":"\#(demanding.tokenEndpoint)"}"#)
        }
        func settings(_ more: String) -> Sidecar.Settings {
            .init(identity: "ca_file: \(authority.certificateFile)\n" + more, hasSecret: false)
        }
        let sidecar = try Sidecar(
            provider: provider,
            settings(
                """
                token_endpoint_auth_method: \(method)
                client_certificate_file: \(client.certificateFile)
                client_key_file: \(client.keyFile)
                """))
        #expect(try sidecar.get().status == 200)
        #expect(provider.requests.isEmpty)
        let request = try demanding.request(1)
        #expect(request.parameters.map(\.name) == ["grant_type", "client_id"])
        #expect(request["client_id"] == "legacy-app")

        let bare = try Sidecar(provider: demanding, settings(""))
        #expect(try bare.get().status == 503)
        #expect(demanding.requests.count == 1, "nobody without a certificate gets through")
        let error = try #require(try bare.identityStatus()["last_error"]["detail"].string)
        #expect(error.contains("the server wants a client certificate; look at client_certificate_file"))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a client certificate that the provider refuses is told, and one in its place is tried at once`()
        throws
    {
        #expect(try isOnce(within: .seconds(2), healWithAnotherCertificate))
    }

    private func healWithAnotherCertificate(_ begin: () -> Void) throws {
        let (old, new) = (try TLSAuthority(), try TLSAuthority())
        let directory = try TemporaryDirectory()
        let file = try directory.write("client.pem", bytes: Self.pair(of: old))
        let sidecar = try Sidecar(
            provider: HostileProvider(tls: old.server(clientAuthority: new.certificateFile)),
            .init(
                identity: """
                    ca_file: \(old.certificateFile)
                    token_endpoint_auth_method: tls_client_auth
                    client_certificate_file: \(file)
                    client_key_file: \(file)
                    """, hasSecret: false))
        // The next try is 4 s away.
        try eventually("the third failure") {
            sidecar.bearerd.log.split(separator: "token request failed").count > 3
        }
        #expect(try sidecar.state() == "misconfigured")
        #expect(
            sidecar.bearerd.log.contains(
                "no authority that it trusts has signed it; look at client_certificate_file"))
        begin()
        try directory.write("client.pem", bytes: Self.pair(of: new))
        try sidecar.awaitToken()
    }

    @Test
    func `a client certificate that is replaced is shown from then on, and a frozen file holds up nobody`()
        throws
    {
        let (old, new) = (try TLSAuthority(), try TLSAuthority())
        let provider = try HostileProvider(tls: old.server(clientAuthority: new.certificateFile))
        let directory = try TemporaryDirectory()
        let file = try directory.write("client.pem", bytes: Self.pair(of: old))
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: """
                    ca_file: \(old.certificateFile)
                    token_endpoint_auth_method: tls_client_auth
                    client_certificate_file: \(file)
                    client_key_file: \(file)
                    """, hasSecret: false))
        try eventually("a failure") { sidecar.bearerd.log.contains("token request failed") }
        try directory.write("client.pem", bytes: Self.pair(of: new))
        try sidecar.awaitToken()
        // Whoever opens it now stands still, as where a file system does not answer.
        unlink(file)
        #expect(mkfifo(file, 0o600) == 0)
        #expect(try sidecar.act("refresh").status == 200)
        #expect(try sidecar.get().status == 200)
    }

    /// A certificate of a client, and its key.
    private static func pair(of authority: TLSAuthority) throws -> [UInt8] {
        let client = try authority.client()
        return TemporaryDirectory.contents(of: client.certificateFile)
            + TemporaryDirectory.contents(of: client.keyFile)
    }

    @Test func `client_secret_post has id and secret in the body`() throws {
        let sidecar = try Sidecar(.init(identity: "token_endpoint_auth_method: client_secret_post"))
        sidecar.provider.setPolicy { $0.clientSecret = nil }
        #expect(try sidecar.get().status == 200)
        let request = try sidecar.provider.request(1)
        #expect(request["client_secret"] == sidecar.clientSecret && request["client_id"] == "legacy-app")
        #expect(request.message["Authorization"] == nil)
    }
}
