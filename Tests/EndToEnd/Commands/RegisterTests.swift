// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import BearerdTestSupport
import Testing

/// `bearerd register` (RFC 7591).
@Suite(.blocking) struct `Registering` {
    private let provider: HostileProvider
    private let directory: TemporaryDirectory
    private let upstream: RawUpstream
    private let secret = "made-secret-" + randomText()

    init() throws {
        provider = try HostileProvider()
        directory = try TemporaryDirectory()
        upstream = try RawUpstream()
        provider.discovery { _, provider in
            provider.discoveryDocument(members: #","registration_endpoint":"\#(provider.issuer)/register""#)
        }
        answer(
            #"{"client_id":"made-1","client_secret":"\#(secret)","client_secret_expires_at":0}"#, status: 201)
    }

    private func answer(_ body: String, status: Int = 200) {
        provider.serve("POST", "/register") { _ in .json(body, status: status) }
    }

    private func configured(_ grant: String = "client_credentials", _ more: String = "") throws -> String {
        let text = Sidecar.configuration(
            provider: provider, upstream: upstream.url, clientSecret: "x", directory: directory,
            .init(identity: more, grant: grant)
        ).replacing("    client_id: legacy-app\n", with: "").replacing("    client_secret: x\n", with: "")
        return try directory.write("config.yaml", text)
    }

    private var asked: TestJSON {
        TestJSON(parsing: provider.requests("POST", "/register").last?.message.text ?? "") ?? .null
    }

    @Test func `the client is kept in the store, and every command and the daemon are it`() throws {
        let file = try configured()
        let before = try BearerdProcess.command("token", "-c", file)
        #expect(before.exit == 78 && before.errors.contains("register"), "\(before.errors)")
        let result = try BearerdProcess.command("register", "-c", file)
        #expect(result.exit == 0 && result.output.contains("made-1"), "\(result.errors)")
        #expect(LeakScan.leaks(of: [secret], in: result.output + result.errors).isEmpty)
        #expect(asked["grant_types"][0].string == "client_credentials" && asked["redirect_uris"] == .null)

        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        #expect(provider.requests.last?.basicCredentials?.name == "made-1")
        #expect(provider.requests.last.flatMap { formDecoded($0.basicCredentials?.password ?? "") } == secret)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/", []).status == 200)
        #expect(LeakScan.leaks(of: [secret], in: bearerd.log).isEmpty)
    }

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `the method that is configured is asked for, and used`(method: String) throws {
        let file = try configured("client_credentials", "token_endpoint_auth_method: \(method)")
        #expect(try BearerdProcess.command("check", "-c", file).exit == 0)
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        #expect(asked["token_endpoint_auth_method"].string == method)
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        let request = try #require(provider.requests.last)
        #expect((request["client_secret"] == secret) == (method == "client_secret_post"))
        #expect((request.basicCredentials?.name == "made-1") == (method == "client_secret_basic"))
    }

    @Test func `a running daemon becomes the client by itself`() throws {
        let file = try configured()
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/", []).status == 503)
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        try eventually("a token") {
            try RawClient(to: bearerd.proxy).request("GET", "/", []).status == 200
        }
        answer(#"{"client_id":"made-2","client_secret":"\#(secret)","client_secret_expires_at":0}"#)
        let again = try BearerdProcess.command("register", "-c", file)
        #expect(again.exit == 0 && again.output.contains("made-2"))
        try eventually("the new client") {
            provider.requests.last?.basicCredentials?.name == "made-2"
        }
    }

    @Test func `a login's redirect is registered without a port, and the initial access token is shown`()
        throws
    {
        let file = try configured(
            "authorization_code", "initial_access_token: initial-token\nscope: openid email")
        let result = try BearerdProcess.command("register", "-c", file)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(asked["redirect_uris"] == .array([.string("http://127.0.0.1/callback")]))
        #expect(asked["grant_types"].array.compactMap(\.string) == ["authorization_code", "refresh_token"])
        #expect(asked["response_types"][0].string == "code" && asked["scope"].string == "openid email")
        #expect(asked["application_type"].string == "native")
        let message = try #require(provider.requests("POST", "/register").last).message
        #expect(message["Authorization"] == "Bearer initial-token")
        #expect(message["Content-Type"] == "application/json")
        #expect(LeakScan.leaks(of: ["initial-token"], in: result.output + result.errors).isEmpty)
    }

    @Test(arguments: ["RS256", "PS256", "ES256", "EdDSA"])
    func `the public key of private_key_jwt goes along, and verifies what the client signs`(
        name: String
    ) throws {
        let pair = try TestKeyPair(name)
        let key = try directory.write("key.pem", bytes: TemporaryDirectory.contents(of: pair.privateKeyFile))
        let file = try configured(
            "client_credentials", "private_key_file: \(key)\nprivate_key_id: k1\nsigning_alg: \(name)")
        answer(#"{"client_id":"made-1","token_endpoint_auth_method":"private_key_jwt"}"#, status: 201)
        let result = try BearerdProcess.command("register", "-c", file)
        #expect(result.exit == 0, "\(result.errors)")
        let jwk = asked["jwks"]["keys"][0]
        #expect(
            asked["jwks"]["keys"].array.count == 1
                && asked["token_endpoint_auth_method"].string == "private_key_jwt")
        #expect(jwk["kid"].string == "k1" && jwk["alg"].string == name && jwk["use"].string == "sig")
        #expect(["d", "p", "q", "dp", "dq", "qi"].allSatisfy { jwk[$0] == .null })
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        let assertion = try #require(provider.requests.last?["client_assertion"])
        let published = try #require(
            JSONWebKey(
                JSONObject(parsing: Array(provider.requests("POST", "/register")[0].message.text.utf8))[
                    "jwks"]?
                    .object?["keys"]?.array?.first?.object ?? [:]))
        #expect(try published.verifies(JWS(compact: assertion)))
    }

    @Test func `what the configuration has of metadata goes along as YAML types it`() throws {
        let file = try configured(
            "authorization_code",
            """
            post_logout_redirect_uri: com.example.app:/bye
            registration_params:
              software_id: "7"
              default_max_age: 3600
              require_auth_time: true
              contacts: [a@example.com, b@example.com]
              tls: {bound: false, names: [{dns: x}]}
            """)
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        #expect(asked["post_logout_redirect_uris"] == .array([.string("com.example.app:/bye")]))
        #expect(asked["software_id"].string == "7" && asked["default_max_age"].number == 3600)
        #expect(asked["require_auth_time"] == .bool(true) && asked["jwks"] == .null)
        #expect(asked["contacts"].array.compactMap(\.string) == ["a@example.com", "b@example.com"])
        #expect(asked["tls"]["bound"] == .bool(false) && asked["tls"]["names"][0]["dns"].string == "x")

        let pair = try TestKeyPair("ES256")
        let key = try directory.write("key.pem", bytes: TemporaryDirectory.contents(of: pair.privateKeyFile))
        let own = try configured(
            "authorization_code",
            """
            private_key_file: \(key)
            post_logout_redirect_uri: com.example.app:/bye
            registration_params:
              jwks_uri: https://app.example.com/jwks
              post_logout_redirect_uris: [com.example.app:/bye, com.example.app:/other]
            """)
        #expect(try BearerdProcess.command("register", "-c", own).exit == 0)
        #expect(asked["jwks"] == .null && asked["jwks_uri"].string == "https://app.example.com/jwks")
        #expect(asked["post_logout_redirect_uris"].array.count == 2)

        let clash = try configured(
            "authorization_code", "registration_params: {redirect_uris: [x], nested: {a: ~}}")
        let refused = try BearerdProcess.command("check", "-c", clash)
        #expect(refused.exit == 78 && refused.errors.contains("registration_params.redirect_uris: clashes"))
        #expect(refused.errors.contains("registration_params.nested.a"), "\(refused.errors)")
    }

    @Test func `a login is one of the client that was made`() throws {
        let file = try configured("authorization_code")
        #expect(try BearerdProcess.command("login", "--no-browser", "-c", file).exit == 78)
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        let login = try BearerdProcess.command("login", "--no-browser", "--timeout", "100ms", "-c", file)
        #expect(login.exit == 69 && login.output.contains("client_id=made-1&"), "\(login.errors)")
    }

    @Test(arguments: [400, 403])
    func `a scope that the provider does not like is left to the provider`(status: Int) throws {
        let file = try configured("client_credentials", "scope: openid orders")
        provider.serve("POST", "/register") { message in
            message.text.contains("openid")
                ? .json(#"{"error":"invalid_client_metadata"}"#, status: status)
                : .json(#"{"client_id":"made-1","client_secret":"s1"}"#, status: 201)
        }
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        #expect(provider.requests("POST", "/register").count == 2 && asked["scope"] == .null)
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        #expect(provider.requests.last?["scope"] == "openid orders")
    }

    @Test func `a public client is one, and the end of a secret is warned of`() throws {
        let file = try configured("refresh_token")
        answer(#"{"client_id":"made-1","token_endpoint_auth_method":"none"}"#)
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        let token = try directory.write("token", provider.makeRefreshToken() + "\n")
        #expect(try BearerdProcess.command("import", "--refresh-token", token, "-c", file).exit == 0)
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        #expect(provider.requests.last?["client_id"] == "made-1")
        #expect(provider.requests.last?.message["Authorization"] == nil)
        #expect(try BearerdProcess.command("logout", "--local", "-c", file).exit == 0)
        #expect(try BearerdProcess.command("import", "--refresh-token", token, "-c", file).exit == 0)

        answer(#"{"client_id":"made-2","client_secret":"\#(secret)","client_secret_expires_at":1800000000}"#)
        let expiring = try BearerdProcess.command("register", "-c", file)
        #expect(expiring.exit == 0 && expiring.errors.contains("2027-01-15"), "\(expiring.errors)")
        #expect(
            try BearerdProcess.command("token", "-c", file).exit == 77, "the session was the other client's")
    }

    @Test(arguments: [
        Reply.json("{}"), .json(#"{"client_id":7}"#), .json(#"{"client_id":""}"#), .json("[]"), .ok("<html>"),
        .json(#"{"client_id":"a","client_secret":"\u0000"}"#), .json(#"{"client_id":"a\u0007"}"#),
        .json(#"{"client_id":"a","token_endpoint_auth_method":"client_secret_post"}"#),
        .json(#"{"client_id":"a","token_endpoint_auth_method":"magic"}"#), .response(500), .response(401),
        .close,
        .oauthError("invalid_client_metadata"), .response(302, [("Location", "/")]),
        .json(#"{"client_id":"\#(String(repeating: "x", count: 10 << 20))"}"#),
    ])
    func `an answer that is no client is 69, and nothing changes`(reply: Reply) throws {
        let file = try configured()
        #expect(try BearerdProcess.command("register", "-c", file).exit == 0)
        provider.serve("POST", "/register") { _ in reply }
        let result = try BearerdProcess.command("register", "-c", file)
        #expect(result.exit == 69 && result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        #expect(provider.requests.last?.basicCredentials?.name == "made-1")
    }
}
