// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd proxy UPSTREAM`.
@Suite(.blocking) struct `A proxy without a file` {
    private func output(of bearerd: BearerdProcess) throws -> String {
        try bearerd.process.output.wait(for: "where it is") { capture in
            capture.text.contains("\n\n") ? capture.text : nil
        }
    }

    @Test func `serves one route, says where its page is, and leaves nothing behind`() throws {
        let (provider, upstream, home) = (try HostileProvider(), try RawUpstream(), try TemporaryDirectory())
        let work = try TemporaryDirectory()
        try work.write("secret", "not-a-real-secret\n")
        let bearerd = try BearerdProcess(
            arguments: [
                "proxy", upstream.url, "--issuer", provider.issuer, "--client-id", "legacy-app",
                "--client-secret-file", "secret", "--scope=openid profile", "--listen", "127.0.0.1:0",
            ], environment: ["HOME": home.path], directory: work.path)
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/orders").status == 200)
        #expect(upstream.tokens.last == provider.accessTokens.last)
        #expect(provider.requests.first?["scope"] == "openid profile")
        let said = try output(of: bearerd)
        #expect(
            said.hasPrefix("http://\(try bearerd.proxy) forwards to \(upstream.url); Ctrl-C ends it.\n"),
            "\(said)")
        #expect(
            said.contains("the status page: http://\(try bearerd.admin)/\n") && !said.contains("/login/"),
            "\(said)")
        #expect(try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200)
        let unknown = try RawClient(to: bearerd.proxy).exchange(
            "POST / HTTP/1.1\r\nHost: \(try bearerd.proxy)\r\nTransfer-Encoding: x, chunked\r\n\r\n",
            method: "POST")
        #expect(unknown.status == 501, "\(unknown.text)")
        #expect(
            unknown.json["detail"].string?.hasSuffix("; see http://\(try bearerd.admin)/") == true,
            "no command finds this daemon: \(unknown.text)")
        #expect(try bearerd.terminate() == .exited(0))
        #expect(
            TemporaryDirectory.entries(of: home.path).isEmpty
                && TemporaryDirectory.entries(of: work.path) == ["secret"])
    }

    @Test func `keeps a person's session for the same issuer and client`() throws {
        let (site, state) = (try LoginSite(), try TemporaryDirectory())
        // The provider knows `tv` without a secret.
        func start(client: String) throws -> (bearerd: BearerdProcess, path: String) {
            let bearerd = try BearerdProcess(
                arguments: [
                    "proxy", "http://127.0.0.1:1", "--issuer", site.issuer, "--client-id", client, "--login",
                    "--scope", "openid offline_access", "--listen", "127.0.0.1:0",
                ], environment: ["XDG_STATE_HOME": state.path, "STATE_DIRECTORY": state.path])
            let said = try output(of: bearerd)
            let login = try #require(
                said.firstMatch(of: #/http://\S+(/login/proxy-[0-9a-f]{16}) /#), "\(said)")
            return (bearerd, String(login.output.1))
        }
        func identity(_ bearerd: BearerdProcess) throws -> TestJSON {
            try RawClient(to: bearerd.admin).request("GET", "/api/status").json["identities"][0]
        }
        let first = try start(client: "tv")
        #expect(try identity(first.bearerd)["state"].string == "login_required")
        let window = [
            ("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html"), ("Sec-Fetch-Dest", "document"),
        ]
        let begin = try RawClient(to: first.bearerd.admin).request("GET", first.path, window)
        let location = try #require(begin["Location"], "\(begin.text)")
        let cookie = String(try #require(begin["Set-Cookie"]).prefix { $0 != ";" })
        let answer = try site.logIn(at: location)
        let origin = "http://\(try first.bearerd.admin)"
        #expect(answer.hasPrefix(origin))
        let page = try RawClient(to: first.bearerd.admin).request(
            "GET", String(answer.dropFirst(origin.count)), window + [("Cookie", cookie)])
        #expect(page.status == 200, "\(page.text)")
        #expect(try identity(first.bearerd)["state"].string == "authorized")
        #expect(try first.bearerd.terminate() == .exited(0))

        let again = try start(client: "tv")
        #expect(again.path == first.path)
        try eventually("the kept session") { try identity(again.bearerd)["state"].string == "authorized" }
        let other = try start(client: "another")
        #expect(other.path != first.path)
        #expect(try identity(other.bearerd)["state"].string == "login_required")
    }

    @Test func `names its option where the port is taken, as there is no file with a key`() throws {
        let (provider, home) = (try HostileProvider(), try TemporaryDirectory())
        let taken = try RawUpstream()
        let address = String(taken.url.dropFirst("http://".count))
        let refused = try Subprocess.run(
            [
                BearerdProcess.binary, "proxy", "http://127.0.0.1:1", "--issuer", provider.issuer,
                "--client-id",
                "legacy-app", "--login", "--listen", address,
            ], environment: ["HOME": home.path])
        #expect(refused.ending == .exited(69), "\(refused)")
        #expect(refused.errors.contains("cannot listen on \(address) (--listen)"), "\(refused.errors)")
        #expect(refused.errors.contains("give --listen another port"), "\(refused.errors)")
    }

    @Test func `is refused by the words of its command line`() throws {
        let common = ["--issuer", "https://sso.example.com", "--client-id", "app"]
        for (words, exit, told) in [
            (common, Int32(64), "which API? name its URL"),
            (["https://api.example.com", "--client-id", "app"], 64, "--issuer is missing"),
            (
                ["https://api.example.com", "--issuer", "https://sso.example.com"], 64,
                "--client-id is missing"
            ),
            (["http://api.example.com", "--login"] + common, 78, "proxy: UPSTREAM: "),
            (
                ["https://api.example.com"] + common, 64,
                "--client-secret-file is missing: a program proves by a secret who it is (RFC 6749 4.4); --login is for a person"
            ),
            (
                ["https://api.example.com", "--preset", "kecloak", "--login"] + common, 78,
                "--preset: 'kecloak' is not one of"
            ),
            (["https://api.example.com", "--listen", "0.0.0.0:0", "--login"] + common, 78, "--listen: "),
            (
                ["https://api.example.com", "--client-secret-file", "/nonexistent/secret"] + common, 78,
                "--client-secret-file: "
            ),
            (["https://api.example.com", "-c", "config.yaml"] + common, 64, "it serves without a file"),
        ] {
            let result = try Subprocess.run([BearerdProcess.binary, "proxy"] + words)
            #expect(result.ending == .exited(exit) && result.errors.contains(told), "\(words): \(result)")
            #expect(result.output.isEmpty)
        }
    }

    @Test func `names its page, and no command that would need a file`() throws {
        let (provider, home) = (try HostileProvider(), try TemporaryDirectory())
        let nobody = try Socket.refusing()
        let bearerd = try BearerdProcess(
            arguments: [
                "proxy", "http://\(nobody.address)", "--issuer", provider.issuer, "--client-id", "legacy-app",
                "--login", "--listen", "127.0.0.1:0",
            ], environment: ["XDG_STATE_HOME": home.path, "STATE_DIRECTORY": home.path])
        let page = "http://\(try bearerd.admin)/"
        let answer = try RawClient(to: bearerd.proxy).request("GET", "/")
        let detail = answer.json["detail"].string ?? ""
        #expect(answer.status == 503 && detail.contains("open \(page)login/proxy-"), "\(answer.text)")
        #expect(detail.hasSuffix("; see \(page)") && !detail.contains("bearerd login"), "\(answer.text)")
        let line = try bearerd.logLine("who must log in") { $0.message == "somebody must log in" }
        #expect(line["hint"]?.hasPrefix("open \(page)login/proxy-") == true, "\(line)")
        #expect(line["hint"]?.contains("bearerd login") == false, "\(line)")
        let name = try #require(
            try RawClient(to: bearerd.admin).request("GET", "/api/status").json["identities"][0]["name"]
                .string)
        let refresh = try RawClient(to: bearerd.admin).request(
            "POST", "/api/identities/\(name)/refresh", [("X-Bearerd-Admin", "1")])
        #expect(
            refresh.json["detail"].string == "Somebody must log in: open /login/\(name) here in a browser.",
            "\(refresh.text)")
        let shown = try RawClient(to: bearerd.admin).request("GET", "/").text
        #expect(shown.contains("Log in below.") && !shown.contains("<code>bearerd "), "\(shown)")
    }
}
