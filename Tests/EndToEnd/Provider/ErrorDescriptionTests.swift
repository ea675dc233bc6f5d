// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What people read when a provider fails: on standard error, in the log, and in the status.
@Suite(.blocking) struct `The words of a provider's failure` {
    /// A way to fail, and what must be said of it.
    struct Failure: CustomTestStringConvertible {
        let name: String
        let answer: HostileProvider.Answer
        /// Among the words; `TOKEN` stands for the token endpoint, `SERVER` for the host and port.
        let words: [String]
        var code = ""

        var testDescription: String { name }
    }

    static let failures: [Failure] = [
        Failure(
            name: "a refused client",
            answer: { _, _ in refusal("invalid_client", "Client is disabled", 401) },
            words: ["TOKEN answered 401", "\"Client is disabled\"", "client_secret_file", "client_id"],
            code: "invalid_client"),
        Failure(
            name: "a refused client that repeats its code",
            answer: { _, _ in refusal("invalid_client", "invalid_client: no such client", 401) },
            words: ["TOKEN answered 401", "no such client", "client_secret_file"], code: "invalid_client"),
        Failure(
            name: "a refused scope", answer: { _, _ in refusal("invalid_scope", "Unknown scope", 400) },
            words: ["TOKEN answered 400", "\"Unknown scope\"", "look at scope"], code: "invalid_scope"),
        Failure(
            name: "a server out of order", answer: { _, _ in .json("{}", status: 500) },
            words: ["TOKEN answered 500"], code: "http_500"),
        Failure(
            name: "no token in it", answer: { _, _ in .json("{}") }, words: ["TOKEN", "access token"],
            code: "no_access_token"),
        Failure(
            name: "a page",
            answer: { _, _ in .response(200, [("Content-Type", "text/html; charset=utf-8")], "<html>") },
            words: ["the answer of TOKEN is a page of HTML"], code: "empty_answer"),
        Failure(
            name: "a redirect", answer: { _, _ in .response(302, [("Location", "/login")], "") },
            words: ["TOKEN answered 302, a redirect, which is never followed"], code: "http_302"),
        Failure(
            name: "a closed connection", answer: { _, _ in .close },
            words: ["TOKEN broke off", "; does it want https://?"], code: "interrupted"),
        Failure(
            name: "half an answer",
            answer: { _, _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", thenClose: true) },
            words: ["TOKEN broke off: the connection ended"], code: "interrupted"),
        Failure(
            name: "a field without an end",
            answer: { _, _ in
                .raw("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n")
            }, words: ["the answer of TOKEN is larger than"], code: "answer_too_large"),
        Failure(
            name: "no answer", answer: { _, _ in .raw("") }, words: ["TOKEN did not answer within 2 s"],
            code: "timed_out"),
        Failure(
            name: "no HTTP", answer: { _, _ in .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n", thenClose: true) },
            words: ["TOKEN"]),
    ]

    private static func refusal(_ code: String, _ words: String, _ status: Int) -> Reply {
        .json(#"{"error":"\#(code)","error_description":"\#(words)"}"#, status: status)
    }

    @Test(arguments: failures) func `name place, reason and remedy`(failure: Failure) throws {
        let provider = try HostileProvider()
        provider.always(failure.answer)
        let directory = try TemporaryDirectory()
        try directory.write("client.secret", "secret-" + randomText())
        let sidecar = try Sidecar(
            provider: provider, directory: directory,
            .init(
                top: "timeouts: {token: 2s, token_wait: 5s}",
                identity: "client_secret_file: client.secret", hasSecret: false))
        let server = try #require(provider.issuer.split(separator: "//").last.map(String.init))
        func check(_ line: String, _ where: String) {
            for word in failure.words {
                let expected = word.replacing("TOKEN", with: provider.tokenEndpoint)
                    .replacing("SERVER", with: server)
                #expect(line.contains(expected), "\(`where`): \(line)")
            }
            #expect(!line.contains("token endpoint"), "\(line)")
            guard !failure.code.isEmpty else { return }
            #expect(line.ranges(of: failure.code).count <= 1, "\(`where`): \(line)")
        }
        let logged = try sidecar.bearerd.logLine("the failure") { $0.message == "token request failed" }
        check(logged["reason"] ?? "", "log")
        if !failure.code.isEmpty { #expect(logged["code"] == failure.code) }
        try eventually("the status") { try sidecar.identityStatus()["last_error"]["detail"].string != nil }
        check(try sidecar.identityStatus()["last_error"]["detail"].string ?? "", "status")
        let token = try BearerdProcess.command("token", "-c", directory.path("config.yaml"))
        #expect(token.exit != 0 && token.errors.split(separator: "\n").count == 1, "\(token.errors)")
        check(token.errors, "stderr")
    }

    @Test(arguments: [
        (Reply.response(404, [], ""), "answered 404"), (Reply.json("{}"), "it has no access token"),
        (Reply.response(200, [("Content-Type", "text/html")], "<html>"), "is a page of HTML"),
    ])
    func `name the key of a token endpoint that is none`(answer: Reply, words: String) throws {
        let provider = try HostileProvider()
        provider.always { _, _ in answer }
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "c.yaml",
            """
            identities:
              default:
                token_endpoint: \(provider.tokenEndpoint)
                client_id: app
                client_secret: not-a-real-secret
                grant_type: client_credentials
            routes: [{upstream: 'http://127.0.0.1:2', identity: default}]
            store: {directory: store}
            """)
        let result = try BearerdProcess.command("token", "-c", file)
        #expect(result.exit != 0, "\(result)")
        #expect(
            result.errors.contains(words) && result.errors.contains("; look at token_endpoint"),
            "\(result.errors)")
    }

    @Test func `name host and port where nobody listens`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "c.yaml",
            """
            identities:
              default: {issuer: 'http://127.0.0.1:1', client_id: app, grant_type: client_credentials}
            routes: [{upstream: 'http://127.0.0.1:2', identity: default}]
            store: {directory: store}
            timeouts: {token_wait: 1s}
            """)
        for words in [["token", "-c", file], ["discover", "http://127.0.0.1:1"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(result.ending == .exited(69))
            #expect(
                result.errors.contains("no connection to 127.0.0.1:1: connection refused"), "\(result.errors)"
            )
            #expect(result.errors.ranges(of: "unreachable").count <= 1)
        }
    }

