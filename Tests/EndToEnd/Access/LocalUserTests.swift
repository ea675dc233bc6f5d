// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What another user of the machine can have of a daemon that listens on loopback.
@Suite(.blocking, .needs(.root)) struct `Another user of the machine` {
    private static let header = "X-Bearerd-Admin: 1\r\nContent-Length: 0\r\n"
    private static let refresh = "/api/identities/default/refresh"

    /// Asks as `nobody`.
    private func ask(
        _ method: String, _ path: String, _ fields: String = "", at address: Address
    ) throws -> String {
        try Stranger.send(
            "\(method) \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\(fields)\r\n",
            to: address)
    }

    @Test func `reads, and changes nothing`() throws {
        let sidecar = try Sidecar(.init(admin: "quit: true"))
        try sidecar.awaitToken()
        let admin = try sidecar.bearerd.admin
        let asked = sidecar.provider.requests.count
        for action in ["refresh", "invalidate", "userinfo", "revoke", "logout", "register"] {
            let answer = try ask("POST", "/api/identities/default/\(action)", Self.header, at: admin)
            #expect(answer.hasPrefix("HTTP/1.1 403"), "\(action): \(answer)")
            #expect(answer.contains("admin.key") && answer.contains("admin.peer_uids"), "\(answer)")
            #expect(answer.contains("uid 65534"), "\(answer)")
        }
        for path in ["/api/reload", "/api/quit"] {
            #expect(try ask("POST", path, Self.header, at: admin).hasPrefix("HTTP/1.1 403"), "\(path)")
        }
        let login = try ask("GET", "/login/default", at: admin)
        #expect(login.hasPrefix("HTTP/1.1 403") && !login.contains("Location:"), "\(login)")
        for path in ["/", "/api/status", "/healthz", "/readyz", "/metrics"] {
            #expect(try ask("GET", path, at: admin).hasPrefix("HTTP/1.1 200"), "\(path)")
        }
        #expect(sidecar.provider.requests.count == asked)
        #expect(try sidecar.identityStatus()["generation"].number == 1)
        #expect(try sidecar.admin("POST", Self.refresh, [("X-Bearerd-Admin", "1")]).status == 200)
    }

    @Test func `reads at a Unix socket too, and changes something if it is listed, whatever the umask`()
        throws
    {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let path = directory.path("admin.sock")
        for (listed, status) in [("", "403"), ("peer_uids: [nobody]", "200")] {
            let sidecar = try Sidecar(
                directory: directory, launcher: ["/bin/sh", "-c", "umask 077; exec \"$0\" \"$@\""],
                .init(adminListen: "\"unix:\(path)\"", admin: listed))
            try sidecar.awaitToken()
            func ask(_ line: String, _ fields: String) throws -> String {
                try Stranger.send(
                    "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n",
                    toSocket: path,
                    as: Stranger.user)
            }
            #expect(try ask("GET /api/status", "").hasPrefix("HTTP/1.1 200"))
            let answer = try ask("POST \(Self.refresh)", Self.header)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
            #expect(try sidecar.bearerd.terminate() == .exited(0))
        }
    }

    @Test func `may be listed in admin.peer_uids, by number and by name, until a reload takes that away`()
        throws
    {
        let sidecar = try Sidecar(.init(admin: "peer_uids: [nobody]"))
        try sidecar.awaitToken()
        let admin = try sidecar.bearerd.admin
        func reload(_ lines: String) throws {
            try sidecar.directory.write(
                "config.yaml",
                Sidecar.configuration(
                    provider: sidecar.provider, upstream: sidecar.upstream.url,
                    clientSecret: sidecar.clientSecret, directory: sidecar.directory, .init(admin: lines)))
            #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        }
        #expect(try ask("POST", Self.refresh, Self.header, at: admin).hasPrefix("HTTP/1.1 200"))
        try reload("")
        #expect(try ask("POST", Self.refresh, Self.header, at: admin).hasPrefix("HTTP/1.1 403"))
        try reload("peer_uids: [7, 65534]")
        #expect(try ask("POST", Self.refresh, Self.header, at: admin).hasPrefix("HTTP/1.1 200"))
        // Names are looked up inside the sandbox too.
        try reload("peer_uids: [daemon, nobody]")
        #expect(try ask("POST", Self.refresh, Self.header, at: admin).hasPrefix("HTTP/1.1 200"))
    }

    @Test func `needs the key otherwise, and locks nobody else out by guessing at it`() throws {
        let key = "fake-admin-key-of-a-test"
        let sidecar = try Sidecar(.init(admin: "key: \(key)"))
        try sidecar.awaitToken()
        let admin = try sidecar.bearerd.admin
        let right = "Authorization: Bearer \(key)\r\n"
        #expect(try ask("POST", Self.refresh, Self.header + right, at: admin).hasPrefix("HTTP/1.1 200"))
        let form = try ask(
            "GET", "/login/default", "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\n", at: admin)
        #expect(form.hasPrefix("HTTP/1.1 403") && form.contains("type=\"password\""), "\(form)")
        for guess in 0..<10 {
            let wrong = "Authorization: Bearer \(guess)\r\n"
            #expect(try ask("POST", Self.refresh, Self.header + wrong, at: admin).hasPrefix("HTTP/1.1 403"))
        }
        #expect(try ask("POST", Self.refresh, Self.header + right, at: admin).hasPrefix("HTTP/1.1 429"))
        #expect(try ask("GET", "/api/status", right, at: admin).hasPrefix("HTTP/1.1 200"))
        let own = [("X-Bearerd-Admin", "1"), ("Authorization", "Bearer \(key)")]
        #expect(try sidecar.admin("POST", Self.refresh, own).status == 200)
        #expect(try sidecar.admin("GET", "/api/status", own).status == 200)
    }

    @Test(arguments: [(["--user"], "0"), (["--user", "--map-root-user"], "65534")])
    func `has no number in another user namespace, and needs the key`(options: [String], user: String) throws
    {
        let key = "fake-admin-key-of-a-test"
        let sidecar = try Sidecar(
            launcher: ["/usr/bin/unshare"] + options + ["--"],
            .init(admin: "key: \(key)", store: "type: memory"))
        try sidecar.awaitToken()
        let admin = try sidecar.bearerd.admin
        func ask(_ fields: String) throws -> String {
            let request =
                "POST \(Self.refresh) HTTP/1.1\r\nHost: \(admin)\r\nConnection: close\r\n\(Self.header)\(fields)\r\n"
            if user != "0" { return try Stranger.send(request, to: admin) }
            let client = try RawClient(to: admin)
            try client.wire.send(request)
            let answer = try client.wire.readResponse()
            return "HTTP/1.1 \(answer.status) \(answer.text)"
        }
        let refused = try ask("")
        #expect(refused.hasPrefix("HTTP/1.1 403") && refused.contains("user namespace"), "\(refused)")
        #expect(refused.contains("admin.key"), "\(refused)")
        #expect(try ask("Authorization: Bearer \(key)\r\n").hasPrefix("HTTP/1.1 200"))
    }

    @Test func `finishes no login, and its attempt does not end it`() throws {
        let site = try LoginSite()
        let login = try site.start("login", "web", "--no-browser")
        let answer = try site.logIn(at: try site.firstLine(of: login))
        let stolen = try Stranger.fetch(answer)
        #expect(stolen.hasPrefix("HTTP/1.1 403") && stolen.contains("uid 65534"), "\(stolen)")
        #expect(try browse(answer).status == 200)
        #expect(try login.waitForEnd() == .exited(0))
    }

    @Test func `is the person where sudo says so, or where nobody can tell`() throws {
        for (identity, environment) in [
            ("", ["SUDO_UID": "65534"]), ("redirect_listen: 0.0.0.0:0", [:]),
        ] {
            let site = try LoginSite(identity: identity)
            let login = try site.start("login", "web", "--no-browser", environment: environment)
            let answer = try site.logIn(at: try site.firstLine(of: login))
            #expect(try Stranger.fetch(answer).hasPrefix("HTTP/1.1 200"))
            #expect(try login.waitForEnd() == .exited(0))
            let told = try site.run("check")
            #expect(told.errors.contains("redirect_listen") == !identity.isEmpty, "\(told.errors)")
        }
    }

    @Test func `brings the answer of a login that was begun rightfully`() throws {
        let site = try LoginSite()
        let tab = try Tab.opened(on: site)
        let answer = try tab.answer()
        let page = try ask(
            "GET", answer, "Cookie: \(tab.cookies.joined(separator: "; "))\r\n", at: site.bearerd.admin)
        #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("alice"), "\(page)")
    }

    /// Twenty-four at once, each with one connection after the other.
    private static let crowd = """
        use IO::Socket::INET; alarm 120; my ($port, $text) = @ARGV;
        for (1..24) {
            next if fork;
            for (1..20) {
                my $server = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;
                print $server $text; $server->flush; 1 while sysread($server, my $rest, 4096);
            }
            exit;
        }
        1 while wait > 0;
        """

    @Test func `does not stall the control loop, however often it is asked who that is`() throws {
        let sidecar = try Sidecar(.init(grant: "refresh_token"))
        let admin = try sidecar.bearerd.admin
        // As long as the crowd asks: how long an answer to a probe takes.
        func probes(during path: String) throws -> Duration {
            let request = "POST \(path) HTTP/1.1\r\nHost: \(admin)\r\nConnection: close\r\n\(Self.header)\r\n"
            let crowd = try Subprocess([
                "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/perl",
                "-e", Self.crowd, "\(admin.port)", request,
            ])
            let start = ContinuousClock.now
            var count = 0
            while !crowd.output.withLock({ $0.isAtEnd }) {
                #expect(try sidecar.admin("GET", "/healthz").status == 200)
                count += 1
            }
            return (ContinuousClock.now - start) / max(1, count)
        }
        let idle = try probes(during: "/nowhere")
        let asked = try probes(during: "/api/identities/default/session")
        #expect(asked < idle * 10, "\(asked) in place of \(idle)")
    }
}
