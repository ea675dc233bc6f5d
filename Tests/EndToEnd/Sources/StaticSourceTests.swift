// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `source: static`: somebody else renews the token.
@Suite(.blocking) struct `A token in a file` {
    @Test func `goes to the upstream, without its line end and without an expiry`() throws {
        let token = "tok-" + randomText()
        let site = try SourceSite(token: token + "\r\n")
        #expect(try site.get("/", [("Authorization", "Bearer mine")]).status == 200)
        #expect(site.upstream.requests.map { $0["Authorization"] } == ["Bearer \(token)"])
        #expect(try site.status()["expires_at"] == .null)
        #expect(try site.state() == "authorized")
        #expect(try site.admin("/readyz").status == 200)
        #expect(try site.requests("static") == 1)
        #expect(LeakScan.leaks(of: [token], in: try site.everythingShown()).isEmpty)
        #expect(TemporaryDirectory.entries(of: site.directory.path) == ["config.yaml", "token"])
    }

    @Test func `is seen when it is written in place, renamed over, or behind a swapped link`() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.path("one"), 0o700)
        mkdir(directory.path("two"), 0o700)
        try directory.write("one/token", "first-token")
        try directory.write("two/token", "linked-token")
        symlink("one", directory.path("current"))
        let site = try SourceSite(
            identity: "source: static\ntoken_file: current/token", directory: directory)
        try site.awaitToken("first-token")
        symlink("two", directory.path("next"))
        rename(directory.path("next"), directory.path("current"))
        try site.awaitToken("linked-token")
        try directory.write("two/token", "renamed-token")
        try site.awaitToken("renamed-token")
        let file = open(directory.path("two/token"), O_WRONLY | O_TRUNC)
        write(file, "in-place-token", 14)
        close(file)
        try site.awaitToken("in-place-token")
    }

    @Test func `is seen within a second`() throws {
        let site = try SourceSite(token: "token-0")
        try site.awaitToken("token-0")
        var count = 0
        #expect(
            try isOnce(within: .milliseconds(1000)) { begin in
                count += 1
                begin()
                try site.directory.write("token", "token-\(count)")
                try site.awaitToken("token-\(count)")
            })
    }

    @Test func `is read again at a 401, and the request sent once more only with another one`() throws {
        let upstream = try RawUpstream { request in
            request["Authorization"] == "Bearer good-token" ? .ok() : .unauthorized
        }
        let site = try SourceSite(token: "bad-token", upstream: upstream)
        #expect(try site.get().status == 401)
        #expect(upstream.tokens == ["bad-token"])
        #expect(try site.requests("static") == 2)
        #expect(try site.state() == "authorization_error")
        for _ in 0..<5 { #expect(try site.get().status == 401) }
        #expect(upstream.tokens.count == 6, "read again each time, and sent once")
        #expect(try site.requests("static") == 7)

        let other = try SourceSite(token: "bad-token", upstream: upstream)
        #expect(try other.get("/warm").status == 401)
        try other.directory.write("token", "good-token")
        try other.awaitToken("good-token")
        #expect(try other.get().status == 200)
        try eventually("the error to be over") { try other.state() == "authorized" }
    }

    @Test func `with a 401 to an old one and another in the file is replayed once`() throws {
        let upstream = try RawUpstream { request in
            request["Authorization"] == "Bearer good-token" ? .ok() : .unauthorized
        }
        let directory = try TemporaryDirectory()
        try directory.write("token", "bad-token")
        // The upstream itself changes the file, so that nobody can have seen it before.
        upstream.answer { request in
            if request["Authorization"] == "Bearer good-token" { return .ok() }
            try directory.write("token", "good-token")
            return .unauthorized
        }
        let site = try SourceSite(
            identity: "source: static\ntoken_file: token", directory: directory, upstream: upstream)
        #expect(try site.get().status == 200)
        #expect(upstream.tokens == ["bad-token", "good-token"])
    }

    @Test func `that is a JWT is used until its exp, and no longer`() throws {
        // A machine that is busy may let a short life pass before the first request.
        var (token, used): (String, SourceSite?) = ("", nil)
        for seconds in [4, 8, 16, 32, 64] where used == nil {
            token = SourceTexts.jwt(endingIn: seconds)
            let site = try SourceSite(token: token)
            if try site.get().status == 200, try site.status()["expires_at"] != .null { used = site }
        }
        let site = try #require(used)
        try eventually("its end") { try site.get().status == 503 }
        #expect(try site.state() == "misconfigured")
        #expect(try site.get().json["code"].string == "misconfigured")
        let error = try site.status()["last_error"]
        #expect(error["code"].string == "expired_on_arrival")
        #expect(error["detail"].string?.contains(site.directory.path("token")) == true)
        try site.directory.write("token", SourceTexts.jwt(endingIn: 600))
        try eventually("the next one") { try site.get().status == 200 }
        #expect(!(try site.everythingShown().contains(token.suffix(40))))
    }

    @Test func `that nobody renews is said to end, and not to be renewed, before it does`() throws {
        let site = try SourceSite(token: SourceTexts.jwt(endingIn: 20))
        #expect(try site.get().status == 200)
        let before = try site.status()
        try eventually("its end to be told") {
            try site.status()["last_error"]["code"].string == "token_unchanged"
        }
        let status = try site.status()
        #expect(status["state"].string == "authorized", "\(status)")
        for fact in ["generation", "lifetime_seconds", "last_refresh"] {
            #expect(status[fact] == before[fact], "\(fact)")
        }
        #expect(status["last_error"]["detail"].string?.contains(site.directory.path("token")) == true)
        #expect(try site.admin("/").text.contains("Not renewed:"))
        try site.directory.write("token", SourceTexts.jwt(endingIn: 600))
        try eventually("the next one") {
            let status = try site.status()
            return status["generation"] != before["generation"] && status["last_error"] == .null
        }
    }

    @Test(arguments: ["", "two words", "tab\tbed", "a\u{0}b", "umläut", "x\n\n"])
    func `that nobody could send is misconfigured at the start, names the file, and heals`(
        _ text: String
    ) throws {
        let site = try SourceSite(token: text)
        #expect(try site.get().json["code"].string == "misconfigured")
        try eventually("the state") { try site.state() == "misconfigured" }
        #expect(
            try site.status()["last_error"]["detail"].string?.contains(site.directory.path("token")) == true)
        try site.directory.write("token", "healed-token")
        try site.awaitToken("healed-token")
    }

    @Test func `that is gone, too long, a pipe or without an end leaves the last good one in use`() throws {
        let site = try SourceSite(token: "good-token")
        try site.awaitToken("good-token")
        let path = site.directory.path("token")
        let spoils: [() throws -> Void] = [
            { unlink(path) },
            { try site.directory.write("token", String(repeating: "x", count: 65_537)) },
            {
                unlink(path); mkfifo(path, 0o600)
            },
            {
                unlink(path); symlink("/dev/zero", path)
            },
            {
                unlink(path); mkdir(path, 0o700); rmdir(path)
            },
        ]
        for (index, spoil) in spoils.enumerated() {
            try spoil()
            try eventually("spoil \(index) to be seen") { try site.state() == "misconfigured" }
            #expect(try site.get().status == 200)
            #expect(site.upstream.tokens.last == "good-token")
            unlink(path)
            try site.directory.write("token", "good-token")
            try eventually("it to be well after \(index)") { try site.state() == "authorized" }
        }
    }

    @Test func `that changes under load is always a whole one`() throws {
        let site = try SourceSite(token: "token-0000")
        try site.awaitToken("token-0000")
        let client = try RawClient(to: site.bearerd.proxy)
        for index in 1...300 {
            try site.directory.write("token", "token-\(1000 + index)")
            #expect(try client.request("GET", "/").status == 200)
        }
        try site.awaitToken("token-1300")
        #expect(site.upstream.tokens.allSatisfy { $0.hasPrefix("token-") && $0.count == 10 })
        #expect(try site.requests("static") < 100)
    }

    @Test func `is printed by token, read by refresh, and nobody logs in to it`() throws {
        let site = try SourceSite(token: "printed-token")
        try site.directory.write("token", "printed-later")
        let token = try site.command("token")
        #expect(token.exit == 0 && token.output == "printed-later\n")
        #expect(try site.command("token", "--header").output == "Authorization: Bearer printed-later\n")
        #expect(try site.command("refresh").exit == 0)
        for command in ["login", "logout", "register", "revoke", "userinfo", "exchange"] {
            let refused = try site.command(command)
            #expect(refused.exit == 64, "\(command): \(refused)")
            #expect(refused.errors.contains("static"))
        }
        unlink(site.directory.path("token"))
        try site.directory.write("token", "not one")
        let failed = try site.command("token")
        #expect(failed.exit == 78 && failed.output.isEmpty)
        #expect(failed.errors.contains(site.directory.path("token")) && !failed.errors.contains("not one"))
    }

    @Test func `is looked at by doctor and named by check`() throws {
        let site = try SourceSite(token: "doctored-token")
        let doctor = try site.command("doctor")
        #expect(doctor.exit == 0, "\(doctor)")
        #expect(doctor.output.contains("source: static gives one"))
        let check = try site.command("check")
        #expect(check.exit == 0 && check.output.contains("static"))
        #expect(check.output.contains(site.directory.path("token")))
        try site.directory.write("token", "")
        let broken = try site.command("doctor")
        #expect(broken.exit == 69 && broken.output.contains("identities.default.token_file"))
        #expect(!doctor.output.contains("doctored-token") && !check.output.contains("doctored-token"))
    }

    @Test(arguments: [
        ("source: static", "token"),
        ("source: static\ntoken_file: token\nissuer: https://a.example", "issuer"),
        ("source: static\ntoken_file: token\ngrant_type: client_credentials", "grant_type"),
        ("source: static\ntoken_file: token\nusername: me", "unknown key"),
        ("source: statik\ntoken_file: token", "did you mean 'static'?"),
        ("source: static\ntoken_file: nowhere", "nowhere"),
        ("source: static\ntoken_file: token\ntoken: x", "only one of"),
        ("token_file: token", "token_file"),
        ("source: basic\nusername: a:b\npassword: c", "colon"),
        ("source: basic\nusername: me", "password"),
        ("source: basic\npassword: c", "username"),
    ])
    func `that is configured wrongly is an error with a place`(_ identity: String, _ word: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("token", "fine-token")
        let file = try directory.write("config.yaml", SourceSite.configuration(identity: identity))
        let check = try BearerdProcess.command("check", "-c", file)
        #expect(check.exit == 78)
        #expect(check.errors.contains(word) && check.errors.contains("config.yaml:"), "\(check.errors)")
    }

    @Test func `that others may write is refused`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("token", "fine-token", mode: 0o666)
        let file = try directory.write(
            "config.yaml", SourceSite.configuration(identity: "source: static\ntoken_file: token"))
        #expect(try BearerdProcess.command("check", "-c", file).exit == 78)
    }
}

