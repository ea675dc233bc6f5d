// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `source: google_metadata` against a fake that answers as Google's does.
@Suite(.blocking) struct `A token of Google's metadata server` {
    private static let flavor = ("Metadata-Flavor", "Google")
    private static let token = #"{"access_token":"ya29.fake-token","expires_in":3599,"token_type":"Bearer"}"#

    private func server(
        _ answer: @escaping @Sendable (RawRequest) throws -> Reply = { request in
            guard request["Metadata-Flavor"] == "Google" else { return .response(403, [], "Missing header") }
            return .response(200, [("Content-Type", "application/json"), Self.flavor], Self.token)
        }
    ) throws -> RawUpstream { try RawUpstream(answer: answer) }

    private func site(
        _ server: RawUpstream, _ identity: String = "", route: String = "", moreRoutes: String = "",
        upstream: RawUpstream? = nil
    ) throws -> SourceSite {
        try SourceSite(
            identity: "source: google_metadata\n\(identity)", route: route, moreRoutes: moreRoutes,
            directory: try TemporaryDirectory(), upstream: upstream,
            environment: [
                "GCE_METADATA_HOST": server.authority, "http_proxy": "http://127.0.0.1:1",
                "HTTP_PROXY": "http://127.0.0.1:1",
            ])
    }

