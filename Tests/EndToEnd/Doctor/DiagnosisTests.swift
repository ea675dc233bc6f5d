// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Each check, when the thing that it looks at is broken, and nothing else is.
@Suite(.blocking) struct `Doctor finds` {
    private func expect(
        _ result: DoctorFixture.Result, _ id: String, _ verdict: String = "fail", seen: String, fix: String,
        blocked: [String] = [], exit: Int32 = 69
    ) {
        #expect(result.result(of: id) == verdict, "\(result)")
        #expect(result.seen(by: id).contains(seen), "\(result)")
        #expect(result.fix(of: id).contains(fix), "\(result)")
        #expect(Set(result.troubled).union(["sandbox"]) == [id, "sandbox"], "\(result)")
        for other in blocked {
            #expect(result.seen(by: other) == "not looked at: \(id) comes first", "\(other)")
        }
        #expect(result.exit == exit, "\(result)")
    }

    @Test func `a file that cannot be read, and looks no further`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.top = "lisen: 1"
        let result = try fixture.run()
        expect(result, "config", seen: "did you mean 'listen'?", fix: "bearerd check -c", exit: 78)
        #expect(result.checks.count == 22)
        #expect(
            result.checks.filter { $0["id"].string != "config" }.allSatisfy { $0["result"].string == "skip" },
            "\(result)")
        let alone = try fixture.run("--check", "tls")
        #expect(alone.exit == 78 && alone.checks.count == 1 && !alone.isSuccess, "\(alone)")
    }

    @Test func `a configuration that warns`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.grant = "password"
        fixture.settings.identity = "username: ada\npassword: not-a-real-password"
        let result = try fixture.run("--check", "config")
        #expect(result.exit == 0 && result.result(of: "config") == "warn", "\(result)")
        #expect(result.fix(of: "config").hasPrefix("bearerd check -c "))
    }

    @Test func `a secret that everybody may read`() throws {
        var fixture = try DoctorFixture()
        let file = try fixture.directory.write("secret", "not-a-real-secret")
        chmod(file, 0o644)
        fixture.settings.hasSecret = false
        fixture.settings.identity = "client_secret_file: \(file)"
        expect(try fixture.run(), "config-modes", "warn", seen: file, fix: "chmod 0600", exit: 0)
    }

    @Test func `a store that others could read`() throws {
        let fixture = try DoctorFixture()
        let store = fixture.directory.path("store")
        mkdir(store, 0o700)
        let session = try fixture.directory.write("store/default.session", "{}")
        chmod(session, 0o644)
        expect(
            try fixture.run(), "store", seen: "\(session): has mode 0644", fix: "chmod",
            blocked: ["token", "refresh-token"])
    }

    @Test func `a store that others may look into by now, and that is not used any more`() throws {
        let fixture = try DoctorFixture()
        let store = fixture.directory.path("store")
        mkdir(store, 0o755)
        expect(
            try fixture.run(), "store", "warn",
            seen: "\(store)/bearerd is not there yet; the first session makes it, in place of \(store),",
            fix: "chmod 0700 \(store)", exit: 0)
        try fixture.directory.write("store/default.session", "{}")
        expect(
            try fixture.run(), "store",
            seen: "has mode 0755, must be 0700: chmod 700, or its sessions are not used",
            fix: "chmod", blocked: ["token", "refresh-token"])
        #expect(TemporaryDirectory.entries(of: store) == ["default.session"])
        mkdir("\(store)/bearerd", 0o700)
        expect(
            try fixture.run(), "store", "warn", seen: "the sessions there are not used",
            fix: "chmod 0700 \(store)", exit: 0)
        unlink("\(store)/default.session")
        #expect(try fixture.run().result(of: "store") == "ok")
    }

    @Test(.needs(.root))
    func `nothing wrong with a directory of another user's that bearerd makes its own in`() throws {
        let fixture = try DoctorFixture()
        let store = fixture.directory.path("store")
        mkdir(store, 0o777)
        chown(store, 1, 1)
        let result = try fixture.run("--check", "store")
        #expect(result.result(of: "store") == "ok", "\(result)")
        #expect(result.seen(by: "store").contains("which belongs to user 1"), "\(result)")
    }

    @Test func `a store that is no directory`() throws {
        let fixture = try DoctorFixture()
        try fixture.directory.write("store", "")
        expect(try fixture.run(), "store", seen: "is not a directory", fix: "", blocked: ["token"])
    }

    @Test(arguments: [-3600, 3600])
    func `a clock that differs from the provider's`(seconds: Int) throws {
        let fixture = try DoctorFixture()
        fixture.provider.discovery { _, provider in
            .response(
                200, [("Content-Type", "application/json"), ("Date", Self.date(time(nil) + seconds))],
                #"{"issuer":"\#(provider.issuer)","token_endpoint":"\#(provider.tokenEndpoint)"}"#)
        }
        let words = seconds < 0 ? "s behind ours" : "s ahead of ours"
        expect(try fixture.run(), "clock", seen: words, fix: "timedatectl set-ntp true")
    }

    private static func date(_ moment: time_t) -> String {
        var moment = moment
        var broken = tm()
        gmtime_r(&moment, &broken)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &broken)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func `a name without an address`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.identity = "discovery_url: https://nowhere.invalid/x"
        let result = try fixture.run()
        expect(
            result, "dns", seen: "nowhere.invalid has no address", fix: "identities.default.issuer",
            blocked: ["tls", "clock"])
        #expect(result.seen(by: "discovery") == "not looked at: tls comes first", "\(result)")
    }

    @Test(.needs(.nameServer))
    func `name servers that say nothing`() throws {
        let gate = Gate()
        defer { gate.open() }
        let names = try NameServer(answeringWhen: gate)
        var fixture = try DoctorFixture()
        fixture.settings.identity = "discovery_url: https://nowhere.example/x"
        let result = try fixture.run("--check", "dns", launcher: names.launcher)
        #expect(result.seen(by: "dns").contains("say nothing of nowhere.example within"), "\(result)")
    }

    @Test func `a damaged session, and leaves it where it is`() throws {
        let fixture = try DoctorFixture()
        let file = try fixture.file()
        let store = fixture.directory.path("store")
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        try eventually("a session") {
            !TemporaryDirectory.entries(of: store).filter { $0.hasSuffix(".session") }.isEmpty
        }
        try bearerd.kill()
        let names = TemporaryDirectory.entries(of: store)
        for name in names where name.hasSuffix(".session") {
            try fixture.directory.write("store/\(name)", "rubbish")
        }
        _ = try fixture.run()
        #expect(TemporaryDirectory.entries(of: store) == names)
    }

    @Test func `a provider that nobody vouches for`() throws {
        let authority = try TLSAuthority()
        var fixture = try DoctorFixture(provider: HostileProvider(tls: authority.server(for: ["localhost"])))
        let stranger = try TLSAuthority()
        fixture.settings.identity = "ca_file: \(stranger.certificateFile)"
        expect(
            try fixture.run(), "tls", seen: "the certificate does not verify",
            fix: "identities.default.ca_file",
            blocked: ["clock", "discovery"])
        fixture.settings.identity = "ca_file: \(authority.certificateFile)"
        let well = try fixture.run("--check", "tls")
        #expect(well.result(of: "tls") == "ok" || well.result(of: "tls") == "warn", "\(well)")
        #expect(well.seen(by: "tls").contains("days are left"), "\(well)")
    }

    @Test func `a provider that is away`() throws {
        let (holder, refusing) = try Socket.refusing()
        var fixture = try DoctorFixture()
        fixture.settings.identity = "discovery_url: http://\(refusing)/x"
        expect(
            try fixture.run(), "tls", seen: "http://\(refusing): ",
            fix: "or mend the port in identities.default.issuer")
        withExtendedLifetime(holder) {}
    }

    @Test func `another issuer than the configured one`() throws {
        let fixture = try DoctorFixture()
        fixture.provider.discovery { _, provider in provider.discoveryDocument(issuer: "https://other.test") }
        let result = try fixture.run()
        expect(
            result, "discovery", seen: "https://other.test", fix: "identities.default.issuer",
            blocked: ["jwks", "client-auth", "par-dpop"])
        #expect(result.seen(by: "discovery").contains(fixture.provider.issuer))
    }

    @Test func `keys that are none`() throws {
        var fixture = try DoctorFixture()
        fixture.provider.serve("GET", "/jwks") { _ in .json(#"{"keys":[]}"#) }
        let key = "identities.default.jwks_uri"
        expect(try fixture.run(), "jwks", "warn", seen: "answers 200, with 0 keys", fix: key, exit: 0)
        fixture.settings.identity = "scope: openid"
        expect(try fixture.run(), "jwks", seen: "answers 200, with 0 keys", fix: key)
        fixture.provider.serve("GET", "/jwks") { _ in .json(#"{"keys":[{"kty":"RSA"},{"kty":"EC"}]}"#) }
        #expect(try fixture.run().seen(by: "jwks") == "2 keys: EC, RSA")
        let endpoint = fixture.provider.issuer
        fixture.provider.discovery { _, _ in
            .json(#"{"issuer":"\#(endpoint)","token_endpoint":"\#(endpoint)/token"}"#)
        }
        expect(
            try fixture.run(), "jwks", "warn", seen: "over plain http nothing else vouches", fix: key, exit: 0
        )
    }

    @Test func `a client authentication that the provider does not take`() throws {
        let fixture = try DoctorFixture()
        fixture.provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #","token_endpoint_auth_methods_supported":["private_key_jwt"]"#)
        }
        expect(
            try fixture.run(), "client-auth", seen: "client_secret_basic is not among private_key_jwt",
            fix: "identities.default.token_endpoint_auth_method")
    }

    @Test func `a secret that is wrong, when it may try it`() throws {
        let fixture = try DoctorFixture()
        fixture.provider.setPolicy { $0.clientSecret = "another" }
        #expect(try fixture.run().exit == 0)
        let result = try fixture.run("--live")
        #expect(result.exit == 69 && result.troubled.contains("client-auth"), "\(result)")
        #expect(result.fix(of: "client-auth") == "identities.default.client_secret")
        #expect(result.result(of: "token") == "skip" && result.seen(by: "token").contains("client-auth"))
        // Where that row is not told, this one tells.
        let alone = try fixture.run("--live", "--check", "token")
        #expect(alone.exit == 69 && alone.result(of: "token") == "fail", "\(alone)")
        #expect(alone.fix(of: "token") == "identities.default.client_secret", "\(alone)")
    }

    @Test func `the file that a wrong secret is in`() throws {
        var fixture = try DoctorFixture()
        let secret = try fixture.directory.write("secret", "fake-secret\n")
        fixture.settings.hasSecret = false
        fixture.settings.identity = "client_secret_file: \(secret)"
        fixture.provider.setPolicy { $0.clientSecret = "another" }
        let result = try fixture.run("--live")
        #expect(result.fix(of: "client-auth") == "identities.default.client_secret_file", "\(result)")
    }

    @Test(arguments: [("invalid_scope", "scope"), ("unauthorized_client", "client_secret")])
    func `what it is that the provider refuses`(code: String, key: String) throws {
        let fixture = try DoctorFixture()
        fixture.provider.always { _, _ in .oauthError(code) }
        let result = try fixture.run("--live")
        let (row, other) = key == "client_secret" ? ("client-auth", "token") : ("token", "client-auth")
        #expect(result.result(of: row) == "fail" && result.result(of: other) != "fail", "\(result)")
        #expect(result.fix(of: row).hasPrefix("identities.default.\(key)"), "\(result)")
    }

    @Test func `what it is that the provider refuses the daemon, which has the session in memory`() throws {
        var fixture = try DoctorFixture()
        fixture.admin = "\(try Socket.refusing().address)"
        fixture.settings.store = "type: memory"
        fixture.provider.always { _, _ in .oauthError("invalid_scope") }
        let daemon = try BearerdProcess(arguments: ["run", "-c", fixture.file()])
        _ = try daemon.admin
        let result = try fixture.run("--live")
        #expect(result.fix(of: "token") == "identities.default.scope", "\(result)")
    }

    @Test func `that nobody has logged in`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.grant = "refresh_token"
        let result = try fixture.run()
        #expect(result.troubled.filter { $0 != "sandbox" } == ["token", "refresh-token"], "\(result)")
        for id in ["token", "refresh-token"] {
            #expect(
                result.seen(by: id) == "nobody has logged in" && result.fix(of: id) == "bearerd login default"
            )
        }
    }

    @Test func `a margin that is too long for the token`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "300" }
        let sidecar = try Sidecar.ended(provider: provider)
        let text = String(
            decoding: TemporaryDirectory.contents(of: sidecar.directory.path("config.yaml")), as: UTF8.self)
        let file = try sidecar.directory.write(
            "long.yaml", text.replacing("    grant_type:", with: "    refresh_margin: 200s\n    grant_type:"))
        let result = try BearerdProcess.command("doctor", "--check", "token", "-c", file)
        #expect(result.exit == 0 && result.output.hasPrefix("warn  token"), "\(result)")
        #expect(
            result.output.contains("it lives 300 s")
                && result.output.contains("identities.default.refresh_margin"))
    }

    @Test func `a port that another program has`() throws {
        let stranger = try RawServer { wire in _ = try wire.readRequest() }
        var fixture = try DoctorFixture()
        fixture.settings.grant = "authorization_code"
        fixture.settings.identity = "redirect_uri: http://127.0.0.1:\(stranger.address.port)/callback"
        let result = try fixture.run("--check", "redirect-uri")
        #expect(
            result.exit == 69 && result.seen(by: "redirect-uri").hasPrefix("another program listens"),
            "\(result)")
        #expect(result.fix(of: "redirect-uri").contains("identities.default.redirect_uri"))
        fixture.settings.identity = ""
        let free = try fixture.run("--check", "redirect-uri")
        #expect(
            free.seen(by: "redirect-uri")
                == "register http://127.0.0.1/callback at the provider, with any port")
        let admin = try Socket.refusing().address
        fixture.admin = "\(admin)"
        let page = try fixture.run("--check", "redirect-uri")
        #expect(
            page.seen(by: "redirect-uri").hasSuffix(
                "and http://\(admin)/callback for logins on the admin listener"), "\(page)")
        let fixed = try Socket.refusing().address
        fixture.settings.identity = "redirect_uri: http://127.0.0.1:\(fixed.port)/callback"
        let one = try fixture.run("--check", "redirect-uri")
        #expect(one.seen(by: "redirect-uri").hasSuffix("for logins on the admin listener too"), "\(one)")
        let sidecar = try Sidecar()
        fixture.admin = "\(try sidecar.bearerd.admin)"
        fixture.settings.identity = "redirect_uri: http://\(fixture.admin)/callback"
        let shared = try fixture.run("--check", "redirect-uri")
        #expect(
            shared.exit == 0
                && shared.seen(by: "redirect-uri").contains(
                    "where one logs in, at http://\(fixture.admin)/login/default"),
            "\(shared)")
        let place = fixture.admin.replacing("127.0.0.1", with: "localhost")
        fixture.settings.identity = "redirect_uri: http://\(place)/callback"
        let named = try fixture.run("--check", "redirect-uri")
        #expect(named.seen(by: "redirect-uri").contains("logs in, at http://localhost:"), "\(named)")
    }

    @Test func `an upstream that is away, and one that refuses the token`() throws {
        let fixture = try DoctorFixture()
        fixture.upstream.answer { _ in .unauthorized }
        let without = try fixture.run()
        #expect(
            without.exit == 0
                && without.seen(by: "upstream").hasSuffix("answers 401 (invalid_token) without a token"))
        let with = try fixture.run("--live")
        #expect(with.exit == 69 && with.fix(of: "upstream").contains("audience"), "\(with)")
        fixture.upstream.stop()
        expect(
            try fixture.run(), "upstream", seen: "/ at \(fixture.upstream.url): ",
            fix: "start what should listen at")
    }

    @Test func `a proxy in the environment that nothing uses`() throws {
        let result = try DoctorFixture().run(environment: ["https_proxy": "http://proxy.test:3128"])
        expect(
            result, "proxy-environment", "warn", seen: "https_proxy in the environment",
            fix: "proxy: environment",
            exit: 0)
    }

    @Test func `too few descriptors`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.top = "limits: {connections: 1000}"
        let result = try fixture.run(launcher: ["/usr/bin/prlimit", "--nofile=256:256"])
        expect(
            result, "descriptors", "warn", seen: "not for limits.connections (1000)", fix: "LimitNOFILE=",
            exit: 0)
    }

    @Test func `that commands keep the sandbox off`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.top += "\non_state_change: [/bin/true]"
        expect(
            try fixture.run(), "sandbox", "warn", seen: "on_state_change could not run in it",
            fix: "on_state_change",
            exit: 0)
    }

    @Test func `who is at the admin listener`() throws {
        let stranger = try RawServer { wire in
            while try wire.readRequest() != nil { _ = try Reply.json("{}").send(to: wire) }
        }
        var fixture = try DoctorFixture()
        fixture.admin = "\(stranger.address)"
        expect(try fixture.run(), "admin", seen: "is it another program?", fix: "admin.listen")
        let sidecar = try Sidecar()
        fixture.admin = "\(try sidecar.bearerd.admin)"
        #expect(try fixture.run().seen(by: "admin").contains("answers at \(fixture.admin)"))
    }
}
