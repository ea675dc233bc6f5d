// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A daemon serves on by the configuration it has read, so commands that ask it need no more of the file than where.
@Suite(.blocking) struct `A file that was broken while the daemon runs` {
    /// A running daemon, and a file by which commands find it.
    private func site() throws -> (sidecar: Sidecar, text: String) {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let text = try Sidecar.configuration(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: "fake",
            directory: sidecar.directory
        ).asking(sidecar.bearerd.admin)
        return (sidecar, text)
    }

    @Test(arguments: [
        ("grant_type:", "grnat_type:"), ("routes:", "routes: ["), ("routes:", "\troutes:"),
        ("store:", "store: 'x"),
        ("client_secret: fake", "client_secret_file: /nonexistent/secret"),
    ])
    func `costs a warning and nothing else`(found: String, broken: String) throws {
        let (sidecar, text) = try site()
        let file = try sidecar.directory.write("asked.yaml", text.replacing(found, with: broken))
        #expect(try BearerdProcess.command("check", "-c", file).exit == 78)
        for arguments in [
            ["healthcheck"], ["healthcheck", "--ready"], ["wait"], ["wait", "--ready"], ["status"],
        ] {
            let result = try Subprocess.run([BearerdProcess.binary] + arguments + ["-c", file])
            #expect(result.ending == .exited(0), "\(arguments): \(result.errors)")
            #expect(result.errors.hasPrefix("bearerd: warning: a reload or a restart would refuse \(file):"))
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        let json = try BearerdProcess.command("status", "--json", "-c", file)
        #expect(json.exit == 0 && TestJSON(parsing: json.output)?["running"] == .bool(true))
    }

    @Test func `is 78 where it leaves open where the daemon listens, or no daemon runs`() throws {
        let (sidecar, text) = try site()
        let file = try sidecar.directory.write(
            "asked.yaml", text.replacing("admin:\n  listen:", with: "admin:\n  lisen:"))
        for command in ["healthcheck", "wait", "status", "reload"] {
            let result = try BearerdProcess.command(command, "-c", file)
            #expect(result.exit == 78 && result.output.isEmpty, "\(command): \(result)")
            #expect(result.errors.contains("did you mean 'listen'?"), "\(result.errors)")
            #expect(result.errors.contains("leaves open where the daemon's admin listener is"))
        }
        let (holder, refusing) = try Socket.refusing()
        let nowhere = try sidecar.directory.write(
            "nowhere.yaml",
            text.replacing("\(try sidecar.bearerd.admin)", with: "\(refusing)").replacing(
                "routes:", with: "ruotes:"))
        #expect(try BearerdProcess.command("status", "-c", nowhere).exit == 78)
        #expect(try BearerdProcess.command("healthcheck", "-c", nowhere).exit == 69)
        _ = holder
    }

    @Test func `is told by status and page once a reload has refused it, until one succeeds`() throws {
        let (sidecar, text) = try site()
        let asked = try sidecar.directory.write("asked.yaml", text)
        let file = sidecar.directory.path("config.yaml")
        let right = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        try sidecar.directory.write("config.yaml", right.replacing("grant_type:", with: "grnat_type:"))
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 422)

        let refusal = try sidecar.admin("GET", "/api/status").json["refused_reload"]
        #expect(refusal["errors"][0]["key"].string == "identities.default.grnat_type", "\(refusal)")
        #expect(refusal["at"].string?.hasSuffix("Z") == true && refusal["errors"][0]["line"].number ?? 0 > 1)
        let status = try BearerdProcess.command("status", "-c", asked)
        #expect(status.output.contains("reload refused"), "\(status.output)")
        #expect(status.output.contains("the old configuration is in force"))
        #expect(
            status.output.contains("identities.default.grnat_type: unknown key; did you mean 'grant_type'?"))
        let page = try sidecar.admin("GET", "/").text
        #expect(
            page.contains("<strong>Reload refused</strong>") && page.contains("identities.default.grnat_type")
        )
        #expect(!page.contains("All is well."))

        try sidecar.directory.write("config.yaml", right)
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        #expect(try sidecar.admin("GET", "/api/status").json["refused_reload"] == .null)
        #expect(try !sidecar.admin("GET", "/").text.contains("Reload refused"))
        #expect(try !BearerdProcess.command("status", "-c", asked).output.contains("refused"))
    }

    @Test func `is named by BEARERD_CONFIG, unless that is empty or an option names another`() throws {
        let directory = try TemporaryDirectory()
        let text = "routes: [{upstream: https://api.example.com, identity: none}]\n"
        let named = try directory.write("named.yaml", text)
        let other = try directory.write("other.yaml", text)
        let here = try TemporaryDirectory()
        try here.write("config.yaml", text)
        for (value, arguments, found) in [
            (named, ["check"], named), (named, ["check", "-c", other], other), ("", ["check"], "config.yaml"),
        ] {
            let result = try Subprocess.run(
                [BearerdProcess.binary] + arguments, environment: ["BEARERD_CONFIG": value],
                directory: here.path)
            #expect(result.ending == .exited(0) && result.output.hasPrefix("\(found): ok\n"), "\(result)")
        }
        let absent = try BearerdProcess.command(
            "check", environment: ["BEARERD_CONFIG": "/nonexistent/c.yaml"], directory: here.path)
        #expect(absent.exit == 78 && absent.errors.contains("/nonexistent/c.yaml"))
    }
}