    @Test func `is the account's own, without a proxy, and shown nowhere`() throws {
        let server = try server()
        let site = try site(server)
        #expect(try site.get().status == 200)
        #expect(site.upstream.tokens == ["ya29.fake-token"])
        #expect(
            server.requests.map(\.head.target)
                == ["/computeMetadata/v1/instance/service-accounts/default/token"])
        #expect(try site.requests("google_metadata") == 1)
        #expect(LeakScan.leaks(of: ["ya29.fake-token"], in: try site.everythingShown()).isEmpty)
    }

    @Test func `is for scopes, and a route's own audience is an identity token`() throws {
        let jwt = SourceTexts.jwt(endingIn: 900)
        let server = try server { request in
            request.head.target.contains("/identity?")
                ? .response(200, [Self.flavor], jwt + "\n") : .response(200, [Self.flavor], Self.token)
        }
        let site = try site(
            server,
            "scope: [https://a.example/x, https://a.example/y]\nservice_account: me@p.iam.gserviceaccount.com"
        )
        #expect(try site.get().status == 200)
        let base = "/computeMetadata/v1/instance/service-accounts/me%40p.iam.gserviceaccount.com"
        #expect(
            server.requests.map(\.head.target)
                == ["\(base)/token?scopes=https%3A%2F%2Fa.example%2Fx%2Chttps%3A%2F%2Fa.example%2Fy"])
        let other = try self.site(server, "scope: x", route: "audience: https://run.example")
        #expect(try other.get().status == 200)
        #expect(other.upstream.tokens == [jwt])
        #expect(
            server.requests.last?.head.target
                == "/computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Frun.example&format=full"
        )
        #expect(try other.status()["expires_at"] != .null)
    }

    @Test func `may come again while it lives: no circle, no replay`() throws {
        let server = try server()
        let upstream = try RawUpstream { _ in .unauthorized }
        let start = ContinuousClock.now
        let site = try site(server, upstream: upstream)
        for _ in 0..<10 { #expect(try site.get().status == 401) }
        #expect(upstream.requests.count == 10)
        // One at first, one for the first 401, and then at most one in ten seconds.
        let most = 2 + Int((ContinuousClock.now - start) / .seconds(10))
        #expect(2...most ~= server.requests.count)
    }

    @Test func `that an upstream takes no longer is exchanged for another one, in one replay`() throws {
        let count = Monitor(0)
        let server = try server { _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            return .response(
                200, [Self.flavor], Self.token.replacing("fake-token", with: "fake-token-\(number)"))
        }
        let site = try site(server, upstream: SourceTexts.upstream(refusing: "ya29.fake-token-1"))
        #expect(try site.post("x").status == 200)
        #expect(site.upstream.tokens == ["ya29.fake-token-1", "ya29.fake-token-2"])
        #expect(server.requests.count == 2)
        #expect(try site.state() == "authorized")
    }

    @Test func `of a server that is slow to start, fails or rate-limits comes when it can`() throws {
        let count = Monitor(0)
        let server = try server { _ in
            switch count.withLock({
                $0 += 1; return $0
            }) {
            case 1: .close
            case 2: .response(503, [Self.flavor], "starting")
            case 3: .response(429, [Self.flavor, ("Retry-After", "1")], "")
            case 4: .response(302, [Self.flavor, ("Location", "http://127.0.0.1:1/")], "")
            default: .response(200, [Self.flavor], Self.token)
            }
        }
        let site = try site(server)
        try eventually("a token") { try site.get().status == 200 }
        #expect(count.withLock { $0 } == 5)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"access_token\":\"yes\"}",
        "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: 4\r\n\r\n<ok>",
        "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: 22\r\n\r\n{\"access_token\":\"a b\"}",
        "SSH-2.0-x\r\n",
        "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: 45\r\n\r\n{\"access_token\":\"fake-token\",\"expires_in\":\"0\"}",
    ])
    func `of a server that lies is no token`(_ answer: String) throws {
        let server = try server { _ in .raw(answer, thenClose: true) }
        let site = try site(server)
        #expect(try site.get().json["code"].string == "idp_unavailable")
        #expect(site.upstream.requests.isEmpty)
        #expect(try site.status()["last_error"] != .null)
    }

    @Test func `of a server that hangs is waited for as long as token_wait`() throws {
        let gate = Gate()
        let server = try server { _ in Reply.close.held(by: gate) }
        let site = try SourceSite(
            identity: "source: google_metadata", top: "timeouts: {token: 300ms, token_wait: 400ms}",
            directory: try TemporaryDirectory(), environment: ["GCE_METADATA_HOST": server.authority])
        #expect(try site.get().status == 503)
        gate.open()
    }

    @Test func `is asked for at addresses of this machine and its link alone, judged where the name leads`()
        throws
    {
        for host in ["192.0.2.1", "192.0.2.1:8080", "[2001:db8::1]"] {
            let site = try SourceSite(
                identity: "source: google_metadata", directory: try TemporaryDirectory(),
                environment: ["GCE_METADATA_HOST": host])
            #expect(try site.get().status == 503)
            try eventually("the reason") {
                try site.status()["last_error"]["detail"].string?.contains("plain http goes no further")
                    == true
            }
        }
    }

    @Test(.needs(.ownMounts)) func `is asked for where its name leads, and there only if that is near`()
        throws
    {
        let server = try server()
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "config.yaml", SourceSite.configuration(identity: "source: google_metadata"))
        let port = server.authority.split(separator: ":").last ?? ""
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        func token(
            at address: String
        ) throws -> (ending: Subprocess.Termination, output: String, errors: String) {
            try directory.write("hosts", "\(address) metadata.google.internal\n", mode: 0o644)
            let script = """
                mount --bind \(directory.path("hosts")) /etc/hosts || exit 77
                exec \(BearerdProcess.binary) token -c \(file)
                """
            let result = try Subprocess.run(
                ["unshare", "-m", "--propagation", "private", "sh", "-c", script],
                environment: [
                    "PATH": path, "HOME": "/root", "GCE_METADATA_HOST": "metadata.google.internal:\(port)",
                ])
            return (result.ending, result.output, result.errors)
        }
        let near = try token(at: "127.0.0.1")
        guard near.ending != .exited(77) else { return }  // nothing can be mounted here
        #expect(near.ending == .exited(0) && near.output == "ya29.fake-token\n", "\(near)")
        let far = try token(at: "192.0.2.1")
        #expect(far.ending == .exited(69) && far.errors.contains("plain http goes no further"), "\(far)")
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        ("scope: x\naudience: y", "audience"), ("audience: [a, b]", "one text"),
        ("resource: https://a.example", "unknown key"),
        ("proxy: http://p.example", "unknown key"),
    ])
    func `that is configured wrongly is an error`(_ lines: String, _ word: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "config.yaml", SourceSite.configuration(identity: "source: google_metadata\n\(lines)"))
        let check = try BearerdProcess.command("check", "-c", file)
        #expect(check.exit == 78 && check.errors.contains(word), "\(check.errors)")
    }

    @Test func `for a route knows what its source knows alone`() throws {
        let directory = try TemporaryDirectory()
        for (source, key) in [
            ("google_metadata", "resource: https://a.example"), ("google_metadata", "repositories: [a]"),
            ("azure_identity\nresource: https://a.example", "scope: x"),
        ] {
            let file = try directory.write(
                "config.yaml", SourceSite.configuration(identity: "source: \(source)", route: key))
            let check = try BearerdProcess.command("check", "-c", file)
            #expect(check.exit == 78 && check.errors.contains("means nothing to source"), "\(check.errors)")
        }
    }
}

/// `source: azure_identity` against fakes of both of its servers.
@Suite(.blocking) struct `A token of a managed identity` {
    private func site(
        _ server: RawUpstream, _ identity: String = "resource: https://vault.azure.net", route: String = "",
        upstream: RawUpstream? = nil
    ) throws -> SourceSite {
        try SourceSite(
            identity: "source: azure_identity\n\(identity)", route: route,
            directory: try TemporaryDirectory(), upstream: upstream,
            environment: [
                "IDENTITY_ENDPOINT": server.url + "/msi/token", "IDENTITY_HEADER": "header-secret-1",
            ])
    }