/// `source: basic`, and where a token of any source goes.
@Suite(.blocking) struct `A user name and password` {
    @Test func `go up as RFC 7617 has them, in UTF-8`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("password", "pä:ss\n")
        let site = try SourceSite(
            identity: "source: basic\nusername: jürgen\npassword_file: password", directory: directory)
        #expect(try site.get().status == 200)
        // printf 'jürgen:pä:ss' | base64
        let field = "Basic asO8cmdlbjpww6Q6c3M="
        #expect(site.upstream.requests.map { $0["Authorization"] } == [field])
        #expect(try site.command("token", "--header").output == "Authorization: \(field)\n")
        #expect(
            LeakScan.leaks(of: ["asO8cmdlbjpww6Q6c3M=", "pä:ss"], in: try site.everythingShown()).isEmpty)
        #expect(try site.requests("basic") == 1)
        try directory.write("password", "other\n")
        try eventually("the other password") {
            _ = try site.get()
            return site.upstream.requests.last?["Authorization"] == "Basic asO8cmdlbjpvdGhlcg=="
        }
    }

    @Test func `that are refused are read again, and sent once more only if they are others`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("password", "old\n")
        let upstream = try RawUpstream()
        // The upstream itself changes the file, so that nobody can have seen it before.
        upstream.answer { request in
            if request["Authorization"] == "Basic bWU6bmV3" { return .ok() }
            try directory.write("password", "new\n")
            return .unauthorized
        }
        let site = try SourceSite(
            identity: "source: basic\nusername: me\npassword_file: password", directory: directory,
            upstream: upstream)
        #expect(try site.post("x").status == 200)
        #expect(upstream.requests.map { $0["Authorization"] } == ["Basic bWU6b2xk", "Basic bWU6bmV3"])
        #expect(try site.state() == "authorized")
        upstream.answer { _ in .unauthorized }
        let before = upstream.requests.count
        for _ in 0..<4 { #expect(try site.get().status == 401) }
        #expect(upstream.requests.count == before + 4, "the same password is sent once")
        #expect(try site.state() == "authorization_error")
        #expect(
            LeakScan.leaks(of: ["bWU6b2xk", "bWU6bmV3"], in: try site.everythingShown()).isEmpty)
    }

    @Test func `or an API key goes where the route says`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("key", "api-key-1\n")
        let site = try SourceSite(
            identity: "source: static\ntoken_file: key", route: "header: X-API-Key\nscheme: none",
            directory: directory)
        #expect(
            try site.get("/", [("x-api-key", "mine"), ("X_API_Key", "mine"), ("Authorization", "a")]).status
                == 200)
        let request = try site.upstream.request()
        #expect(request.head.values("X-API-Key") == ["api-key-1"])
        #expect(request.head.values("X_API_Key").isEmpty)
        #expect(request["Authorization"] == "a")
    }

    /// GitLab takes a project access token in a field of its own, and answers 401 without a challenge.
    @Test func `or a token for GitLab goes into its PRIVATE-TOKEN, and heals when the file is renewed`()
        throws
    {
        let directory = try TemporaryDirectory()
        try directory.write("token", "glpat-old\n")
        let api = try RawUpstream { request in
            request.head.values("PRIVATE-TOKEN") == ["glpat-new"] && request["Authorization"] == nil
                ? .json(#"{"username":"project_1_bot"}"#)
                : .json(#"{"message":"401 Unauthorized"}"#, status: 401)
        }
        let site = try SourceSite(
            identity: "source: static\ntoken_file: token", route: "header: PRIVATE-TOKEN\nscheme: none",
            directory: directory, upstream: api)
        let mine = [("private-token", "mine"), ("PRIVATE_TOKEN", "mine")]
        #expect(try site.get("/api/v4/user", mine).status == 401)
        #expect(try api.request().head.values("PRIVATE-TOKEN") == ["glpat-old"])
        #expect(try site.state() == "authorization_error")
        try directory.write("token", "glpat-new\n")
        try eventually("the renewed token") { try site.get("/api/v4/user", mine).status == 200 }
        #expect(LeakScan.leaks(of: ["glpat-old", "glpat-new"], in: try site.everythingShown()).isEmpty)
    }
}
