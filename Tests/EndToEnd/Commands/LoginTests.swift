// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `login` and `exchange`, with the development provider and a person in the test's hand.
@Suite(.blocking) struct `Logging in` {
    private static func changed(_ url: String, _ name: String, to value: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let pairs = parts[1].split(separator: "&").map {
            $0.hasPrefix("\(name)=") ? "\(name)=\(value)" : String($0)
        }
        return "\(parts[0])?\(pairs.joined(separator: "&"))"
    }

    @Test
    func `without a browser prints the URL alone, and a running daemon uses the session`()
        throws
    {
        let site = try LoginSite()
        let before = try RawClient(to: site.bearerd.proxy).request("GET", "/")
        #expect(before.status == 503 && before.problem == "login_required")
        let login = try site.start("login", "web", "--no-browser")
        let url = try site.firstLine(of: login)
        let page = try browse(try site.logIn(at: url))
        #expect(page.status == 200 && page["Cache-Control"] == "no-store" && !page.text.contains("<script"))
        let policy = page["Content-Security-Policy"] ?? ""
        #expect(policy.contains("style-src 'sha256-") && !policy.contains("unsafe"), "\(policy)")
        #expect(try login.waitForEnd() == .exited(0))
        #expect(login.output.withLock { $0.text } == url + "\n")
        #expect(login.errors.withLock { $0.text } == "web: logged in\n")
        try eventually("the daemon to have the session") {
            try site.status()["state"].string == "authorized"
        }
        let token = try site.run("token", "web", "--id-token")
        #expect(token.ending == .exited(0) && token.output.split(separator: ".").count == 3)
        #expect(try site.run("refresh", "web").ending == .exited(0))
    }

    @Test func `on a terminal says that it waits, how long, how to end it, and at the end who it is`() throws
    {
        let site = try LoginSite()
        let login = try TerminalProgram(["login", "web", "--no-browser", "--timeout", "3m", "-c", site.file])
        let begin = try login.shows("waiting for the login, at most 3 min; Ctrl-C gives it up")
        let url = try #require(begin.split(whereSeparator: \.isNewline).first.map(String.init))
        _ = try browse(try site.logIn(at: url))
        try login.shows("web: logged in as alice")
        #expect(try login.waitForEnd() == .exited(0))
        let given = try TerminalProgram(["login", "web", "--no-browser", "-c", site.file])
        try given.shows("at most 5 min")
        try given.interrupt()
        _ = try given.waitForEnd()
    }

    @Test func `goes on waiting whatever comes that is not the answer`() throws {
        let site = try LoginSite()
        let login = try site.start("login", "web", "--no-browser")
        let answer = try site.logIn(at: try site.firstLine(of: login))
        let callback = String(answer.prefix { $0 != "?" })
        for (url, status) in [
            (callback, 400), ("\(callback)?code=x", 400), ("\(callback)?error=access_denied", 400),
            (Self.changed(answer, "state", to: "forged"), 400), (answer + "&code=x", 400),
            (answer + "&error=x", 400),
            ("\(callback)?error=access_denied&state=forged", 400),
            (
                Self.changed(Self.changed(answer, "iss", to: "https%3A%2F%2Fevil.example"), "state", to: "x"),
                400
            ), ("\(callback)?x=%", 400),
            (answer.replacing("/callback", with: "/other"), 404),
            (answer.replacing("/callback", with: "/callback/"), 404),
        ] {
            let page = try browse(url)
            #expect(page.status == status, "\(url)")
            #expect(!page.text.contains("forged") && !page.text.contains("evil"))
        }
        for method in ["HEAD", "POST", "PUT", "OPTIONS"] {
            #expect(try browse(answer, method).status == 405, "\(method)")
        }
        #expect(try browse(answer, "GET", [("Host", "evil.example")]).status == 421)
        #expect(try browse(answer, "GET", [("Host", "127.0.0.1")]).status == 421)
        #expect(try browse("\(callback)?x=" + String(repeating: "x", count: 100_000)).status == 414)
        #expect(login.isRunning)
        #expect(try browse(answer).status == 200)
        #expect(try login.waitForEnd() == .exited(0))
    }

