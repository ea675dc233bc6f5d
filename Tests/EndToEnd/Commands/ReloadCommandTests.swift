// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `bearerd reload`.
@Suite(.blocking) struct `The reload command` {
    /// A daemon, and its file with the content, by which a command finds it.
    private func site() throws -> (sidecar: Sidecar, asked: String, right: String) {
        let sidecar = try Sidecar(.init(adminListen: "\(try Socket.refusing().address)"))
        try sidecar.awaitToken()
        let file = sidecar.directory.path("config.yaml")
        return (sidecar, file, String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self))
    }

    @Test func `leaves a daemon alone that runs by another file, and names both`() throws {
        let (sidecar, asked, right) = try site()
        let reloads = try sidecar.metrics()
        for text in [right + "\nlog: {level: debug}\n", right + "\nnonsense: 1\n"] {
            let other = try sidecar.directory.write("other.yaml", text)
            let result = try BearerdProcess.command("reload", "-c", other)
            #expect(result.exit == 78 && result.output.isEmpty, "\(result)")
            #expect(
                result.errors.contains("runs by \(asked), not by \(other);"), "\(result.errors)")
            let status = try BearerdProcess.command("status", "-c", other)
            #expect(
                status.exit == 0
                    && status.output.contains("another file: this daemon runs by \(asked), not by \(other)\n"),
                "\(status)")
            let doctor = try BearerdProcess.command("doctor", "--check", "daemon", "-c", other)
            #expect(doctor.output.contains("runs by \(asked), not by \(other)"), "\(doctor)")
        }
        let name = #"bearerd_config_reloads_total{result="success"}"#
        #expect(try sidecar.metrics().series[name] == reloads.series[name])
        #expect(try sidecar.admin("GET", "/api/status").json["configuration_file"].string == asked)
        #expect(try !BearerdProcess.command("status", "-c", asked).output.contains("another file"))
        // Whatever leads to the same file names the same configuration.
        let link = sidecar.directory.path("link.yaml")
        symlink(asked, link)
        let linked = try BearerdProcess.command("reload", "-c", link)
        #expect(linked.exit == 0 && linked.output == "the configuration is in force\n", "\(linked)")
    }

    @Test func `finds an identity missing that the file names, and that is not in force yet`() throws {
        let (sidecar, asked, right) = try site()
        try sidecar.directory.write(
            "config.yaml",
            right.replacing("  default:\n", with: "  elsewhere:\n").replacing(
                "identity: default", with: "identity: elsewhere"
            ).replacing(
                "type: file\n  directory: \(sidecar.storeDirectory)", with: "type: memory"))
        let result = try BearerdProcess.command("refresh", "elsewhere", "-c", asked)
        #expect(result.exit == 69 && result.errors.contains("has no identity 'elsewhere'"), "\(result)")
    }

    @Test func `has the daemon take its file over`() throws {
        let (sidecar, asked, right) = try site()
        try sidecar.directory.write(
            "config.yaml",
            right.replacing(
                "store:", with: "  - {path: /new, upstream: \(sidecar.upstream.url), identity: none}\nstore:")
        )
        let result = try BearerdProcess.command("reload", "-c", asked)
        #expect(result.exit == 0 && result.output == "the configuration is in force\n", "\(result)")
        #expect(try sidecar.admin("GET", "/api/status").json["routes"].array.count == 2)
    }

    @Test func `brings another admin key, and needs neither on loopback`() throws {
        let sidecar = try Sidecar(
            .init(
                adminListen: "\(try Socket.refusing().address)", admin: "key: fake-first-key-0123456789"))
        let asked = sidecar.directory.path("config.yaml")
        let text = String(decoding: TemporaryDirectory.contents(of: asked), as: UTF8.self)
            .replacing("fake-first", with: "fake-second")
        try sidecar.directory.write("config.yaml", text)
        let result = try BearerdProcess.command("reload", "-c", asked)
        #expect(result.exit == 0, "\(result)")
        func status(_ key: String) throws -> Int {
            try sidecar.admin("GET", "/api/status", [("Authorization", "Bearer fake-\(key)-key-0123456789")])
                .status
        }
        #expect(try status("second") == 200)
        #expect(try status("first") == 403)
    }

    @Test func `is 78 with each error of a refused file, and the daemon goes on`() throws {
        let (sidecar, asked, right) = try site()
        let file = try sidecar.directory.write(
            "config.yaml",
            right.replacing("grant_type:", with: "grnat_type:") + "\nlimits: {body_bytes: much}\n")
        let result = try BearerdProcess.command("reload", "-c", asked)
        #expect(result.exit == 78 && result.output.isEmpty)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 3, "\(result.errors)")
        #expect(
            lines[0].hasPrefix("\(file):")
                && lines[0].contains("error: identities.default.grnat_type: unknown key"))
        #expect(lines[1].contains("error: limits.body_bytes: "))
        #expect(lines[2] == "bearerd: reload: refused; the old configuration is in force")
        #expect(try sidecar.get().status == 200)
    }

    @Test func `is 78 where only a restart would do, and names the keys`() throws {
        let (sidecar, asked, right) = try site()
        try sidecar.directory.write("config.yaml", right + "\nworkers: 3\n")
        let result = try BearerdProcess.command("reload", "-c", asked)
        #expect(result.exit == 78 && result.errors.contains("workers"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func `takes no stranger's answer for the daemon's, and waits for no daemon that stands still`()
        throws
    {
        let (sidecar, asked, right) = try site()
        let stranger = try RawUpstream { _ in .response(200, [], "hello") }
        let elsewhere = try sidecar.directory.write(
            "elsewhere.yaml",
            right.replacing(
                "admin:\n  listen: \(try sidecar.bearerd.admin)",
                with: "admin:\n  listen: \(stranger.url.dropFirst("http://".count))"))
        for command in [["reload"], ["healthcheck"], ["healthcheck", "--ready"]] {
            let result = try BearerdProcess.command(command[0], "-c", elsewhere)
            #expect(result.exit == 69 && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains("is it another program?"), "\(result)")
        }
        for status in [
            try BearerdProcess.command("status", "-c", elsewhere),
            try BearerdProcess.command("status", "--json", "-c", elsewhere),
        ] {
            #expect(status.exit == 69 && status.output.isEmpty, "\(status)")
            #expect(
                status.errors.contains(
                    "at \(stranger.url) (admin.listen) tells no status; is it another program?"),
                "\(status)")
        }
        let others = try [(302, "http://127.0.0.1/"), (401, ""), (503, "")].map { status, location in
            try RawUpstream { _ in .response(status, location.isEmpty ? [] : [("Location", location)], "") }
        }
        for other in others {
            let file = try sidecar.directory.write(
                "other.yaml",
                right.replacing(
                    "listen: \(try sidecar.bearerd.admin)",
                    with: "listen: \(other.url.dropFirst("http://".count))"))
            for result in [
                try BearerdProcess.command("reload", "-c", file),
                try BearerdProcess.command("status", "-c", file),
                try BearerdProcess.command("healthcheck", "-c", file),
                try BearerdProcess.command("healthcheck", "--ready", "-c", file),
                try BearerdProcess.command("wait", "--timeout", "1s", "-c", file),
            ] {
                #expect(result.exit == 69, "\(result)")
                #expect(
                    result.errors.contains("what answers at \(other.url) (admin.listen) gives status "),
                    "\(result)")
                #expect(result.errors.contains("is it another program?"), "\(result)")
            }
        }
        sidecar.bearerd.process.signal(SIGSTOP)
        defer { sidecar.bearerd.process.signal(SIGCONT) }
        let start = ContinuousClock.now
        let result = try BearerdProcess.command("reload", "-c", asked)
        #expect(result.exit == 69 && result.errors.contains("stopped, or overloaded"), "\(result)")
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func `is 69 without a daemon, and sends SIGHUP to MAINPID where that is set`() throws {
        let (sidecar, _, right) = try site()
        let (holder, refusing) = try Socket.refusing()
        let nowhere = try sidecar.directory.write(
            "asked.yaml",
            right.replacing("listen: \(try sidecar.bearerd.admin)", with: "listen: \(refusing)"))
        let nobody = try BearerdProcess.command("reload", "-c", nowhere)
        #expect(
            nobody.exit == 69 && nobody.errors.contains("no daemon answers at http://\(refusing)"),
            "\(nobody)")
        let process = sidecar.bearerd.process.processID
        let told = try BearerdProcess.command("reload", "-c", nowhere, environment: ["MAINPID": "\(process)"])
        #expect(told.exit == 0 && told.output.hasPrefix("process \(process) got SIGHUP"), "\(told)")
        try sidecar.bearerd.logLine("the reload") { $0.message == "configuration reloaded" }
        for (value, status) in [("many", Int32(64)), ("0", 64), ("2147483647", 69)] {
            let result = try BearerdProcess.command("reload", "-c", nowhere, environment: ["MAINPID": value])
            #expect(result.exit == status, "\(value): \(result)")
        }
        _ = holder
    }
}
