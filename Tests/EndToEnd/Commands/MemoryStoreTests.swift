// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Commands where only the daemon has the sessions: they act through its admin listener.
@Suite(.blocking) struct `With a store in memory` {
    private func state(_ site: LoginSite, of identity: String = "web") throws -> String? {
        try site.status(of: identity)["state"].string
    }

    private func logIn(_ site: LoginSite, _ options: String...) throws -> Subprocess.Termination {
        let words = [BearerdProcess.binary, "login", "web", "--no-browser"] + options
        let login = try Subprocess(words + ["-c", site.file])
        _ = try browse(try site.logIn(at: try site.firstLine(of: login)))
        return try login.waitForEnd()
    }

    @Test func `a login is the daemon's, and so is what follows`() throws {
        let site = try LoginSite(inMemory: true)
        #expect(try logIn(site) == .exited(0))
        #expect(try state(site) == "authorized")
        let first = try site.status()["generation"].number
        #expect(try site.run("refresh", "web").ending == .exited(0))
        #expect(try site.status()["generation"].number == (first ?? 0) + 1)
        let userinfo = try site.run("userinfo", "web")
        #expect(userinfo.ending == .exited(0) && userinfo.output.contains("alice"))
        let token = try site.run("token", "web")
        #expect(token.ending == .exited(77) && token.output.isEmpty, "no listener hands out tokens")
        #expect(try site.run("revoke", "web", "--token", "access").ending == .exited(0))
        let elsewhere = try site.run("logout", "web", "--post-logout-redirect-uri", "app:/bye")
        #expect(elsewhere.ending == .exited(77) && elsewhere.errors.contains("goes by the configured"))
        #expect(try state(site) != "login_required", "what the daemon cannot say is not left out")
        #expect(try site.run("logout", "web", "--no-browser").ending == .exited(0))
        #expect(try state(site) == "login_required")
    }

    @Test func `a logout that is local asks the provider nothing`() throws {
        let site = try LoginSite(inMemory: true)
        #expect(try logIn(site) == .exited(0))
        let logout = try site.run("logout", "web", "--local")
        #expect(logout.ending == .exited(0) && logout.errors == "web: logged out here\n", "\(logout.errors)")
        #expect(try state(site) == "login_required")
    }

    @Test func `a login may be done in two steps`() throws {
        let site = try LoginSite(inMemory: true)
        #expect(try site.run("exchange", "web").ending == .exited(66))
        #expect(try logIn(site, "--no-exchange") == .exited(0))
        #expect(try state(site) == "login_required")
        let exchange = try site.run("exchange", "web")
        #expect(exchange.ending == .exited(0) && exchange.errors == "web: logged in\n")
        #expect(try state(site) == "authorized")
        #expect(try site.run("exchange", "web").ending == .exited(66))
    }

