// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `/login/NAME` and `/callback` on the admin listener, with a person in the test's hand.
@Suite(.blocking) struct `A login on the admin listener` {
    private static let window = [
        ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Site", "none"),
    ]

    @Test func `is named where somebody must log in, and brings the session`() throws {
        let site = try LoginSite()
        let url = "http://\(try site.bearerd.admin)/login/web"
        let program = try RawClient(to: site.bearerd.proxy).request("GET", "/")
        #expect(program.status == 503 && program.problem == "login_required")
        #expect(
            program.json["detail"].string?.contains("open \(url) in a browser") == true, "\(program.text)")
        // Neither word alone makes a window of a program.
        for fields in [[Self.window[0]], [Self.window[1]]] {
            #expect(
                try RawClient(to: site.bearerd.proxy).request("GET", "/", fields).problem == "login_required")
        }
        let window = try RawClient(to: site.bearerd.proxy).request("GET", "/", Self.window)
        #expect(window.status == 503 && window["Retry-After"] != nil && window["Cache-Control"] == "no-store")
        #expect(window["Content-Type"] == "text/html; charset=utf-8" && window["Proxy-Status"] != nil)
        #expect(
            window["Content-Security-Policy"]?.hasPrefix("default-src 'none'; frame-ancestors 'none'") == true
        )
        #expect(window.text.contains("<a class=\"go\" href=\"\(url)\">") && !window.text.contains("<script"))

        let tab = try Tab.opened(on: site)
        #expect(tab.url.hasPrefix(site.issuer))
        let page = try tab.get(try tab.answer(), [("Sec-Fetch-Site", "cross-site")])
        #expect(page.status == 200 && page["Cache-Control"] == "no-store" && !page.text.contains("<script"))
        #expect(page.text.contains("as <strong>alice</strong>"), "\(page.text)")
        #expect(page["Set-Cookie"]?.contains("Max-Age=0") == true)
        #expect(try site.status()["state"].string == "authorized")
        #expect(!site.bearerd.log.contains("code=") && !site.bearerd.log.contains("bearerd_login_"))
    }

    @Test func `ties its state to a cookie that no script and no other path sees`() throws {
        let site = try LoginSite()
        let answer = try Tab(site: site).get("/login/web")
        let cookie = try #require(answer["Set-Cookie"])
        for part in ["Path=/callback", "Max-Age=600", "HttpOnly", "SameSite=Lax"] {
            #expect(cookie.contains("; \(part)"), "\(cookie)")
        }
        #expect(answer["Cache-Control"] == "no-store")
        let state = try #require(answer["Location"]?.firstMatch(of: #/[?&]state=([^&]+)/#)).output.1
        #expect(!cookie.contains(state))
    }

    @Test func `finishes in each of several tabs, once`() throws {
        let site = try LoginSite()
        let tabs = try (0..<3).map { _ in try Tab.opened(on: site) }
        let browser = tabs.flatMap(\.cookies)
        #expect(Set(browser).count == 3)
        for tab in tabs.reversed() {
            let answer = try tab.answer()
            #expect(try tab.with(browser).get(answer).status == 200)
            let again = try tab.with(browser).get(answer)
            #expect(again.status == 410 && again.text.contains("href=\"/\""))
        }
        #expect(try site.status()["state"].string == "authorized")
    }

    @Test(.needs(.smallDisk))
    func `on a full disk brings a session that is in memory alone, and says so`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let site = try LoginSite(store: "type: file\ndirectory: \(directory.path("store"))")
        let tab = try Tab.opened(on: site)
        disk.fill()
        let page = try tab.get(try tab.answer())
        #expect(page.status == 200 && page.text.contains("Logged in, and not stored yet"), "\(page.text)")
        #expect(page.text.contains("No space left") && !page.text.contains("Try again"), "\(page.text)")
        #expect(try site.status()["state"].string == "authorized")
        try eventually("a word on that") { try site.status()["only_in_memory"] == .bool(true) }
        disk.makeRoom()
        try eventually("the session to be stored") { try site.status()["only_in_memory"] == .null }
    }

    @Test func `does nothing without its cookie, or with another login's`() throws {
        let site = try LoginSite()
        let (mine, stranger) = (try Tab.opened(on: site), try Tab.opened(on: site))
        let answer = try mine.answer()
        let name = mine.cookies[0].prefix { $0 != "=" }
        let value = stranger.cookies[0].drop { $0 != "=" }
        for cookies in [[], stranger.cookies, ["\(name)\(value)"], ["\(name)="], [mine.cookies[0] + "x"]] {
            let page = try mine.with(cookies).get(answer)
            #expect(page.status == 400 && page.text.contains("did not begin"), "\(cookies)")
        }
        for query in ["", "?", "?code=x", "?state=forged&code=x", "?state=%", "?state=a&state=b"] {
            #expect([400, 410].contains(try mine.get("/callback\(query)").status), "\(query)")
        }
        #expect(try site.status()["state"].string == "login_required")
        #expect(try mine.get(answer).status == 200)
    }

    @Test func `that fails without a session says so, and one to nobody names those there are`() throws {
        let site = try LoginSite()
        let tab = try Tab.opened(on: site)
        let page = try tab.get(try tab.answer(saying: true))
        #expect(page.status == 403 && page.text.contains("Not logged in") && !page.text.contains("goes on"))
        let unknown = try Tab(site: site).get("/login/wed")
        #expect(unknown.status == 404 && unknown.text.contains("<strong>wed</strong>"), "\(unknown.text)")
        #expect(unknown.text.contains("<a href=\"/login/web\">web</a>"))
        #expect(unknown.text.contains("<li>tv</li>"))
        let program = try RawClient(to: site.bearerd.admin).request("GET", "/login/wed")
        #expect(program.status == 404 && program.json["detail"].string?.contains("'wed'") == true)
    }

    @Test func `that the person or another issuer ends leaves the session alone`() throws {
        let site = try LoginSite()
        try site.begin()
        try eventually("the session") { try site.status()["state"].string == "authorized" }
        let generation = try site.status()["generation"].number
        let denied = try Tab.opened(on: site)
        let no = try denied.answer(saying: true)
        let page = try denied.get(no)
        #expect(page.status == 403 && page.text.contains("access_denied") && page.text.contains("/login/web"))
        #expect(page.text.contains("No new login") && page.text.contains("The session that is there goes on"))
        #expect(try denied.get(no).status == 410)
        for code in ["temporarily_unavailable", "server_error"] {
            let tab = try Tab.opened(on: site)
            let page = try tab.get(tab.answer(saying: true).replacing("access_denied", with: code))
            #expect(page.status == 503 && page["Retry-After"] != nil && page.text.contains(code))
            #expect(page.text.contains("just now") && !page.text.contains("refused"), "\(page.text)")
        }
        let mixed = try Tab.opened(on: site)
        let forged = try mixed.answer().replacing(#/&?iss=[^&]*/#, with: "&iss=https%3A%2F%2Fevil.example")
        let refused = try mixed.get(forged)
        #expect(refused.status == 400 && refused.text.contains("issuer") && !refused.text.contains("evil"))
        #expect(refused.text.contains("The session that is there goes on"))
        #expect(try mixed.get(forged).status == 410)
        #expect(try site.status()["generation"].number == generation)
    }

    @Test(arguments: ["issuer", "client_id"])
    func `gives its code to nobody else, whatever is configured by the time that it comes`(key: String) throws
    {
        let site = try LoginSite()
        let other = try HostileProvider()
        let tab = try Tab.opened(on: site)
        let answer = try tab.answer()
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        let changed =
            key == "issuer"
            ? text.replacing(
                "issuer: \(site.issuer)\n", with: "issuer: \(other.issuer)\n", maxReplacements: 1)
            : text.replacing("client_id: web", with: "client_id: tv")
        try site.directory.write("config.yaml", changed)
        let reload = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        let page = try tab.get(answer)
        #expect(page.status >= 400 && page.text.contains("another server"), "\(page.text)")
        #expect(other.requests.isEmpty)
        let again = try tab.get(answer)
        #expect(again.status == 410)
    }

    @Test func `makes room for the sixty-fifth by giving up the oldest`() throws {
        let site = try LoginSite()
        let tabs = try (0..<65).map { _ in try Tab.opened(on: site) }
        #expect(try tabs[0].get(try tabs[0].answer()).status == 410)
        #expect(try tabs[1].get(try tabs[1].answer()).status == 200)
        #expect(try tabs[64].get(try tabs[64].answer()).status == 200)
    }

    @Test func `that was begun before the daemon was started anew says so, and where to begin again`() throws
    {
        let site = try LoginSite(inMemory: true)
        let tab = try Tab.opened(on: site)
        let answer = try tab.answer()
        try site.bearerd.kill()
        let next = try BearerdProcess(arguments: ["run", "-c", site.file])
        let page = try tab.get(answer)
        #expect(page.status == 410 && page.text.contains("started anew"), "\(page.text)")
        #expect(page.text.contains("href=\"/login/web\"") && !page.text.contains("ten minutes"))
        let unknown = try tab.with([]).get(answer)
        #expect(
            unknown.status == 410 && unknown.text.contains("before bearerd was started at 20"),
            "\(unknown.text)")
        let again = try Tab.opened(on: site)
        #expect(try again.get(try again.answer()).status == 200)
        withExtendedLifetime(next) {}
    }

    @Test func `is held to what the provider has begun to announce`() throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let announced = #","authorization_response_iss_parameter_supported":true"#
        let daemon = try BearerdProcess(
            arguments: [
                "run", "-c",
                Sidecar.file(
                    provider: provider, directory: directory,
                    .init(identity: "scope: api", grant: "authorization_code")),
            ])
        func login() throws -> RawResponse {
            let client = try RawClient(to: daemon.admin)
            let began = try client.request("GET", "/login/default", Self.window)
            let location = try #require(began["Location"])
            let answer = try provider.approve(location, isPushed: false, issuer: nil)
            let cookie = try #require(began["Set-Cookie"]).prefix { $0 != ";" }
            return try browse(answer, "GET", [("Cookie", String(cookie)), ("Accept", "text/html")])
        }
        #expect(try login().status == 200)
        provider.discovery { _, provider in provider.discoveryDocument(members: announced) }
        try eventually("the issuer to be missed") {
            let page = try login()
            return page.status == 400 && page.text.contains("does not say which issuer it is of")
        }
        let looks = provider.discoveryRequestCount
        provider.discovery { _, _ in .response(500) }
        #expect(try login().status == 400, "what was announced counts while nobody can look")
        let burst = provider.discoveryRequestCount - looks
        for _ in 0..<20 { _ = try login() }
        #expect(provider.discoveryRequestCount - looks <= burst + 8)
    }

    @Test func `is for a window of a browser that knows our name`() throws {
        let site = try LoginSite()
        let tab = Tab(site: site)
        let port = try site.bearerd.admin.port
        for path in ["/login/web", "/callback?state=x", "/"] {
            let rebound = try tab.get(path, [("Host", "rebound.example:\(port)")])
            #expect(rebound.status == 421 && rebound["Set-Cookie"] == nil, "\(path)")
        }
        let moved = try tab.get("/login/web", [("Host", "localhost:\(port)")])
        #expect(moved.status == 303 && moved["Set-Cookie"] == nil)
        #expect(moved["Location"]?.hasPrefix("http://127.0.0.1:\(port)/login/web") == true)
        for (mode, destination) in [("no-cors", "image"), ("navigate", "iframe"), ("cors", "empty")] {
            let answer = try RawClient(to: site.bearerd.admin).request(
                "GET", "/login/web", [("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination)])
            #expect(answer.status == 403 && answer["Set-Cookie"] == nil, "\(destination)")
        }
        let early = try RawClient(to: site.bearerd.admin).request(
            "GET", "/login/web", [("Sec-Fetch-Mode", "navigate"), ("Sec-Purpose", "prefetch;prerender")])
        #expect(early.status == 403 && early["Set-Cookie"] == nil)
        for (method, path) in [("POST", "/login/web"), ("HEAD", "/login/web"), ("POST", "/callback")] {
            let answer = try RawClient(to: site.bearerd.admin).request(method, path, body: nil)
            #expect(answer.status == 405 && answer["Set-Cookie"] == nil)
        }
        #expect(try tab.get("/login/nobody").status == 404)
        let device = try tab.get("/login/tv")
        #expect(device.status == 409 && device.text.contains("bearerd login tv"))
    }

    @Test func `comes back by a redirect URI of one's own, where that arrives`() throws {
        let place = try Socket.refusing().address
        let site = try LoginSite(
            identity: "redirect_uri: https://login.example.com/bearerd/back\nredirect_listen: \(place)")
        let own = [("Host", "login.example.com")]
        let sent = try Tab(site: site).get("/login/web", own)
        #expect(sent.status == 303, "\(sent.text)")
        let url = try #require(sent["Location"])
        #expect(url.contains("redirect_uri=https%3A%2F%2Flogin.example.com%2Fbearerd%2Fback"))
        let cookie = try #require(sent["Set-Cookie"])
        #expect(cookie.contains("; Path=/bearerd/back;") && cookie.hasSuffix("; Secure"))
        let target = String(try site.logIn(at: url).dropFirst("https://login.example.com".count))
        let fields = own + [("Cookie", String(cookie.prefix { $0 != ";" }))]
        let wrong = try RawClient(to: place).request("GET", target, [fields[1], ("Host", "\(place)")])
        #expect(wrong.status == 404)
        #expect(try RawClient(to: place).request("GET", "/", own).status == 404)
        #expect(try RawClient(to: place).request("POST", target, fields, body: "").status == 405)
        let done = try RawClient(to: place).request("GET", target, fields)
        #expect(done.status == 200 && done.text.contains("as <strong>alice</strong>"))
        try eventually("the port to be given back") { (try? RawClient(to: place)) == nil }

        let elsewhere = try Tab(site: site).get("/login/web")
        #expect(elsewhere["Location"] == "https://login.example.com/login/web?here")
        // The admin listener takes what a proxy brings there too.
        let again = try Tab(site: site).get("/login/web", own)
        let back = String(
            try site.logIn(at: try #require(again["Location"])).dropFirst("https://login.example.com".count))
        #expect(back.hasPrefix("/bearerd/back?"))
        let tab = Tab(site: site).with([String(try #require(again["Set-Cookie"]).prefix { $0 != ";" })])
        #expect(try tab.get(back, own).status == 200)
        let check = try site.run("check")
        #expect(
            check.output.contains("register https://login.example.com/bearerd/back as redirect URI of web"))
    }

    @Test func `is over where a reload takes it away while its redirect is awaited elsewhere`() throws {
        let place = try Socket.refusing().address
        let line = "redirect_uri: http://\(place)/callback"
        let site = try LoginSite(identity: line)
        _ = try Tab.opened(on: site)
        #expect(try RawClient(to: place).request("GET", "/").status == 404)
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        try site.directory.write(
            "config.yaml", text.replacing(line, with: "grant_type: client_credentials"))
        let reload = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        try eventually("the port to be given back") { (try? RawClient(to: place)) == nil }
    }

    @Test func `shares the address of its redirect with logins of other identities`() throws {
        let place = try Socket.refusing().address
        let line = "redirect_uri: http://\(place)/callback"
        let site = try LoginSite(identity: line)
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        try site.directory.write("config.yaml", text.replacing("grant_type: device_code", with: line))
        let reload = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        let tabs = try ["web", "tv"].map { try Tab.opened(on: site, $0) }
        for tab in tabs {
            let target = try site.logIn(at: tab.url).dropFirst("http://\(place)".count)
            let page = try RawClient(to: place).request(
                "GET", String(target), [("Cookie", tab.cookies[0]), ("Accept", "text/html")])
            #expect(page.status == 200, "\(page.text)")
        }
        try eventually("the port to be given back") { (try? RawClient(to: place)) == nil }
    }

    @Test func `whose page was prepared while a reload came ends by what is in force`() throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let place = try Socket.refusing().address
        let file = try Sidecar.file(
            provider: provider, directory: directory,
            .init(
                identity: "scope: api\nredirect_uri: http://\(place)/callback", grant: "authorization_code"))
        let daemon = try BearerdProcess(arguments: ["run", "-c", file])
        let (isAsked, mayAnswer) = (Gate(), Gate())
        provider.discovery { _, provider in
            isAsked.open()
            return provider.discoveryDocument().held(by: mayAnswer)
        }
        let visit = try RawClient(to: daemon.admin)
        try visit.send("GET", "/login/default", Self.window)
        try isAsked.pass()
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let client = try #require(text.firstMatch(of: #/client_id: (\S+)/#)).output.0
        try directory.write("config.yaml", text.replacing(client, with: "client_id: another"))
        let reload = try RawClient(to: daemon.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        mayAnswer.open()
        let begun = try #require(try visit.wire.readHead())
        let answer = try provider.approve(
            try #require(begun["Location"]), isPushed: false, issuer: nil)
        let cookie = try #require(begun["Set-Cookie"]).prefix { $0 != ";" }
        let page = try browse(answer, "GET", [("Cookie", String(cookie)), ("Accept", "text/html")])
        #expect(page.status >= 400 && page.text.contains("begin again"), "\(page.text)")
        #expect(provider.requests.isEmpty)
    }

    @Test func `says so where its redirect cannot be awaited`() throws {
        let taken = try Socket.listening()
        let site = try LoginSite(identity: "redirect_uri: http://\(taken.address)/callback")
        let page = try Tab(site: site).get("/login/web")
        #expect(page.status == 502 && page["Set-Cookie"] == nil)
        #expect(page.text.contains("cannot listen on \(taken.address) for the redirect"), "\(page.text)")
        withExtendedLifetime(taken) {}
    }
}
