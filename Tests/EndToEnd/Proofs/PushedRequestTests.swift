// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Logins whose request goes to the provider itself (RFC 9126, `par`).
@Suite(.blocking) struct `A login whose request is pushed` {
    private final class Site: Sendable {
        let provider: HostileProvider
        let directory: TemporaryDirectory
        let file: String

        init(_ identity: String, requires: Bool = false) throws {
            provider = try HostileProvider()
            provider.discovery { _, provider in
                provider.discoveryDocument(
                    members: #"""
                        ,"pushed_authorization_request_endpoint":"\#(provider.issuer)/par"
                        """# + (requires ? #","require_pushed_authorization_requests":true"# : ""))
            }
            let directory = try TemporaryDirectory()
            self.directory = directory
            file = try Sidecar.file(
                provider: provider, clientSecret: "fake-secret", directory: directory,
                .init(identity: "scope: api\n\(identity)", grant: "authorization_code"))
        }

        func login() throws -> Subprocess {
            try Subprocess([BearerdProcess.binary, "login", "--no-browser", "-c", file])
        }

        func line(_ number: Int, of login: Subprocess) throws -> String {
            try login.output.wait(for: "line \(number) of the login") { capture in
                let lines = capture.text.split(separator: "\n", omittingEmptySubsequences: false)
                return lines.count > number ? String(lines[number - 1]) : nil
            }
        }
    }

    @Test(arguments: ["true", "auto"])
    func `shows the browser a reference alone, and is the client's own`(par: String) throws {
        let site = try Site("par: \(par)", requires: par == "auto")
        site.provider.takePushedRequests { $0.basicCredentials?.password == "fake-secret" }
        let login = try site.login()
        let url = try site.line(1, of: login)
        _ = try browse(try site.provider.approve(url))
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
        let pushed = try #require(site.provider.requests("POST", "/par").first)
        #expect(pushed["scope"] == "api" && pushed["response_type"] == "code" && pushed["state"] != nil)
        #expect(site.provider.requests.map(\.grant) == ["authorization_code"])
        #expect(!url.contains("state=") && !url.contains("scope="))
    }

    @Test func `tells whoever takes the URL elsewhere how long it is good`() throws {
        let site = try Site("par: true\ndpop: true")
        let judge = ProofJudge(nonce: "as-1")
        site.provider.takePushedRequests(judge, lifetime: "40")
        site.provider.demandProofs(judge)
        let redirect = "com.example.app:/done"
        let login = try BearerdProcess.command("login", "--redirect-uri", redirect, "-c", site.file)
        #expect(
            login.exit == 0 && login.errors.contains(#/forgets this request in (39|40) s/#), "\(login.errors)"
        )
        let answer = try site.provider.approve(String(login.output.dropLast()))
        let exchange = try BearerdProcess.command("exchange", "--response", answer, "-c", site.file)
        #expect(exchange.exit == 0, "\(exchange.errors)")
        #expect(judge.faults == [] && Set(site.provider.bindings.withLock { $0.values }).count == 1)
    }

    @Test func `is not pushed where nobody wants that`() throws {
        for par in ["auto", "false"] {
            let site = try Site("par: \(par)", requires: par == "false")
            let login = try site.login()
            #expect(try site.line(1, of: login).contains("code_challenge="))
            login.signal(15)
        }
    }

    @Test func `is pushed anew when the provider has forgotten it, and prints another URL`() throws {
        let site = try Site("par: true")
        site.provider.takePushedRequests(lifetime: "1")
        let login = try site.login()
        let first = try site.line(1, of: login)
        let second = try site.line(2, of: login)
        #expect(first != second)
        _ = try browse(try site.provider.approve(second))
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
    }

    @Test func `binds its code, and the session, to one key`() throws {
        let site = try Site("par: true\ndpop: true")
        let judge = ProofJudge(nonce: "as-1", rotates: true)
        site.provider.demandProofs(judge)
        site.provider.takePushedRequests(judge)
        let login = try site.login()
        _ = try browse(try site.provider.approve(try site.line(1, of: login)))
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
        let token = try BearerdProcess.command("refresh", "-c", site.file)
        #expect(token.exit == 0, "\(token.errors)")
        #expect(judge.faults == [] && Set(site.provider.bindings.withLock { $0.values }).count == 1)
        #expect(site.provider.requests("POST", "/par").last?["dpop_jkt"] != nil)
    }

    @Test func `is what a refusal asks for that another login meets`() throws {
        for (par, requires, query, isNamed) in [
            (
                "auto", false,
                "invalid_request&error_description=Pushed%20Authorization%20Request%20must%20be%20used", true
            ),
            ("false", true, "invalid_request", true), ("auto", false, "invalid_request", false),
            ("false", true, "access_denied", false),
        ] {
            let site = try Site("par: \(par)", requires: requires)
            let login = try site.login()
            let granted = try site.provider.approve(try site.line(1, of: login), isPushed: false)
            _ = try browse(granted.replacing(#/code=[^&]*/#, with: "error=\(query)"))
            #expect(try login.waitForEnd() == .exited(77))
            let errors = login.errors.withLock { $0.text }
            #expect(errors.contains("set par: true") == isNamed, "\(errors)")
        }
    }

    @Test func `is pushed for as many visits as can wait, and then later`() throws {
        let site = try Site("par: true")
        site.provider.takePushedRequests()
        let daemon = try BearerdProcess(arguments: ["run", "-c", site.file])
        func visit() throws -> RawResponse {
            try RawClient(to: daemon.admin).request(
                "GET", "/login/default", [("Accept", "text/html"), ("Sec-Fetch-Mode", "navigate")])
        }
        for _ in 0..<14 { #expect(try visit().status == 303) }
        for _ in 0..<10 {
            let refused = try visit()
            #expect(refused.status == 429 && (refused["Retry-After"].flatMap(Int.init) ?? 0) > 0)
            #expect(refused.text.contains("as many as can wait"), "\(refused.text)")
        }
        #expect(site.provider.requests("POST", "/par").count == 14)
    }

    @Test(arguments: [
        (Reply.oauthError("invalid_client", status: 401), "client_secret"),
        (.json(#"{"expires_in":60}"#, status: 201), "request_uri"), (.response(404), "404"),
        (.json(#"{"request_uri":"a b","expires_in":60}"#, status: 201), "request_uri"),
    ])
    func `ends with what the provider has against it`(reply: Reply, word: String) throws {
        let site = try Site("par: true")
        site.provider.serve("POST", "/par") { _ in reply }
        let login = try site.login()
        guard case .exited(let code) = try login.waitForEnd() else { throw WireError("it did not end") }
        let errors = login.errors.withLock { $0.text }
        #expect(code != 0 && errors.contains(word) && errors.contains("/par"), "\(code) \(errors)")
    }
}
