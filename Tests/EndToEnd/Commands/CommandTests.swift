// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The commands, their output and their exit codes.
@Suite(.blocking) struct `Commands` {
    private func configured(
        _ settings: Sidecar.Settings = .init()
    ) throws -> (provider: HostileProvider, directory: TemporaryDirectory, file: String) {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let directory = try TemporaryDirectory()
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "secret-" + randomText(),
            directory: directory, settings)
        return (provider, directory, try directory.write("config.yaml", text))
    }

    @Test func `version and help`() throws {
        let version = try BearerdProcess.command("--version")
        #expect(version.exit == 0 && version.output.hasPrefix("bearerd "))
        let help = try BearerdProcess.command("--help")
        #expect(help.exit == 0 && help.errors.isEmpty)
        for command in ["run", "check", "demo", "status", "token", "refresh"] {
            #expect(help.output.contains(command), "\(command)")
            for flag in ["-h", "--help"] {
                let own = try BearerdProcess.command(command, flag)
                #expect(own.exit == 0 && own.output.contains(command), "\(command) \(flag)")
            }
        }
    }

    @Test func `refresh beside a daemon tells what the provider said, and which one`() throws {
        let provider = try HostileProvider()
        provider.always { _, _ in .oauthError("invalid_client", status: 401) }
        let place = try TemporaryDirectory()
        let sidecar = try Sidecar(
            provider: provider, .init(adminListen: "unix:\(place.path("admin"))", store: "type: memory"))
        let result = try BearerdProcess.command("refresh", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 78 && result.output.isEmpty, "\(result)")
        #expect(
            result.errors.contains("the daemon:") && result.errors.contains("look at client_id")
                && result.errors.contains(provider.tokenEndpoint) && !result.errors.contains("/api/status"),
            "\(result)")
    }

    @Test func `usage errors are 64, in one line`() throws {
        for arguments in [
            ["frobnicate"], ["run", "--frobnicate"], ["run", "-c"], ["status", "a", "b", "c"],
        ] {
            let result = try Subprocess.run([BearerdProcess.binary] + arguments)
            #expect(result.ending == .exited(64), "\(arguments)")
            #expect(
                result.output.isEmpty && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        let nothing = try Subprocess.run([BearerdProcess.binary])
        #expect(nothing.ending == .exited(64))
    }

    @Test(arguments: ["schema", "version", "help"])
    func `a result that nobody can get is 74`(command: String) throws {
        for (redirection, reason) in [(">&-", "it is closed"), (">/dev/full", "No space left on device")] {
            let script = "exec '\(BearerdProcess.binary)' \(command) \(redirection)"
            let result = try Subprocess.run(["/bin/sh", "-c", script])
            #expect(result.ending == .exited(74), "\(redirection): \(result)")
            #expect(result.errors.contains("standard output: \(reason)"), "\(redirection): \(result.errors)")
        }
    }

    @Test func `a missing configuration is 78`() throws {
        for command in ["run", "check", "status", "token", "refresh"] {
            let result = try BearerdProcess.command(command, "-c", "/nonexistent/config.yaml")
            #expect(result.exit == 78 && result.errors.contains("/nonexistent/config.yaml"), "\(command)")
        }
    }

    @Test func `what listens in the daemon's place is told in words`() throws {
        let directory = try TemporaryDirectory()
        let stranger = try RawServer { wire in
            _ = try wire.readRequest()
            try wire.send("220 mail.example ESMTP\r\n")
        }
        let text = smallest(admin: stranger.address)
        let file = try directory.write("config.yaml", text)
        let result = try BearerdProcess.command("status", "-c", file)
        #expect(result.exit == 69 && result.errors.contains("\(stranger.address)"), "\(result.errors)")
        #expect(result.errors.contains("does another program listen there? look at admin.listen"))
        #expect(!result.errors.contains("malformed") && !result.errors.contains("interrupted"))
    }

    private func smallest(admin: Address) -> String {
        """
        listen: 127.0.0.1:0
        admin: {listen: "\(admin)"}
        routes: [{upstream: "http://127.0.0.1:1", identity: none}]
        store: {type: memory}
        """
    }

    @Test func `both forms of a long option are taken`() throws {
        let (_, directory, file) = try configured()
        defer { withExtendedLifetime(directory) {} }
        #expect(try BearerdProcess.command("check", "--config", file).exit == 0)
        #expect(try BearerdProcess.command("check", "--config=\(file)").exit == 0)
        #expect(try BearerdProcess.command("check", "-c", file).exit == 0)
    }

    @Test func `without the option config yaml of the directory is used`() throws {
        let (_, directory, _) = try configured()
        #expect(try BearerdProcess.command("check", directory: directory.path).exit == 0)
    }

    @Test func `check prints the route table and asks nobody`() throws {
        let (provider, directory, file) = try configured(
            .init(moreRoutes: "- path: /deeper\n  upstream: https://api.test/v1\n  identity: none"))
        defer { withExtendedLifetime(directory) {} }
        let result = try BearerdProcess.command("check", "-c", file)
        #expect(result.exit == 0)
        for part in ["/deeper", "https://api.test/v1", "http://127.0.0.1:1", "default"] {
            #expect(result.output.contains(part), "\(part)")
        }
        #expect(provider.requests.isEmpty && provider.discoveryRequestCount == 0)
    }

    @Test func `check shows all errors of a file at once, each with its place`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "broken.yaml",
            """
            lisen: 127.0.0.1:0
            workers: many
            timeouts:
              header: 10
              first_byte: 1m
            identities:
              default:
                issuer: https://sso.test
                client_id: a
                client_id: b
                client_secret: ${BEARERD_TEST_UNSET}
                grant_type: client_credential
            routes:
              - path: api
                upstream: ftp://api.test
                identity: defualt
            """)
        for command in ["check", "run"] {
            let result = try BearerdProcess.command(command, "-c", file)
            let lines = result.errors.split(separator: "\n")
            #expect(result.exit == 78 && lines.count >= 8, "\(result.errors)")
            for (place, words) in [
                ("1:1", "listen"), ("2:10", ""), ("4:11", ""), ("10:5", "client_id"),
                ("11:20", "BEARERD_TEST_UNSET"),
                ("12:17", "client_credentials"), ("14:11", ""), ("15:15", ""), ("16:15", "default"),
            ] {
                let line = lines.first { $0.hasPrefix("\(file):\(place): error: ") }
                #expect(line?.contains(words) == true, "\(place) \(words)\n\(result.errors)")
            }
            #expect(lines.contains { $0.contains("did you mean 'listen'?") })
        }
    }

    @Test func `check tells all as JSON`() throws {
        let (_, directory, file) = try configured()
        let good = try BearerdProcess.command("check", "--json", "-c", file)
        let document = try #require(TestJSON(parsing: good.output), "\(good.output)")
        #expect(good.exit == 0 && good.errors.isEmpty && document["valid"] == .bool(true))
        #expect(document["errors"].array.isEmpty && document["routes"][0]["path"].string == "/")
        #expect(document["identities"][0]["grant_type"].string == "client_credentials")
        #expect(!good.output.contains("secret-"))
        let broken = try directory.write("broken.yaml", "lisen: 1\nworkers: many\n")
        let bad = try BearerdProcess.command("check", "--json", "-c", broken)
        let errors = try #require(TestJSON(parsing: bad.output), "\(bad.output)")["errors"].array
        #expect(bad.exit == 78 && bad.errors.isEmpty && errors.count >= 2)
        #expect(
            errors[0]["line"].number == 1 && errors[0]["column"].number == 1
                && errors[0]["file"].string == broken)
        #expect(errors[0]["message"].string?.contains("did you mean 'listen'?") == true)
    }

    @Test func `check is quiet on demand`() throws {
        let (_, directory, file) = try configured()
        let good = try BearerdProcess.command("check", "--quiet", "-c", file)
        #expect(good.exit == 0 && good.output.isEmpty && good.errors.isEmpty)
        let bad = try BearerdProcess.command(
            "check", "--quiet", "-c", directory.write("broken.yaml", "lisen: 1\n"))
        #expect(bad.exit == 78 && bad.output.isEmpty && bad.errors.contains("did you mean 'listen'?"))
        #expect(try BearerdProcess.command("check", "--quiet", "--json", "-c", file).exit == 64)
        #expect(try BearerdProcess.command("check", "--quiet=yes", "-c", file).exit == 64)
    }

    @Test func `colours are for terminals whose user wants them`() throws {
        let (_, directory, file) = try configured()
        defer { withExtendedLifetime(directory) {} }
        let command = ["check", "-c", file]
        #expect(try !BearerdProcess.command("check", "-c", file).output.contains("\u{1B}"))
        #expect(try TerminalProgram(command).shows("PATH").contains("\u{1B}[32mok\u{1B}[0m"))
        for variable in ["NO_COLOR=1", "TERM=dumb"] {
            #expect(
                try !TerminalProgram(command, environment: [variable]).shows("PATH").contains("\u{1B}"),
                "\(variable)")
        }
        #expect(try TerminalProgram(command, environment: ["NO_COLOR="]).shows("PATH").contains("\u{1B}[32m"))
    }

    @Test func `an empty configuration is an error`() throws {
        let directory = try TemporaryDirectory()
        #expect(try BearerdProcess.command("check", "-c", directory.write("c.yaml", "")).exit == 78)
    }

    @Test func `environment variables go into values, after parsing`() throws {
        let (_, directory, _) = try configured()
        let provider = try HostileProvider()
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "x", directory: directory
        ).replacing("client_id: legacy-app", with: "client_id: \"${TEST_ID}-$${X}\"")
        let file = try directory.write("c.yaml", text)
        let result = try BearerdProcess.command("token", "-c", file, environment: ["TEST_ID": "a: [b"])
        #expect(result.exit == 0)
        #expect(formDecoded(provider.requests.first?.basicCredentials?.name ?? "") == "a: [b-${X}")
    }

    @Test func `a port in use is 69`() throws {
        let (holder, address) = try Socket.listening()
        let (_, directory, file) = try configured(.init(listen: "\(address)"))
        defer { withExtendedLifetime(directory) {} }
        let result = try BearerdProcess.command("run", "-c", file)
        #expect(
            result.exit == 69 && result.errors.contains("cannot listen on \(address) (listen): "), "\(result)"
        )
        #expect(result.errors.contains("(pid \(getpid()), "), "\(result.errors)")
        #expect(result.errors.hasSuffix("): stop it, or give listen another port\n"), "\(result.errors)")
        _ = holder
    }

    @Test func `secret files must not be writable by others`() throws {
        let (_, directory, file) = try configured()
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        for (mode, exit) in [(0o600, Int32(0)), (0o644, 0), (0o620, 78), (0o602, 78)] {
            let secret = try directory.write("client_secret", "s", mode: UInt32(mode))
            let configuration = text.replacing(#/client_secret: \S+/#, with: "client_secret_file: \(secret)")
            let result = try BearerdProcess.command("check", "-c", directory.write("c.yaml", configuration))
            #expect(result.exit == exit, "\(mode)")
            if mode == 0o644 { #expect((result.errors + result.output).contains("warning")) }
        }
    }

    @Test func `token prints a fresh token alone, without a daemon and with one`() throws {
        let (provider, directory, file) = try configured()
        let first = try BearerdProcess.command("token", "-c", file)
        #expect(first.exit == 0 && first.output == (provider.accessTokens.last ?? "") + "\n")
        let header = try BearerdProcess.command("token", "--header", "default", "-c", file)
        #expect(header.output == "Authorization: Bearer \(provider.accessTokens.last ?? "")\n")
        let proved = try BearerdProcess.command(
            "token", "--header", "--dpop", "GET", "http://api.example/", "-c", file)
        #expect(proved.exit == 0 && proved.output == header.output && proved.errors.contains("no DPoP line"))
        #expect(provider.requests.count == 1, "the stored token is fresh")
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        #expect(try BearerdProcess.command("token", "-c", file).output == first.output)
        #expect(provider.requests.count == 1)
        #expect(LeakScan.leaks(of: provider.handedOut, in: bearerd.log + first.errors).isEmpty)
        _ = directory
    }

    @Test func `an unknown identity is 64, a provider out of reach 69`() throws {
        let (provider, directory, file) = try configured()
        defer { withExtendedLifetime(directory) {} }
        for command in ["token", "refresh"] {
            let result = try BearerdProcess.command(command, "nobody", "-c", file)
            #expect(result.exit == 64 && result.errors.contains("nobody"), "\(command)")
        }
        provider.stop()
        let result = try BearerdProcess.command("token", "-c", file)
        #expect(result.exit == 69 && result.output.isEmpty)
    }

    @Test func `refresh without a daemon changes the store, and a running daemon uses it`()
        throws
    {
        let upstream = try RawUpstream()
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider, upstream: upstream)
        #expect(try sidecar.get().status == 200)
        let file = sidecar.directory.path("config.yaml")
        let result = try BearerdProcess.command("refresh", "-c", file)
        #expect(result.exit == 0 && provider.requests.count == 2, "\(result.errors)")
        try eventually("the newer token") {
            try sidecar.get().status == 200 && upstream.tokens.last == provider.accessTokens.last
        }
        #expect(LeakScan.leaks(of: provider.handedOut, in: result.output + result.errors).isEmpty)
    }

    @Test func `with a memory store refresh acts through the daemon, and without one is 77`() throws {
        let directory = try TemporaryDirectory()
        let provider = try HostileProvider()
        let (holder, address) = try Socket.refusing()
        _ = holder
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory,
            .init(store: "type: memory")
        ).asking(address)
        let file = try directory.write("config.yaml", text)
        for command in ["refresh", "token"] {
            #expect(try BearerdProcess.command(command, "-c", file).exit == 77, "\(command)")
        }
    }

    @Test func `status lists the routes that fail, and why`() throws {
        let (holder, refusing) = try Socket.refusing()
        let sidecar = try Sidecar(
            .init(moreRoutes: "- {path: /down, upstream: \"http://\(refusing)\", identity: none}"))
        try sidecar.awaitToken()
        for _ in 0..<3 { #expect(try sidecar.get("/down").status == 502) }
        let file = try sidecar.directory.write(
            "asked.yaml",
            "admin: {listen: \"\(try sidecar.bearerd.admin)\"}\nroutes: [{upstream: https://a.example, identity: none}]\n"
        )
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(
            status.exit == 0 && status.output.contains("routes that fail:\n  /down  http://\(refusing)  "),
            "\(status)")
        _ = holder
    }

    @Test func `status shows the identities, as JSON on request, with a daemon and without`() throws {
        let (provider, directory, file) = try configured()
        defer { withExtendedLifetime(directory) {} }
        #expect(try BearerdProcess.command("token", "-c", file).exit == 0)
        let text = try BearerdProcess.command("status", "-c", file)
        #expect(text.exit == 0 && text.output.contains("default") && text.output.contains("authorized"))
        #expect(
            text.output.hasPrefix("not asked: ")
                && text.output.contains("what follows is what the store holds\n"))
        #expect(text.output.contains("in 4 min") && text.output.contains(" s ago"), "\(text.output)")
        let json = try #require(
            TestJSON(parsing: BearerdProcess.command("status", "--json", "-c", file).output))
        let identity = json["identities"][0]
        #expect(identity["name"].string == "default" && identity["state"].string == "authorized")
        #expect(json["running"] == .bool(false) && json["pid"] == .null)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file])
        let asked = try directory.fileAsking(bearerd.admin)
        try eventually("the daemon to have taken the session") {
            try BearerdProcess.command("status", "-c", asked).output.contains("authorized")
        }
        let lines = try BearerdProcess.command("status", "-c", asked).output
        #expect(
            lines.hasPrefix("running: bearerd ") && lines.contains("pid \(bearerd.process.processID), up "),
            "\(lines)")
        let running = try BearerdProcess.command("status", "--json", "-c", asked)
        let document = TestJSON(parsing: running.output)
        #expect(document?["identities"][0]["state"].string == "authorized")
        #expect(document?["running"] == .bool(true) && document?["started_at"].string?.hasSuffix("Z") == true)
        #expect(document?["pid"].number == Double(bearerd.process.processID))
        #expect(LeakScan.leaks(of: provider.handedOut, in: text.output + running.output).isEmpty)
        _ = bearerd
    }
}
