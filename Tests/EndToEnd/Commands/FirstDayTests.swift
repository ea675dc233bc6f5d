// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What the first message says to whom the first day goes wrong.
@Suite(.blocking) struct `A stranger's first message` {
    private func site(
        _ settings: Sidecar.Settings = .init()
    ) throws -> (
        directory: TemporaryDirectory, file: String
    ) {
        let directory = try TemporaryDirectory()
        return (directory, try Sidecar.file(provider: try HostileProvider(), directory: directory, settings))
    }

    private func run(
        _ words: [String], directory: String? = nil
    ) throws -> (exit: Int32, output: String, errors: String) {
        let result = try Subprocess.run([BearerdProcess.binary] + words, directory: directory)
        guard case .exited(let code) = result.ending else { throw WireError("\(words): \(result)") }
        return (code, result.output, result.errors)
    }

    /// Writes a configuration of a daemon that runs, with its `listen`, and with another `admin.listen`.
    ///
    /// - Returns: the file, and the words that name the daemon's process.
    private func changed(
        _ sidecar: Sidecar, listen: String, asking admin: Address
    ) throws -> (file: String, words: String) {
        let text = Sidecar.configuration(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: "fake",
            directory: sidecar.directory, .init(listen: listen)
        ).asking(admin)
        return (
            try sidecar.directory.write("changed.yaml", text),
            "bearerd (pid \(sidecar.bearerd.process.processID)"
        )
    }

