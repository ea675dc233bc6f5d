// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What a running daemon says of itself comes first, and counts more than what its files look like.
@Suite(.blocking) struct `Doctor asks a running daemon` {
    /// A fixture whose daemon runs, and listens where the file says.
    private func running(
        _ change: (inout DoctorFixture) throws -> Void = { _ in }
    ) throws -> (fixture: DoctorFixture, daemon: BearerdProcess) {
        var fixture = try DoctorFixture()
        fixture.admin = "\(try Socket.refusing().address)"
        try change(&fixture)
        let daemon = try BearerdProcess(arguments: ["run", "-c", fixture.file()])
        _ = try daemon.admin
        return (fixture, daemon)
    }

    private func text(_ fixture: DoctorFixture) throws -> (exit: Int32, output: String, errors: String) {
        try BearerdProcess.command("doctor", "-c", fixture.directory.path("config.yaml"))
    }

    @Test func `and fails where that is misconfigured, whatever the store holds`() throws {
        let (fixture, daemon) = try running { $0.provider.setPolicy { $0.clientSecret = "another" } }
        try daemon.logLine("the refusal") {
            $0.message.contains("misconfigured") || $0["state"] == "misconfigured"
        }
        let result = try fixture.run()
        let rows = result.checks.filter { $0["id"].string == "daemon" }
        #expect(result.exit == 69 && rows.count == 2, "\(result)")
        #expect(
            rows[0]["identity"] == .null
                && rows[0]["seen"].string?.contains("pid \(daemon.process.processID)") == true)
        #expect(rows[1]["identity"].string == "default" && rows[1]["result"].string == "fail")
        #expect(rows[1]["seen"].string?.hasPrefix("misconfigured: ") == true, "\(result)")
        #expect(rows[1]["fix"].string == "identities.default.client_secret", "\(result)")
        #expect(result.seen(by: "token") == "the same as daemon above", "\(result)")
        let said = try text(fixture)
        #expect(said.output.hasPrefix("daemon\nok    daemon "), "\(said)")
        #expect(said.output.hasSuffix("next: look at identities.default.client_secret\n"), "\(said)")
    }

    @Test func `and only warns of an identity that no route uses`() throws {
        let (holder, nobody) = try Socket.refusing()
        let (fixture, daemon) = try running {
            $0.settings.moreIdentities = """
                unused: {issuer: "http://\(nobody)", client_id: a, client_secret: b, grant_type: client_credentials}
                """
        }
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        let result = try fixture.run()
        let rows = result.checks.filter { $0["identity"].string == "unused" }
        #expect(result.exit == 0 && result.isSuccess, "\(result)")
        let tls = try #require(rows.first { $0["id"].string == "tls" })
        #expect(tls["result"].string == "warn", "\(result)")
        #expect(tls["seen"].string?.hasSuffix("(no route uses it)") == true, "\(result)")
        #expect(!rows.contains { $0["result"].string == "fail" })
        let asked = try fixture.run("unused")
        #expect(asked.exit == 69 && asked.result(of: "tls") == "fail", "\(asked)")

        fixture.provider.always { _, _ in .response(503, [], "away") }
        _ = try RawClient(to: daemon.admin).request(
            "POST", "/api/identities/default/invalidate", [("X-Bearerd-Admin", "1")], body: "")
        let said = try text(fixture)
        #expect(said.exit == 69, "\(said)")
        let step = said.output.split(separator: "\n").last ?? ""
        #expect(step.contains("next: ") && !step.contains("unused") && !step.contains("\(nobody)"), "\(said)")
        _ = holder
    }

    @Test func `about routes that fail, and about a reload that was refused`() throws {
        let nobody = try Socket.refusing()
        let (fixture, daemon) = try running {
            $0.settings.moreRoutes = "- {path: /down, upstream: 'http://\(nobody.address)', identity: none}"
        }
        for _ in 0..<3 { #expect(try RawClient(to: daemon.proxy).request("GET", "/down").status == 502) }
        let failing = try fixture.run("--check", "daemon")
        #expect(
            failing.exit == 69 && failing.output.contains("/down at http://\(nobody.address): "), "\(failing)"
        )
        let file = fixture.directory.path("config.yaml")
        let right = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        try fixture.directory.write("config.yaml", right.replacing("grant_type:", with: "grnat_type:"))
        #expect(
            try RawClient(to: daemon.admin).request("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status
                == 422)
        try fixture.directory.write("config.yaml", right)
        let refused = try fixture.run("--check", "daemon")
        #expect(refused.seen(by: "daemon").contains("the last reload was refused"), "\(refused)")
    }

    @Test func `and tells that it drains`() throws {
        let (fixture, daemon) = try running { $0.settings.top = "shutdown: {delay: 600s}" }
        daemon.process.signal(15)
        try eventually("the drain") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 503
        }
        let result = try fixture.run("--check", "daemon")
        #expect(
            result.exit == 0 && result.seen(by: "daemon").contains("drains: it was told to end"), "\(result)")
    }

    @Test func `and fails where a token lives that cannot be renewed`() throws {
        let (fixture, daemon) = try running()
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        fixture.provider.always { _, _ in .response(503, [], "away") }
        _ = try RawClient(to: daemon.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        let page = try RawClient(to: daemon.admin).request("GET", "/").text
        #expect(
            page.contains("Not renewed:</strong> the last try for default failed; its token lasts another"))
        #expect(!page.contains("All is well") && page.contains("<title>▲ bearerd"))
        let said = try text(fixture)
        #expect(said.exit == 69 && !said.output.contains("all is well"), "\(said)")
        #expect(
            said.output.contains("fail  default            authorized: ")
                && said.output.contains("the last renewal failed; the token lasts another"), "\(said)")
        #expect(said.output.contains("next: the provider"), "\(said)")
        let status = try BearerdProcess.command("status", "-c", fixture.directory.path("config.yaml"))
        #expect(status.output.contains("not renewed: default: the last renewal failed"), "\(status)")
    }

    @Test func `and fails where the store's directory is gone`() throws {
        let (fixture, daemon) = try running()
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        let store = fixture.directory.path("store")
        #expect(try fixture.run("--check", "store").result(of: "store") == "ok")
        rename(store, store + ".moved")
        let result = try fixture.run("--check", "store")
        #expect(result.exit == 69 && result.result(of: "store") == "fail", "\(result)")
        #expect(
            result.seen(by: "store").hasPrefix("\(store) is not there, although a daemon runs"), "\(result)")
        #expect(result.fix(of: "store").contains("mkdir -m 0700 \(store)"), "\(result)")
    }

    @Test func `and ends with what mends the upstream, not with a circle`() throws {
        let nobody = try Socket.refusing()
        let (fixture, daemon) = try running {
            $0.settings.moreRoutes = "- {path: /down, upstream: 'http://\(nobody.address)', identity: none}"
        }
        for _ in 0..<3 { #expect(try RawClient(to: daemon.proxy).request("GET", "/down").status == 502) }
        let said = try text(fixture)
        #expect(
            said.output.hasSuffix(
                "next: start what should listen at \(nobody.address), or mend the port in routes[1].upstream\n"
            ),
            "\(said)")
    }

    @Test func `and names the scope that an upstream asks for`() throws {
        let upstream = try RawUpstream { request in
            request["Authorization"] == nil
                ? .unauthorized
                : .response(
                    403,
                    [("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"orders:write\"")], "")
        }
        let (fixture, daemon) = try running {
            $0.settings.moreRoutes = "- {path: /api, upstream: '\(upstream.url)', identity: default}"
        }
        for _ in 0..<3 { #expect(try RawClient(to: daemon.proxy).request("GET", "/api").status == 403) }
        let said = try text(fixture)
        #expect(said.output.contains("asks for the scope orders:write"), "\(said)")
        let routes = try RawClient(to: daemon.admin).request("GET", "/api/status").json["routes"].array
        #expect(routes.last?["token_error"].string == "insufficient_scope", "\(routes)")
        // The client can do nothing about what the token lacks.
        #expect(routes.last?["answers"]["client"].number == 0, "\(routes)")
        #expect(routes.last?["answers"]["provider"].number == 3, "\(routes)")
        #expect(said.output.contains("next: scope of the route or its identity"), "\(said)")
    }

    @Test func `and is told by it although the file is broken`() throws {
        var (fixture, daemon) = try running()
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        for broken in ["lisen: 1", "lisen: [1"] {
            fixture.settings.top = broken
            let result = try fixture.run()
            #expect(result.exit == 78 && !result.isSuccess, "\(result)")
            let rows = result.checks.filter { $0["id"].string == "daemon" }
            #expect(rows.count == 2 && rows.allSatisfy { $0["result"].string == "ok" }, "\(result)")
            #expect(rows[1]["seen"].string?.hasPrefix("authorized, its token is good for ") == true)
            #expect(result.result(of: "config") == "fail")
            let rest = result.checks.filter { !["daemon", "config"].contains($0["id"].string) }
            #expect(rest.count == 20 && rest.allSatisfy { $0["result"].string == "skip" }, "\(result)")
            let said = try text(fixture)
            #expect(said.exit == 78 && said.output.contains("next: bearerd check -c "), "\(said)")
        }
        _ = daemon
    }

    @Test func `and says what comes next where all is well, with a daemon and without`() throws {
        let (fixture, daemon) = try running()
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        let with = try text(fixture)
        #expect(with.exit == 0 && with.output.contains("; next: nothing is to be done"), "\(with)")
        _ = try daemon.terminate()
        let without = try text(fixture)
        #expect(without.exit == 0 && without.output.contains("; next: bearerd run -c "), "\(without)")
        #expect(without.output.contains("none runs: nobody listens at \(fixture.admin)"))
    }

    @Test func `but tells what it knows before the slow answer of a provider`() throws {
        let silent = try RawServer { wire in while try wire.readRequest() != nil {} }
        var fixture = try DoctorFixture()
        fixture.settings.identity = "discovery_url: http://\(silent.address)/d\n"
        let doctor = try Subprocess([BearerdProcess.binary, "doctor", "-c", fixture.file()])
        let early = try doctor.output.wait(for: "the first lines") { capture in
            capture.text.contains("\nok    store ") ? capture.text : nil
        }
        #expect(!early.contains("discovery") && !early.contains("next:"), "\(early)")
        doctor.signal(SIGKILL)
        _ = try doctor.waitForEnd()
    }

    @Test func `and no refresh token that the provider refuses is there`() throws {
        let sidecar = try Sidecar.importing()
        sidecar.provider.always { _, _ in .oauthError("invalid_grant") }
        try sidecar.act("refresh")
        try eventually("the end of the session") { try sidecar.state() == "login_required" }
        _ = try sidecar.bearerd.terminate()
        let file = sidecar.directory.path("config.yaml")
        let result = try BearerdProcess.command("doctor", "--check", "refresh-token", "-c", file)
        #expect(result.exit == 69 && result.output.hasPrefix("fail  refresh-token"), "\(result)")
        #expect(
            result.output.contains(
                "there, but the provider refuses it (invalid_grant); mend: bearerd login default"))
    }

    @Test func `and who has a port that it needs`() throws {
        let (holder, taken) = try Socket.listening()
        var fixture = try DoctorFixture()
        fixture.settings.listen = "\(taken)"
        let result = try fixture.run("--check", "listen")
        #expect(result.exit == 69, "\(result)")
        #expect(
            result.seen(by: "listen").contains("\(taken) is taken by ")
                && result.seen(by: "listen").contains("pid \(getpid())"), "\(result)")
        #expect(result.fix(of: "listen") == "stop it, or give listen another port")
        _ = holder
    }

    @Test(arguments: ["listen", "admin"])
    func `and that it is to be restarted where it stands still`(check: String) throws {
        let (fixture, daemon) = try running { $0.settings.listen = "\(try Socket.refusing().address)" }
        daemon.process.signal(SIGSTOP)
        defer { daemon.process.signal(SIGCONT) }
        let result = try fixture.run("--check", check)
        #expect(result.exit == 69 && result.fix(of: check).hasPrefix("restart it"), "\(result)")
    }

    @Test func `and that it has the port itself`() throws {
        let (running, daemon) = try running { $0.settings.listen = "\(try Socket.refusing().address)" }
        let ours = try running.run("--check", "listen")
        #expect(
            ours.exit == 0
                && ours.seen(by: "listen").contains("is the running daemon's, for HTTP/1.1 and HTTP/2"),
            "\(ours)")
        _ = daemon
    }
}
