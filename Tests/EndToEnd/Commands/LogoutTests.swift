// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `bearerd logout`.
@Suite(.blocking) struct `Logging out` {
    private func begun(without missing: [String] = []) throws -> ImportedSession {
        let session = try ImportedSession(without: missing)
        try session.begin()
        #expect(try session.command("token").exit == 0)
        return session
    }

    @Test func `tokens are revoked, the provider's session is asked to end, the store holds no token`() throws
    {
        let session = try begun()
        let result = try session.command("logout", "--no-browser")
        #expect(result.exit == 0 && result.errors.contains("requested"), "\(result.errors)")
        #expect(session.provider.requests("POST", "/revocation").count == 2)
        let asked = session.provider.requests("POST", "/end_session")
        #expect(asked.map { $0["id_token_hint"] } == [session.idToken])
        #expect(asked.first?["client_id"] == "legacy-app" && asked.first?.message["Authorization"] == nil)
        #expect(result.output == session.provider.issuer + "/end_session?client_id=legacy-app\n")
        #expect(
            try LeakScan.leaks(of: session.secrets, in: session.stored + result.output + result.errors)
                .isEmpty)
        #expect(try session.command("token").exit == 77)
    }

    @Test
    func `the browser is shown a page that posts the logout, once, at an address that nobody can guess`()
        throws
    {
        let session = try begun()
        let shown = session.directory.path("shown")
        let script = try session.directory.write(
            "browser", "#!/bin/sh\n/usr/bin/env > \(shown).environment\necho \"$1\" > \(shown)\n",
            mode: 0o700)
        let logout = try Subprocess(
            [BearerdProcess.binary, "logout", "-c", session.configuration],
            environment: [
                "BROWSER": script, "DISPLAY": ":0", "LC_TIME": "C",
                "CLIENT_SECRET": "fake-environment-secret",
                "CREDENTIALS_DIRECTORY": "/nowhere", "XDG_CLIENT_SECRET": "fake-environment-secret",
            ])
        var url = ""
        try eventually("the browser to be started") {
            url = String(decoding: TemporaryDirectory.contents(of: shown), as: UTF8.self)
            return url.hasSuffix("\n")
        }
        url.removeLast()
        #expect(url.utf8.count > 40)
        let root = try browse(String(url.prefix(through: url.lastIndex(of: "/") ?? url.startIndex)))
        #expect(root.status == 404)
        if getuid() == 0 {
            let stolen = try Stranger.fetch(url)
            #expect(stolen.hasPrefix("HTTP/1.1 404"), "\(stolen)")
            #expect(LeakScan.leaks(of: session.secrets, in: stolen).isEmpty)
        }
        let page = try browse(url)
        let again = try? browse(url).status
        #expect(again == nil || again == 404, "once")
        let environment = String(
            decoding: TemporaryDirectory.contents(of: shown + ".environment"), as: UTF8.self)
        #expect(environment.contains("DISPLAY=:0\n") && environment.contains("LC_TIME=C\n"))
        for name in ["SECRET", "CREDENTIALS_DIRECTORY"] { #expect(!environment.contains(name), "\(name)") }
        #expect(try logout.waitForEnd() == .exited(0))
        #expect(page.text.contains(#"action="\#(session.provider.issuer)/end_session""#))
        #expect(page.text.contains(#"name="id_token_hint" value="\#(session.idToken)""#))
        #expect(page["Cache-Control"] == "no-store")
        let told = logout.output.withLock { $0.text } + logout.errors.withLock { $0.text }
        #expect(LeakScan.leaks(of: session.secrets, in: url + root.text + told).isEmpty)
        #expect(logout.output.withLock { $0.text }.isEmpty)
    }

    @Test func `where the browser goes in the end, and what comes back there, can be said for once`() throws {
        let session = try begun()
        let nowhere = try session.command("logout", "--no-browser", "--state", "a b&c")
        #expect(nowhere.exit == 64 && nowhere.errors.contains("nowhere"), "\(nowhere.errors)")
        #expect(session.provider.requests("POST", "/revocation").isEmpty, "nothing is done by halves")
        let result = try session.command(
            "logout", "--no-browser", "--post-logout-redirect-uri", "com.example.app:/bye", "--state", "a b&c"
        )
        #expect(result.exit == 0, "\(result.errors)")
        let asked = try #require(session.provider.requests("POST", "/end_session").first)
        #expect(asked["post_logout_redirect_uri"] == "com.example.app:/bye" && asked["state"] == "a b&c")
        #expect(asked["id_token_hint"] == session.idToken)
        #expect(
            result.output.hasSuffix(
                "?client_id=legacy-app&post_logout_redirect_uri=com.example.app%3A%2Fbye&state=a%20b%26c\n"),
            "\(result.output)")
        #expect(LeakScan.leaks(of: session.secrets, in: result.output + result.errors).isEmpty)
        #expect(try session.command("token").exit == 77)
    }

    @Test func `local asks nobody`() throws {
        let session = try begun()
        #expect(try session.command("logout", "--local").exit == 0)
        #expect(session.provider.requests("POST", "/revocation").isEmpty)
        #expect(session.provider.requests("POST", "/end_session").isEmpty)
        #expect(try LeakScan.leaks(of: session.secrets, in: session.stored).isEmpty)
        #expect(try session.command("token").exit == 77)
    }

    @Test(arguments: ["revocation", "end_session"])
    func `a provider that fails is 69, and the store is cleared all the same`(endpoint: String) throws {
        for reply in [Reply.response(500), .oauthError("invalid_client", status: 401), .close] {
            let session = try begun()
            session.provider.serve("POST", "/\(endpoint)") { _ in reply }
            let result = try session.command("logout", "--no-browser")
            #expect(result.exit == 69 && result.errors.contains("logged out here"), "\(result.errors)")
            #expect(session.provider.requests("POST", "/end_session").count == 1)
            #expect(try LeakScan.leaks(of: session.secrets, in: session.stored + result.errors).isEmpty)
            #expect(try session.command("token").exit == 77)
        }
    }

    @Test func `every token is tried, any 2xx is success, and the outcome is told`() throws {
        let session = try begun()
        session.provider.serve("POST", "/revocation") { _ in .response(204) }
        #expect(try session.command("logout", "--no-browser").exit == 0)
        let other = try begun()
        other.provider.serve("POST", "/revocation") { request in
            request.text.contains("hint=refresh_token") ? .response(503) : .response(200)
        }
        let result = try other.command("logout", "--no-browser")
        #expect(result.exit == 69 && result.errors.contains("503"), "\(result.errors)")
        #expect(other.provider.requests("POST", "/revocation").count == 2)
    }

    @Test func `a store that cannot be written is 74, and the provider is asked all the same`() throws {
        let session = try begun()
        let result = try Subprocess.run([
            "/bin/sh", "-c", #"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#, BearerdProcess.binary, "logout",
            "--no-browser", "-c", session.configuration,
        ])
        #expect(result.ending == .exited(74), "\(result.errors)")
        #expect(result.errors.contains("not logged out here"), "\(result.errors)")
        #expect(session.provider.requests("POST", "/revocation").count == 2)
        #expect(session.provider.requests("POST", "/end_session").count == 1)
        #expect(try session.command("logout", "--no-browser").exit == 0)
        #expect(try LeakScan.leaks(of: session.secrets, in: session.stored).isEmpty)
    }

    @Test func `without an id token the provider's session is ended by the client's name`() throws {
        let session = try ImportedSession()
        let file = try session.directory.write("token", session.refreshToken + "\n")
        #expect(try session.command("import", "--refresh-token", file).exit == 0)
        #expect(try session.command("token").exit == 0)
        let result = try session.command("logout", "--no-browser")
        #expect(result.exit == 0 && result.errors.contains("requested"), "\(result.errors)")
        let asked = session.provider.requests("POST", "/end_session")
        #expect(asked.map { $0["client_id"] } == ["legacy-app"] && asked.first?["id_token_hint"] == nil)
    }

    @Test func `a provider out of reach is 69, and the store is cleared all the same`() throws {
        let session = try begun()
        session.provider.stop()
        #expect(try session.command("logout", "--no-browser").exit == 69)
        #expect(try LeakScan.leaks(of: session.secrets, in: session.stored).isEmpty)
    }

    @Test func `a provider without these endpoints is no failure`() throws {
        let session = try begun(without: ["revocation", "end_session"])
        let result = try session.command("logout", "--no-browser")
        #expect(result.exit == 0 && result.output.isEmpty, "\(result.errors)")
        #expect(try session.command("logout").exit == 0, "a second time there is nothing to do")
    }

    @Test func `a running daemon has no token any more, and a later import works`() throws {
        let upstream = try RawUpstream()
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider, upstream: upstream, .init(grant: "refresh_token"))
        let file = sidecar.directory.path("config.yaml")
        let token = try sidecar.directory.write("token", provider.makeRefreshToken() + "\n")
        #expect(try BearerdProcess.command("import", "--refresh-token", token, "-c", file).exit == 0)
        try eventually("a token") { try sidecar.get().status == 200 }
        #expect(try BearerdProcess.command("logout", "--no-browser", "-c", file).exit == 0)
        try eventually("no token") { try sidecar.get().status == 503 }
        let next = try sidecar.directory.write("token", provider.makeRefreshToken() + "\n")
        #expect(try BearerdProcess.command("import", "--refresh-token", next, "-c", file).exit == 0)
        try eventually("a token again") { try sidecar.get().status == 200 }
    }

    @Test func `the admin listener ends a session too`() throws {
        let session = try begun()
        let bearerd = try BearerdProcess(arguments: ["run", "-c", session.configuration])
        let reply = try RawClient(to: bearerd.admin).request(
            "POST", "/api/identities/default/logout", [("X-Bearerd-Admin", "1")], body: "")
        #expect(reply.status == 200 && reply.json["end_session"].string == "requested", "\(reply.text)")
        #expect(
            try LeakScan.leaks(of: session.secrets, in: session.stored + bearerd.log + reply.text).isEmpty)
        let proxied = try RawClient(to: bearerd.proxy).request("GET", "/", [])
        #expect(proxied.status == 503 && proxied.problem == "login_required")
    }

    @Test func `with a store in memory the daemon does it, and without one it is 77`() throws {
        let (holder, address) = try Socket.refusing()
        let session = try ImportedSession(store: "type: memory", admin: address)
        _ = holder
        for command in ["logout", "revoke", "userinfo"] {
            let result = try session.command(command)
            #expect(result.exit == 77 && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
    }
}