    @Test func `comes from IDENTITY_ENDPOINT with its header, expires_on alone as a string`() throws {
        let server = try RawUpstream { request in
            request["X-IDENTITY-HEADER"] == "header-secret-1"
                ? .json(
                    #"{"access_token":"azure-token-1","expires_on":"\#(time(nil) + 900)","resource":"r","token_type":"Bearer","client_id":"c"}"#
                )
                : .json(#"{"statusCode":401,"message":"no"}"#, status: 401)
        }
        let site = try site(
            server, "resource: https://vault.azure.net\nclient_id: 11-22",
            route: "resource: https://graph.example")
        #expect(try site.get().status == 200)
        #expect(site.upstream.tokens == ["azure-token-1"])
        #expect(
            server.requests.map(\.head.target)
                == ["/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fgraph.example&client_id=11-22"])
        #expect(try site.status()["expires_at"] != .null)
        #expect(
            LeakScan.leaks(of: ["azure-token-1", "header-secret-1"], in: try site.everythingShown()).isEmpty)
    }

    @Test func `that an upstream takes no longer is exchanged for another one, in one replay`() throws {
        let count = Monitor(0)
        let server = try RawUpstream { _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            return .json(
                #"{"access_token":"azure-token-\#(number)","expires_in":"3599","token_type":"Bearer"}"#)
        }
        let site = try site(server, upstream: SourceTexts.upstream(refusing: "azure-token-1"))
        #expect(try site.post("x").status == 200)
        #expect(site.upstream.tokens == ["azure-token-1", "azure-token-2"])
        #expect(server.requests.count == 2)
        #expect(try site.state() == "authorized")
    }

    @Test func `is refused with the server's words, and comes when it can`() throws {
        let count = Monitor(0)
        let server = try RawUpstream { _ in
            switch count.withLock({
                $0 += 1; return $0
            }) {
            case 1:
                .json(#"{"error":"invalid_request","error_description":"Identity not found"}"#, status: 400)
            case 2: .json("{}", status: 410)
            case 3: .json(#"{"error":"too_many"}"#, status: 429)
            default: .json(#"{"access_token":"azure-token-2","expires_in":"3599"}"#)
            }
        }
        let site = try site(server)
        try eventually("the words") {
            site.bearerd.log.contains("Identity not found")
        }
        try eventually("a token") { try site.get().status == 200 }
    }

    @Test(.needs(.ownNetwork)) func `comes from the instance metadata service with its header`() throws {
        // In a network of its own, where the service's address can be this machine's.
        let directory = try TemporaryDirectory()
        try directory.write(
            "serve.py",
            """
            import http.server, sys
            class Service(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    good = self.headers.get('Metadata') == 'true' and self.path == '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net'
                    body = b'{"access_token":"imds-token-1","expires_in":"86399","expires_on":"4070908800","token_type":"Bearer"}' if good else b'{}'
                    self.send_response(200 if good else 400)
                    self.send_header('Content-Length', str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                def log_message(self, *words): pass
            server = http.server.HTTPServer(('169.254.169.254', 80), Service)
            open(sys.argv[1], 'w').write('x')
            server.serve_forever()
            """)
        let file = try directory.write(
            "config.yaml",
            SourceSite.configuration(identity: "source: azure_identity\nresource: https://vault.azure.net"))
        let script = """
            ip link set lo up && ip addr add 169.254.169.254/32 dev lo || exit 77
            python3 \(directory.path("serve.py")) \(directory.path("ready")) & server=$!
            while [ ! -e \(directory.path("ready")) ]; do kill -0 $server || exit 76; done
            \(BearerdProcess.binary) token -c \(file); status=$?
            kill $server; exit $status
            """
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let result = try Subprocess.run(
            ["unshare", "-n", "sh", "-c", script], environment: ["PATH": path, "HOME": "/root"])
        guard result.ending != .exited(77) else { return }  // no address can be added here
        #expect(result.ending == .exited(0) && result.output == "imds-token-1\n", "\(result.errors)")
    }

    @Test(arguments: [
        ("", "resource"), ("resource: [https://a.example, https://b.example]", "one URI"),
        ("resource: vault", "resource"),
    ])
    func `that is configured wrongly is an error`(_ lines: String, _ word: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "config.yaml", SourceSite.configuration(identity: "source: azure_identity\n\(lines)"))
        let check = try BearerdProcess.command("check", "-c", file)
        #expect(check.exit == 78 && check.errors.contains(word), "\(check.errors)")
    }
}

extension Needs {
    /// The right to mount where nobody else sees it.
    fileprivate static let ownMounts = Needs(orElse: "no program can have mounts of its own (unshare -m)") {
        canUnshare("-m", "--propagation", "private")
    }

    /// The right to a network that nobody else has.
    fileprivate static let ownNetwork = Needs(orElse: "no program can have a network of its own (unshare -n)")
    {
        canUnshare("-n")
    }

    private static func canUnshare(_ options: String...) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let result = try? Subprocess.run(["unshare"] + options + ["true"], environment: ["PATH": path])
        return geteuid() == 0 && result?.ending == .exited(0)
    }
}