    @Test(arguments: [true, false])
    func `that another issuer answers, or nobody who says so, is over`(isNamed: Bool) throws {
        let site = try LoginSite()
        try site.begin()
        let token = try site.run("token", "web").output
        let second = try site.start("login", "web", "--no-browser")
        let answer = try site.logIn(at: try site.firstLine(of: second))
        let forged =
            isNamed
            ? Self.changed(answer, "iss", to: "https%3A%2F%2Fevil.example")
            : answer.replacing(#/&?iss=[^&]*/#, with: "")
        let page = try browse(forged)
        #expect(page.status == 400 && page.text.contains("issuer") && !page.text.contains("evil"))
        #expect(try second.waitForEnd() == .exited(77))
        let told = second.errors.withLock { $0.text }
        #expect(told.contains("issuer") && told.contains("evil.example") == isNamed, "\(told)")
        #expect(!isNamed || told.contains(site.issuer))
        #expect(try site.run("token", "web").output == token, "the session stays")
    }

    @Test func `that is refused is 77 and leaves the session alone`() throws {
        let site = try LoginSite()
        try site.begin()
        let token = try site.run("token", "web").output
        let second = try site.start("login", "web", "--no-browser")
        let page = try browse(try site.logIn(at: try site.firstLine(of: second), saying: true))
        #expect(page.status == 400)
        #expect(try second.waitForEnd() == .exited(77))
        #expect(second.errors.withLock { $0.text }.contains("access_denied"))
        #expect(try site.run("token", "web").output == token)
    }

    @Test func `that nobody answers is 69 after its time`() throws {
        let site = try LoginSite()
        let result = try site.run("login", "web", "--no-browser", "--timeout", "100ms")
        #expect(result.ending == .exited(69) && result.errors.contains("in time"))
        let device = try site.run("login", "tv", "--timeout", "100ms")
        #expect(device.ending == .exited(69) && device.errors.contains("in time"))
    }

    @Test func `shows the page in the browser that there is`() throws {
        let site = try LoginSite(identity: "redirect_uri: http://localhost:0/back")
        let script = try site.directory.write(
            "browser", "#!/bin/sh\necho \"$2\" > \(site.directory.path("url"))\n", mode: 0o700)
        let login = try site.start("login", "web", environment: ["BROWSER": "nobody:\(script) --new-window"])
        var url = ""
        try eventually("the browser to be started") {
            url = String(decoding: TemporaryDirectory.contents(of: site.directory.path("url")), as: UTF8.self)
            return url.hasSuffix("\n")
        }
        let answer = try site.logIn(at: String(url.dropLast()))
        #expect(answer.hasPrefix("http://localhost:"))
        #expect(try browse(answer).status == 421)
        let host = answer.dropFirst("http://".count).prefix { $0 != "/" }
        #expect(try browse(answer, "GET", [("Host", String(host))]).status == 200)
        #expect(try login.waitForEnd() == .exited(0))
        #expect(login.output.withLock { $0.text }.isEmpty)
    }

    @Test func `in two steps keeps the code in the store, for one exchange`() throws {
        let site = try LoginSite()
        #expect(try site.run("exchange", "web").ending == .exited(66))
        let login = try site.start("login", "web", "--no-browser", "--no-exchange")
        #expect(try browse(try site.logIn(at: try site.firstLine(of: login))).status == 200)
        #expect(try login.waitForEnd() == .exited(0))
        for name in TemporaryDirectory.entries(of: site.directory.path("store")) {
            #expect(TemporaryDirectory.mode(of: site.directory.path("store/\(name)")).map { $0 & 0o077 } == 0)
        }
        // Two at once: one of them has it.
        let exchanges = try (0..<2).map { _ in try site.start("exchange", "web") }
        let endings = try exchanges.map { try $0.waitForEnd() }
        #expect(endings.contains(.exited(0)) && endings.contains(.exited(66)), "\(endings)")
        #expect(try site.run("exchange", "web").ending == .exited(66))
        #expect(try site.run("token", "web").ending == .exited(0))
    }

    @Test(arguments: [("tv", []), ("web", ["--device"])])
    func `on another device`(identity: String, options: [String]) throws {
        let site = try LoginSite()
        let login = try Subprocess([BearerdProcess.binary, "login", identity, "-c", site.file] + options)
        let code = try login.output.wait(for: "the code") { capture in
            capture.text.firstMatch(of: #/enter (\S+)\n.*\?user_code=(\S+)\n/#).map { String($0.output.1) }
        }
        try site.allow(code)
        #expect(try login.waitForEnd() == .exited(0))
        #expect(try site.run("token", identity).ending == .exited(0))
    }

    @Test(.needs(.qrencode)) func `on another device has a code for its camera on a terminal alone`() throws {
        let site = try LoginSite()
        let login = try TerminalProgram(["login", "tv", "-c", site.file])
        let shown = try login.shows("waiting for the login")
        let margin = "\u{1B}[40;97m" + String(repeating: "█", count: 8)
        #expect(shown.contains(margin) && shown.contains("▀") && shown.contains("?user_code="), "\(shown)")
        try login.interrupt()
        _ = try login.waitForEnd()
        let script = try site.start("login", "tv", "--timeout", "100ms")
        _ = try script.waitForEnd()
        #expect(!script.output.withLock { $0.text }.contains("█"))
    }

    @Test func `on another device binds the session to one key with dpop`() throws {
        let site = try LoginSite(device: "dpop: true")
        let login = try site.start("login", "tv")
        let code = try login.output.wait(for: "the code") { capture in
            capture.text.firstMatch(of: #/enter (\S+)\n/#).map { String($0.output.1) }
        }
        try site.allow(code)
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
        let keys = try ["token", "refresh", "token"].compactMap { command in
            let result = try site.run(command, "tv")
            #expect(result.ending == .exited(0), "\(result.errors)")
            let claims = TestToken(result.output.filter { !$0.isWhitespace })?.claims
            return claims?["cnf"]["jkt"].string
        }
        #expect(keys.count == 2 && Set(keys).count == 1)
        #expect(try site.run("userinfo", "tv").output.contains("alice"))
    }

    @Test func `with a pushed request shows the browser a reference, and binds its code`() throws {
        let site = try LoginSite(identity: "par: true\ndpop: true")
        let login = try site.start("login", "web", "--no-browser")
        let url = try site.firstLine(of: login)
        #expect(url.hasPrefix("\(site.issuer)/authorize?client_id=web&request_uri=urn"))
        _ = try browse(try site.logIn(at: url))
        #expect(try login.waitForEnd() == .exited(0), "\(login.errors.withLock { $0.text })")
        let token = try site.run("token", "web").output
        #expect(TestToken(token.filter { !$0.isWhitespace })?.claims["cnf"]["jkt"].string != nil)
        #expect(try browse(url).status == 400, "a reference is good for one use")
    }

    @Test func `on another device that is refused is 77`() throws {
        let site = try LoginSite()
        let login = try site.start("login", "tv")
        let code = try login.output.wait(for: "the code") { capture in
            capture.text.firstMatch(of: #/enter (\S+)\n/#).map { String($0.output.1) }
        }
        try site.allow(code, saying: true)
        #expect(try login.waitForEnd() == .exited(77))
    }

    @Test(arguments: [[], ["--device"], ["--no-exchange", "--no-browser"]])
    func `into a store that a later version wrote troubles nobody`(options: [String]) throws {
        let site = try LoginSite()
        try site.begin()
        let file = site.directory.path("store/web.session")
        let whole = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let later = whole.replacing(#""version": 1"#, with: #""version": 2"#)
        #expect(later != whole)
        try site.directory.write("store/web.session", later)
        let browser = try site.directory.write("browser", "#!/bin/sh\necho >&2 shown\n", mode: 0o700)
        let login = try Subprocess(
            [BearerdProcess.binary, "login", "web", "-c", site.file] + options,
            environment: ["BROWSER": browser])
        #expect(try login.waitForEnd() == .exited(74))
        let told = login.errors.withLock { $0.text }
        #expect(told.contains("later version") && told.contains(file) && !told.contains("shown"), "\(told)")
        #expect(login.output.withLock { $0.text }.isEmpty)
        // The daemon says the same to who asks it instead.
        for kind in ["inquiry", "pending"] {
            let answer = try RawClient(to: site.bearerd.admin).request(
                "POST", "/api/identities/web/session", [("X-Bearerd-Admin", "1")],
                body: #"{"kind":"\#(kind)"}"#)
            #expect(answer.status == 503 && answer.problem == "store_unavailable", "\(answer.text)")
            #expect(answer.text.contains("later version"))
        }
        try site.directory.write("store/web.session", whole)
        try site.begin()
    }

    @Test func `that finds a store of a later version when the person is done ends at once`() throws {
        let site = try LoginSite()
        let login = try site.start("login", "web", "--no-browser")
        let answer = try site.logIn(at: try site.firstLine(of: login))
        let later = #"{"version": 2, "identity": "web"}"#
        try site.directory.write("store/web.session", later)
        _ = try browse(answer)
        #expect(try login.waitForEnd() == .exited(74))
        let told = login.errors.withLock { $0.text }
        #expect(told.contains("later version") && told.split(separator: "\n").count == 1, "\(told)")
        let file = site.directory.path("store/web.session")
        #expect(TemporaryDirectory.contents(of: file) == Array(later.utf8))
    }

    @Test func `that makes no sense is 64`() throws {
        let site = try LoginSite()
        for arguments in [
            ["login", "web", "--device", "--no-browser"], ["login", "tv", "--no-exchange"],
            ["login", "nobody"],
            ["login", "web", "--timeout", "soon"], ["token", "web", "--header", "--id-token"],
        ] {
            let result = try Subprocess.run([BearerdProcess.binary] + arguments + ["-c", site.file])
            #expect(result.ending == .exited(64), "\(arguments) \(result.errors)")
        }
    }

    @Test func `names the page where the daemon has the redirect's port`() throws {
        let admin = try Socket.refusing().address
        let sidecar = try Sidecar(
            .init(
                identity: "redirect_uri: http://\(admin)/callback", adminListen: "\(admin)",
                grant: "authorization_code"))
        let result = try BearerdProcess.command(
            "login", "--no-browser", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 69 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("log in at http://\(admin)/login/default\n"), "\(result)")
    }

    @Test func `says so where the daemon waits for a login that began in a browser`() throws {
        let (admin, redirect) = (try Socket.refusing().address, try Socket.refusing().address)
        let sidecar = try Sidecar(
            .init(
                identity: "redirect_uri: http://\(redirect)/callback", adminListen: "\(admin)",
                grant: "authorization_code"))
        let page = try RawClient(to: admin)
        #expect(try page.request("GET", "/login/default").status == 303)
        let result = try BearerdProcess.command(
            "login", "--no-browser", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 69 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("waits there, ten minutes at most, for a login"), "\(result)")
        #expect(result.errors.contains("log in at http://\(admin)/login/default\n"), "\(result)")
    }
}