    @Test func `name the fault of a certificate and the key that mends it`() throws {
        let authority = try TLSAuthority()
        let provider = try HostileProvider(tls: authority.server())
        let result = try BearerdProcess.command("discover", provider.issuer)
        #expect(result.exit != 0)
        for words in [
            "no TLS with localhost:\(provider.port)", "unknown CA", "ca_file names the authority to trust",
        ] {
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `name both issuers that do not match`() throws {
        let provider = try HostileProvider()
        provider.discovery { _, provider in
            .json(#"{"issuer":"https://other.test/realm","token_endpoint":"\#(provider.tokenEndpoint)"}"#)
        }
        let result = try BearerdProcess.command("discover", provider.issuer)
        #expect(result.exit == 69 && result.errors.contains("'https://other.test/realm'"), "\(result.errors)")
        #expect(result.errors.contains("'\(provider.issuer)'"))
        let sidecar = try Sidecar(provider: provider)
        let logged = try sidecar.bearerd.logLine("the mismatch") { $0["code"] == "issuer_mismatch" }
        for part in [provider.issuer, "https://other.test/realm"] {
            #expect(logged["reason"]?.contains(part) == true, "\(logged.json)")
        }
    }

    @Test func `name the endpoint that failed, not another one`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        for page in ["revoke", "userinfo", "register", "device"] {
            provider.serve("POST", "/\(page)") { _ in
                Self.refusal("invalid_request", "\(page) is closed", 400)
            }
            provider.serve("GET", "/\(page)") { _ in
                Self.refusal("invalid_request", "\(page) is closed", 400)
            }
        }
        let directory = try TemporaryDirectory()
        let endpoints = """
            revocation_endpoint: \(provider.issuer)/revoke
            userinfo_endpoint: \(provider.issuer)/userinfo
            registration_endpoint: \(provider.issuer)/register
            device_authorization_endpoint: \(provider.issuer)/device
            """
        let file = try directory.write(
            "c.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s-" + randomText(),
                directory: directory,
                .init(
                    identity: endpoints,
                    moreIdentities: """
                        person:
                          issuer: \(provider.issuer)
                          client_id: app
                          device_authorization_endpoint: \(provider.issuer)/device
                        """)))
        #expect(try BearerdProcess.command("token", "default", "-c", file).exit == 0)
        for (words, page) in [
            (["revoke", "default"], "revoke"), (["userinfo", "default"], "userinfo"),
            (["register", "default"], "register"), (["login", "person", "--device"], "device"),
        ] {
            let result = try Subprocess.run([BearerdProcess.binary] + words + ["-c", file])
            #expect(result.ending != .exited(0), "\(words)")
            #expect(
                result.errors.contains("\(provider.issuer)/\(page) answered 400: \"\(page) is closed\""),
                "\(result.errors)")
            #expect(!result.errors.contains("token endpoint"), "\(result.errors)")
            #expect(result.errors.ranges(of: "invalid_request").count <= 1, "\(result.errors)")
        }
    }

