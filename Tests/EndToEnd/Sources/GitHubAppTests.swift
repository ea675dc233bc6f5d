// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `source: github_app` against a fake that judges the App's proof as GitHub does.
@Suite(.blocking) struct `An installation token of a GitHub App` {
    /// A key pair, its directory, and what the fake has been asked.
    private final class Site: Sendable {
        let key: TestKeyPair
        let api: RawUpstream
        let site: SourceSite

        init(
            _ identity: String = "", route: String = "", moreRoutes: String = "", isOldForm: Bool = false,
            answer: @escaping @Sendable (RawRequest, Int) throws -> Reply = { _, count in
                .json(
                    #"{"token":"ghs_fakeToken\#(count)","expires_at":"\#(SourceTexts.moment(in: 900))"}"#,
                    status: 201)
            }
        ) throws {
            let key = try TestKeyPair("RS256")
            self.key = key
            let directory = try TemporaryDirectory()
            let file = directory.path("app.pem")
            // PKCS #1 is what GitHub hands out.
            try openssl(
                ["pkey", "-in", key.privateKeyFile, "-out", file] + (isOldForm ? ["-traditional"] : []))
            chmod(file, 0o600)
            let count = Monitor(0)
            api = try RawUpstream { request in
                guard request["User-Agent"] != nil else { return .response(403, [], "no agent") }
                guard let proof = try key.verify(String((request["Authorization"] ?? "").dropFirst(7))),
                    proof.claims["iss"].string == "12345", let end = proof.claims["exp"].number,
                    let begin = proof.claims["iat"].number, end - begin <= 600,
                    end <= Double(time(nil)) + 600, begin <= Double(time(nil))
                else { return .json(#"{"message":"A JSON web token could not be decoded"}"#, status: 401) }
                return try answer(
                    request,
                    count.withLock {
                        $0 += 1; return $0
                    })
            }
            site = try SourceSite(
                identity: """
                    source: github_app
                    app_id: 12345
                    installation_id: 678
                    private_key_file: app.pem
                    api: \(api.url)/api/v3
                    \(identity)
                    """, route: route, moreRoutes: moreRoutes, directory: directory)
        }
    }

    @Test(arguments: [false, true]) func `is asked for with a proof that GitHub takes`(
        _ isOldForm: Bool
    ) throws {
        let site = try Site(isOldForm: isOldForm)
        #expect(try site.site.get().status == 200)
        #expect(site.site.upstream.tokens == ["ghs_fakeToken1"])
        let request = try site.api.request()
        #expect(request.head.startLine == "POST /api/v3/app/installations/678/access_tokens HTTP/1.1")
        #expect(request["Accept"] == "application/vnd.github+json" && request.text == "{}")
        #expect(try site.site.status()["expires_at"].string?.count == 20)
        #expect(try site.site.requests("github_app") == 1)
        let proof = String((request["Authorization"] ?? "").dropFirst(7))
        #expect(LeakScan.leaks(of: ["ghs_fakeToken1", proof], in: try site.site.everythingShown()).isEmpty)
    }

    @Test func `of a route is for its repositories and permissions, in place of the identity's`() throws {
        let site = try Site(
            "repositories: [one]\npermissions: {contents: read}",
            moreRoutes: """
                - {path: /two, upstream: http://127.0.0.1:1, identity: default, repositories: [two, three]}
                - {path: /write, upstream: http://127.0.0.1:1, identity: default, permissions: {issues: write, contents: write}}
                """)
        try eventually("three tokens") { site.api.requests.count == 3 }
        #expect(
            Set(site.api.requests.map(\.text)) == [
                #"{"repositories":["one"],"permissions":{"contents":"read"}}"#,
                #"{"repositories":["two","three"],"permissions":{"contents":"read"}}"#,
                #"{"repositories":["one"],"permissions":{"contents":"write","issues":"write"}}"#,
            ])
        let check = try site.site.command("check")
        #expect(check.output.contains("repositories: two three"))
        try eventually("three tokens that can be used") {
            try site.site.status()["tokens"].array.allSatisfy { $0["state"].string == "authorized" }
        }
        let tokens = try site.site.status()["tokens"].array
        #expect(
            Set(tokens.map { $0["repositories"].string }) == ["one", "two three"]
                && Set(tokens.map { $0["permissions"]["issues"].string }) == [nil, "write"])
        let words = "repositories: one, permissions: contents=write issues=write"
        let page = try site.site.admin("/").text
        #expect(page.contains(words) && !page.contains("/revoke\"") && !page.contains("/logout\""))
    }