    @Test func `says that a file is named by an option`() throws {
        let (directory, file) = try site()
        for words in [["check"], ["run"], ["status"], ["doctor"], ["token"]] {
            let result = try run(words + [file], directory: directory.path)
            #expect(result.exit == 64, "\(words): \(result)")
            #expect(
                result.errors.contains("a configuration file is named by -c \(file)"), "\(words): \(result)")
        }
        let empty = try TemporaryDirectory()
        let lost = try BearerdProcess.command(
            "doctor", "site.yaml", environment: ["HOME": empty.path, "XDG_CONFIG_HOME": empty.path],
            directory: empty.path)
        // The machine may have a configuration of its own.
        #expect(
            lost.exit == 64 && lost.errors.contains("a configuration file is named by -c site.yaml"),
            "\(lost)")
    }

    @Test func `says that the environment named the file, and what to do where there is none`() throws {
        let (directory, file) = try site()
        let broken = try directory.write("broken.yaml", "lisen: 1\n")
        for command in ["check", "run", "status", "healthcheck", "token"] {
            let absent = try BearerdProcess.command(
                command, environment: ["BEARERD_CONFIG": "/nonexistent/c.yaml"], directory: directory.path)
            #expect(absent.exit == 78, "\(command): \(absent)")
            #expect(
                absent.errors.contains(
                    "there is no /nonexistent/c.yaml; BEARERD_CONFIG names it: mend BEARERD_CONFIG, or let 'bearerd init' write it"
                ), "\(command): \(absent)")
        }
        let wrong = try BearerdProcess.command(
            "check", environment: ["BEARERD_CONFIG": broken], directory: directory.path)
        #expect(wrong.errors.hasSuffix("\(broken) cannot be used; BEARERD_CONFIG names it\n"), "\(wrong)")
        let option = try BearerdProcess.command(
            "check", "-c", "/nonexistent/c.yaml", environment: ["BEARERD_CONFIG": file])
        #expect(
            option.errors.contains("there is no /nonexistent/c.yaml: name another one with -c FILE")
                && !option.errors.contains("BEARERD_CONFIG"), "\(option)")
        #expect(option.errors.split(separator: "\n").count == 1, "\(option)")
    }

    @Test func `tells errors alone where that is asked for`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("c.yaml", "listen: 0.0.0.0:80\nunsafe_listen: true\nlisen: 1\n")
        let all = try BearerdProcess.command("check", "-c", file)
        #expect(all.exit == 78 && all.errors.contains(": warning: "), "\(all)")
        let brief = try BearerdProcess.command("check", "-c", file, "--quiet")
        #expect(brief.exit == 78 && brief.errors.contains(": error: "), "\(brief)")
        #expect(!brief.errors.contains(": warning: "), "\(brief)")
    }

    @Test func `says which identities there are, and who alone has a token in memory`() throws {
        let (directory, file) = try site(.init(store: "type: memory"))
        let unknown = try BearerdProcess.command("token", "nobody", "-c", file)
        #expect(
            unknown.exit == 64 && unknown.errors.contains("no identity 'nobody', there are default"),
            "\(unknown)")
        let token = try BearerdProcess.command("token", "-c", file)
        #expect(token.exit == 77 && token.output.isEmpty, "\(token)")
        #expect(
            token.errors.contains("only the daemon has the token")
                && token.errors.contains("store.type: file"),
            "\(token)")
        _ = directory
    }

    @Test func `names the command that tells why a provider is not reached`() throws {
        let (directory, file) = try site()
        let (holder, nobody) = try Socket.refusing()
        defer { withExtendedLifetime(holder) {} }
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let issuer = try #require(text.firstMatch(of: #/issuer: (\S+)/#)).output.1
        try directory.write("config.yaml", text.replacing(issuer, with: "http://\(nobody)"))
        let token = try BearerdProcess.command("token", "-c", file)
        #expect(
            token.exit == 69 && token.errors.hasSuffix("; 'bearerd doctor default' looks closer\n"),
            "\(token)")
    }

    @Test func `names the key of a store that cannot be made`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("taken", "a file\n")
        let (place, file) = try site(.init(store: "type: file\ndirectory: \(directory.path("taken/store"))"))
        defer { withExtendedLifetime(place) {} }
        for command in ["run", "token"] {
            let result = try BearerdProcess.command(command, "-c", file)
            #expect(
                result.exit != 0 && result.errors.contains("store.directory: mkdir "), "\(command): \(result)"
            )
            #expect(result.errors.contains("name another directory"), "\(command): \(result)")
        }
    }

    @Test func `tells of sessions that the mode of their directory hides`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        try sidecar.bearerd.kill()
        let (store, file) = (sidecar.storeDirectory, sidecar.directory.path("config.yaml"))
        chmod(store, 0o755)
        let words = "the sessions in \(store) (store.directory) are not used: it has mode 0755"
        for command in ["status", "token"] {
            let result = try BearerdProcess.command(command, "-c", file)
            #expect(result.exit == 0 && result.errors.contains(words), "\(command): \(result)")
        }
        let again = try BearerdProcess(arguments: ["run", "-c", file])
        let line = try again.logLine("a warning") { $0.message == "there are sessions that are not used" }
        #expect(line["reason"]?.contains("'bearerd doctor --check store' tells what to do") == true)
        try again.kill()
        chmod(store, 0o700)
        let well = try BearerdProcess.command("token", "-c", file)
        #expect(well.exit == 0 && well.errors.isEmpty, "\(well)")
    }

    @Test func `finds the daemon whose admin listener the file no longer names`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let (proxy, admin) = (try sidecar.bearerd.proxy, try sidecar.bearerd.admin)
        let (holder, nobody) = try Socket.refusing()
        defer { withExtendedLifetime(holder) {} }
        let (file, words) = try changed(sidecar, listen: "\(proxy)", asking: nobody)
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(
            status.exit == 0 && status.output.hasPrefix("not found: nobody listens at \(nobody)"), "\(status)"
        )
        #expect(
            status.output.contains(words) && status.output.contains("perhaps \(admin)")
                && status.output.contains("or change admin.listen back"), "\(status)")
        for command in [["healthcheck"], ["reload"], ["wait", "--timeout", "1ms"]] {
            let result = try run(command + ["-c", file])
            #expect(result.exit == 69, "\(command): \(result)")
            guard command[0] != "wait" else { continue }
            #expect(
                result.errors.contains(words) && result.errors.contains("runs by another admin.listen"),
                "\(command): \(result)")
        }
        let doctor = try BearerdProcess.command("doctor", "--check", "daemon", "-c", file)
        #expect(doctor.exit == 69 && doctor.output.contains("runs by another admin.listen"), "\(doctor)")
    }

    @Test func `finds the daemon of a Unix socket, and says who has one`() throws {
        let directory = try TemporaryDirectory()
        let socket = directory.path("socket")
        let sidecar = try Sidecar(.init(listen: "unix:\(socket)"))
        try sidecar.awaitToken()
        let (holder, nobody) = try Socket.refusing()
        defer { withExtendedLifetime(holder) {} }
        let (file, words) = try changed(sidecar, listen: "unix:\(socket)", asking: nobody)
        let result = try BearerdProcess.command("healthcheck", "-c", file)
        #expect(
            result.exit == 69 && result.errors.contains("\(words)")
                && result.errors.contains("has unix:\(socket) (listen), and runs by another admin.listen"),
            "\(result)")
        let second = try BearerdProcess.command("run", "-c", file)
        #expect(second.exit == 69 && second.errors.contains(": \(words)"), "\(second)")
        #expect(second.errors.contains("listens there; stop it, or give listen another path"), "\(second)")
        let path = try directory.write("no-socket", "kept")
        let third = try changed(sidecar, listen: "unix:\(path)", asking: nobody).0
        let refused = try BearerdProcess.command("run", "-c", third)
        #expect(refused.exit == 69, "\(refused)")
        #expect(
            refused.errors.contains("is there that is no socket; remove it, or give listen another path"),
            "\(refused)")
        #expect(String(decoding: TemporaryDirectory.contents(of: path), as: UTF8.self) == "kept")
    }

    @Test func `has doctor say that a redirect comes to where programs send their requests`() throws {
        let sidecar = try Sidecar()
        let (proxy, admin) = (try sidecar.bearerd.proxy, try sidecar.bearerd.admin)
        let text = Sidecar.configuration(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: "fake",
            directory: sidecar.directory,
            .init(
                identity: "redirect_uri: http://\(proxy)/callback", listen: "\(proxy)",
                grant: "authorization_code")
        ).asking(admin)
        let file = try sidecar.directory.write("redirect.yaml", text)
        let doctor = try BearerdProcess.command("doctor", "--check", "redirect-uri", "-c", file)
        #expect(
            doctor.exit == 69
                && doctor.output.contains(
                    "\(proxy) is listen's own, so nobody can log in while the daemon runs"),
            "\(doctor)")
        let login = try BearerdProcess.command("login", "--no-browser", "-c", file)
        #expect(
            login.exit == 69
                && login.errors.contains(
                    "; 'bearerd doctor default --check redirect-uri' tells who is there"),
            "\(login)")
    }

    @Test func `says whose session an import replaces, unless it is the same`() throws {
        let directory = try TemporaryDirectory()
        let file = try Sidecar.file(
            provider: try HostileProvider(), directory: directory, .init(grant: "refresh_token"))
        let one = try directory.write("one", "fake-refresh-token-1\n")
        let two = try directory.write("two", "fake-refresh-token-2\n")
        let word = "default: this replaces the session that is there\n"
        for (token, isTold) in [(one, false), (one, false), (two, true)] {
            let result = try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
            #expect(result.exit == 0 && (result.errors == word) == isTold, "\(result)")
        }
    }

    @Test func `says whose session a login replaces`() throws {
        let site = try LoginSite()
        try site.begin()
        let again = try site.start("login", "web", "--no-browser")
        _ = try site.firstLine(of: again)
        _ = try again.errors.wait(for: "the word") { capture in
            capture.text.contains("web: this replaces the session that is there\n") ? true : nil
        }
    }
}