    @Test func `tell who must log in how`() throws {
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider, .init(grant: "refresh_token"))
        try sidecar.directory.write("refresh", "refresh-" + randomText())
        let file = sidecar.directory.path("config.yaml")
        let never = try BearerdProcess.command("token", "-c", file)
        #expect(never.exit == 77 && never.errors.contains("run 'bearerd login default'"), "\(never.errors)")
        provider.always { _, _ in .oauthError("invalid_grant") }
        let imported = try BearerdProcess.command(
            "import", "-c", file, "--refresh-token", sidecar.directory.path("refresh"))
        #expect(imported.exit == 0, "\(imported.errors)")
        let logged = try sidecar.bearerd.logLine("the end") { $0["code"] == "invalid_grant" }
        #expect(logged["reason"]?.contains("run 'bearerd login default'") == true, "\(logged.json)")
        try eventually("the state") { try sidecar.state() == "login_required" }
        let detail = try sidecar.identityStatus()["last_error"]["detail"].string ?? ""
        #expect(detail.contains("run 'bearerd login default'"), "\(detail)")
        let token = try BearerdProcess.command("token", "-c", file)
        #expect(token.exit == 77 && token.errors.ranges(of: "bearerd login").count == 1, "\(token.errors)")
        #expect(token.errors.ranges(of: "invalid_grant").count == 1, "\(token.errors)")
        let refused = try sidecar.act("refresh")
        #expect(refused.text.contains("bearerd login default"), "\(refused.text)")
    }

    @Test func `hold nothing of a secret that the provider repeats`() throws {
        let provider = try HostileProvider()
        provider.always { request, _ in
            let secret = request["client_secret"] ?? ""
            return Self.refusal("invalid_client", "the secret \(secret) is not known", 401)
        }
        let sidecar = try Sidecar(
            provider: provider, .init(identity: "token_endpoint_auth_method: client_secret_post"))
        try provider.request(1)
        try sidecar.bearerd.logLine("the refusal") { $0["code"] == "invalid_client" }
        #expect(!sidecar.bearerd.log.contains(sidecar.clientSecret))
        #expect(!(try sidecar.admin("GET", "/api/status").text.contains(sidecar.clientSecret)))
        let token = try BearerdProcess.command("token", "-c", sidecar.directory.path("config.yaml"))
        #expect(token.exit == 78 && !token.errors.contains(sidecar.clientSecret), "\(token.errors)")
    }
}