    @Test(arguments: [
        (401, "A JSON web token could not be decoded", "misconfigured"), (404, "Not Found", "misconfigured"),
        (422, "The permissions requested are not granted to this installation.", "misconfigured"),
        (403, "Resource not accessible", "misconfigured"), (500, "oops", "idp_unavailable"),
        (502, "bad gateway", "idp_unavailable"),
    ])
    func `that is refused tells GitHub's words, and what follows`(
        _ status: Int, _ message: String, _ code: String
    ) throws {
        let site = try Site { _, _ in
            .json(#"{"message":"\#(message)","documentation_url":"https://docs.example"}"#, status: status)
        }
        let answer = try site.site.get().json
        #expect(answer["code"].string == code)
        #expect(answer["detail"].string?.hasPrefix("GitHub ") == true)
        let detail = try site.site.status()["last_error"]["detail"].string ?? ""
        #expect(detail.contains("answered \(status)") && detail.contains(message.prefix(10)), "\(detail)")
    }

    @Test func `that GitHub takes no longer is exchanged for another one, in one replay`() throws {
        let site = try Site()
        site.site.upstream.answer { request in
            request["Authorization"] == "Bearer ghs_fakeToken1" ? .unauthorized : .ok()
        }
        #expect(try site.site.post("x").status == 200)
        #expect(site.site.upstream.tokens == ["ghs_fakeToken1", "ghs_fakeToken2"])
        #expect(site.api.requests.count == 2)
        #expect(try site.site.state() == "authorized")
    }

    @Test(arguments: ["repositories: []", "permissions: {}"])
    func `for nothing is an error that tells what GitHub would make of it`(_ line: String) throws {
        let site = try Site()
        for (identity, route) in [(line, ""), ("", line)] {
            let file = try site.site.directory.write(
                "other.yaml",
                SourceSite.configuration(
                    identity: """
                        source: github_app
                        app_id: 12345
                        installation_id: 678
                        private_key_file: app.pem
                        \(identity)
                        """, route: route))
            let check = try BearerdProcess.command("check", "-c", file)
            #expect(check.exit == 78 && check.errors.contains("GitHub takes for all"), "\(check)")
        }
    }

    @Test func `that is rate-limited comes when the limit is over`() throws {
        let site = try Site { _, count in
            switch count {
            case 1:
                .response(
                    403, [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "\(time(nil) + 1)")],
                    #"{"message":"limit"}"#)
            case 2: .response(429, [("Retry-After", "1")], "{}")
            default: .json(#"{"token":"ghs_later"}"#, status: 201)
            }
        }
        try eventually("the token") { try site.site.get().status == 200 }
        #expect(site.api.requests.count == 3)
    }

    @Test(arguments: [
        ("", "app_id"), ("app_id: 1\ninstallation_id: 2\nprivate_key_file: ec.pem", "RSA"),
        ("app_id: 1\ninstallation_id: 2\nprivate_key_file: empty.pem", "empty.pem is empty"),
        ("app_id: 1\ninstallation_id: 2\nprivate_key_file: line.pem", "line.pem is empty"),
        ("app_id: 1\ninstallation_id: 2\nprivate_key_file: text.pem", "text.pem holds no RSA key"),
        ("app_id: 1\ninstallation_id: a/b\nprivate_key_file: rsa.pem", "no name"),
        (
            "app_id: 1\ninstallation_id: 2\nprivate_key_file: rsa.pem\napi: http://github.example",
            "plain http"
        ),
        ("app_id: 1\ninstallation_id: 2\nprivate_key_file: rsa.pem\nscope: x", "unknown key"),
    ])
    func `that is configured wrongly is an error`(_ lines: String, _ word: String) throws {
        let directory = try TemporaryDirectory()
        for (name, algorithm) in [("ec.pem", "ES256"), ("rsa.pem", "RS256")] {
            let pair = try TestKeyPair(algorithm)
            try directory.write(name, bytes: TemporaryDirectory.contents(of: pair.privateKeyFile))
        }
        for (name, text) in [("empty.pem", ""), ("line.pem", "\n"), ("text.pem", "no key")] {
            try directory.write(name, text)
        }
        let file = try directory.write(
            "config.yaml", SourceSite.configuration(identity: "source: github_app\n\(lines)"))
        let check = try BearerdProcess.command("check", "-c", file)
        #expect(check.exit == 78 && check.errors.contains(word), "\(check.errors)")
    }
}