    @Test func `a login may be on another device, and refused there`() throws {
        let site = try LoginSite(inMemory: true)
        let logins = try [true, false].map { ($0, try site.start("login", "tv")) }
        for (saysNo, login) in logins {
            let userCode = try login.output.wait(for: "the code") { capture in
                capture.text.firstMatch(of: #/enter (\S+)\n/#).map { String($0.output.1) }
            }
            try site.allow(userCode, saying: saysNo)
        }
        for (saysNo, login) in logins { #expect(try login.waitForEnd() == .exited(saysNo ? 77 : 0)) }
        #expect(try state(site, of: "tv") == "authorized")
    }

    @Test func `a login on another device is given up with its command`() throws {
        let provider = try HostileProvider()
        provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #","device_authorization_endpoint":"\#(provider.issuer)/device""#)
        }
        let begun = Monitor(0)
        provider.serve("POST", "/device") { _ in
            let number = begun.withLock { count in
                count += 1
                return count
            }
            return .json(
                #"{"device_code":"\#(number)","user_code":"AB","verification_uri":"https://sso.example/d","interval":1}"#
            )
        }
        provider.always { _, _ in .oauthError("authorization_pending") }
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory,
                .init(store: "type: memory", grant: "device_code")
            ).asking(try Socket.refusing().address))
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        func polls(_ code: String) -> Int { provider.requests.count { $0["device_code"] == code } }
        let first = try Subprocess([BearerdProcess.binary, "login", "-c", file])
        try eventually("the first one's poll") { polls("1") > 0 }
        first.signal(SIGINT)
        _ = try first.waitForEnd()
        let polled = polls("1")
        let second = try Subprocess([BearerdProcess.binary, "login", "-c", file])
        try eventually("the second one's polls") { polls("2") > 2 }
        #expect(polls("1") <= polled + 1, "one may have been on its way")
        second.signal(SIGINT)
        _ = try second.waitForEnd()
        #expect(try bearerd.terminate() == .exited(0))
    }

    @Test func `an import is the daemon's`() throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let admin = try Socket.refusing().address
        let file = try directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory,
                .init(store: "type: memory", grant: "refresh_token")
            ).asking(admin))
        let token = try directory.write("token", provider.makeRefreshToken())
        #expect(try BearerdProcess.command("import", "--refresh-token", token, "-c", file).exit == 77)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        let first = try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
        #expect(first.exit == 0 && first.output == "default: imported\n", "\(first.errors)")
        try eventually("a token") {
            try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200
        }
        let second = try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
        #expect(second.output == "default: unchanged, it has this session already\n", "\(second.errors)")
        #expect(provider.requests.count == 1)
        let old = try directory.write(
            "old",
            #"{"refreshToken":"\#(provider.makeRefreshToken())","mLastTokenResponse":{"request":{"clientId":"old"}}}"#
        )
        let third = try BearerdProcess.command(
            "import", "--appauth-android", old, "--keep-client", "-c", file)
        #expect(third.exit == 0 && third.output == "default: imported\n", "\(third.errors)")
        try eventually("a token of the other client") { provider.requests.last?["client_id"] == "old" }
        let spent = try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
        #expect(spent.exit == 65 && spent.errors.contains("imported before"), "\(spent)")
        // Not by a file that names the listener of this daemon and is another one.
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let stranger = try directory.write("another.yaml", text)
        for command in ["refresh", "logout"] {
            let result = try BearerdProcess.command(command, "-c", stranger)
            #expect(
                result.exit == 69 && result.errors.contains("runs by \(file), not by \(stranger);"),
                "\(result)")
        }
        #expect(try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200)
        #expect(LeakScan.leaks(of: provider.handedOut, in: bearerd.log + first.errors).isEmpty)
    }

    @Test(arguments: ["issuer", "client_id"])
    func `an import by what is not in force yet is refused, and costs no session`(key: String) throws {
        let (provider, other) = (try HostileProvider(), try HostileProvider())
        let directory = try TemporaryDirectory()
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory,
            .init(store: "type: memory", grant: "refresh_token")
        ).asking(try Socket.refusing().address)
        let file = try directory.write("config.yaml", text)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        func importing(_ token: String) throws -> (exit: Int32, output: String, errors: String) {
            try BearerdProcess.command(
                "import", "--refresh-token", try directory.write("token", token), "-c", file)
        }
        #expect(try importing(provider.makeRefreshToken()).exit == 0)
        try eventually("a token") {
            try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200
        }

        try directory.write(
            "config.yaml",
            key == "issuer"
                ? text.replacing(provider.issuer, with: other.issuer)
                : text.replacing("client_id: legacy-app", with: "client_id: new-app"))
        let server = key == "issuer" ? other : provider
        let token = server.makeRefreshToken()
        let refused = try importing(token)
        #expect(refused.exit == 77 && refused.output.isEmpty, "\(refused)")
        #expect(
            refused.errors.contains("another issuer or client") && refused.errors.contains("reload first"),
            "\(refused)")
        #expect(provider.requests.count == 1 && other.requests.isEmpty)
        #expect(try RawClient(to: bearerd.admin).request("GET", "/readyz").status == 200)
        #expect(try BearerdProcess.command("refresh", "-c", file).exit == 0, "the session goes on")

        #expect(try BearerdProcess.command("reload", "-c", file).exit == 0)
        let taken = try importing(token)
        #expect(taken.exit == 0 && taken.output == "default: imported\n", "\(taken)")
        try eventually("the token where it belongs") { server.requests.last?["refresh_token"] == token }
        #expect(key == "issuer" || server.requests.last?.basicCredentials?.name == "new-app")
    }

    @Test func `a login on another device by what is not in force yet is refused`() throws {
        let site = try LoginSite(inMemory: true)
        let other = try HostileProvider()
        other.discovery { _, provider in
            provider.discoveryDocument(
                members: #","device_authorization_endpoint":"\#(provider.issuer)/device""#)
        }
        other.serve("POST", "/device") { _ in
            .json(
                #"{"device_code":"dc","user_code":"AB-CD","verification_uri":"https://sso.example/d","interval":1}"#
            )
        }
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        try site.directory.write(
            "config.yaml",
            text.replacing("tv:\n    issuer: \(site.issuer)", with: "tv:\n    issuer: \(other.issuer)"))
        let login = try site.run("login", "tv")
        #expect(login.ending == .exited(77) && login.errors.contains("another server"), "\(login)")
        #expect(other.requests.isEmpty)
    }

    @Test func `a daemon that stands still is told as such, and soon`() throws {
        let site = try LoginSite(inMemory: true)
        site.bearerd.process.signal(SIGSTOP)
        defer { site.bearerd.process.signal(SIGCONT) }
        // An action alone may take two minutes.
        for command in ["refresh", "logout"] {
            let result = try site.run(command, "web")
            #expect(
                result.ending == .exited(69) && result.errors.contains("stopped, or overloaded"), "\(result)")
        }
    }

    @Test func `nobody is troubled with a login where there is no daemon`() throws {
        let site = try LoginSite(inMemory: true)
        try site.bearerd.kill()
        for command in [
            ["login", "--no-browser"], ["login", "--device"], ["exchange"], ["refresh"], ["userinfo"],
            ["revoke"], ["logout"], ["register"], ["token"],
        ] {
            let result = try Subprocess.run(
                [BearerdProcess.binary] + command + ["web", "-c", site.file])
            #expect(result.ending == .exited(77) && result.output.isEmpty, "\(command)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
    }
}
