// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Where the configuration is found, what its modes may be, and what `check` prints of it.
@Suite(.blocking) struct `The configuration file` {
    private static let text = """
        identities:
          default:
            issuer: https://sso.example.com
            client_id: app
            client_secret_file: secret
        routes: [{upstream: https://api.example.com, identity: default}]
        store: {directory: kept}
        """

    private func directory(holding name: String, _ text: String = text) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        var path = ""
        for part in name.split(separator: "/").dropLast() {
            path += "/\(part)"
            guard mkdir(directory.path(String(path.dropFirst())), 0o700) == 0 else { continue }
        }
        try directory.write(name, text)
        try directory.write("\(path.dropFirst())/secret", "s3cret")
        return directory
    }

    @Test func `is the working directory's, else the user's own, else the machine's`() throws {
        let here = try directory(holding: "config.yaml")
        let home = try directory(holding: ".config/bearerd/config.yaml")
        let own = try directory(holding: "bearerd/config.yaml")
        let nowhere = try TemporaryDirectory()
        let both = ["HOME": home.path, "XDG_CONFIG_HOME": own.path]
        for (environment, directory, found) in [
            (both, here, "config.yaml"), (both, nowhere, own.path("bearerd/config.yaml")),
            (["HOME": home.path], nowhere, home.path(".config/bearerd/config.yaml")),
            (
                ["HOME": home.path, "XDG_CONFIG_HOME": "relative"], nowhere,
                home.path(".config/bearerd/config.yaml")
            ),
        ] {
            let result = try BearerdProcess.command(
                "check", environment: environment, directory: directory.path)
            #expect(result.exit == 0 && result.output.hasPrefix("\(found): ok\n"), "\(result)")
        }
        let none = try BearerdProcess.command(
            "check", environment: ["HOME": nowhere.path, "XDG_CONFIG_HOME": ""], directory: nowhere.path)
        #expect(none.exit == 78 && none.errors.split(separator: "\n").count == 1)
        for place in [
            "config.yaml", "\(nowhere.path)/.config/bearerd/config.yaml", "/etc/bearerd/config.yaml",
        ] {
            #expect(none.errors.contains(place), "\(none.errors)")
        }
    }

    @Test func `has its relative paths beside it, wherever it is read from`() throws {
        let directory = try directory(holding: "etc/app/config.yaml")
        for (path, working) in [
            ("etc/app/config.yaml", directory.path), ("./config.yaml", directory.path("etc/app")),
            ("../app/config.yaml", directory.path("etc/app")), (directory.path("etc/app/config.yaml"), "/"),
        ] {
            let result = try BearerdProcess.command("check", "-c", path, directory: working)
            #expect(result.exit == 0, "\(result.errors)")
            #expect(result.output.contains("app/kept\n"), "\(result.output)")
        }
    }

    @Test func `is refused if others may write to it, by every command`() throws {
        let directory = try directory(holding: "config.yaml")
        let file = directory.path("config.yaml")
        #expect(chmod(file, 0o664) == 0)
        for command in ["check", "run", "token", "status"] {
            let result = try BearerdProcess.command(command, "-c", file)
            #expect(result.exit == 78, "\(command)")
            #expect(
                result.errors.contains("\(file):1:1: error: ") && result.errors.contains("chmod go-w"),
                "\(command) \(result.errors)")
        }
    }

    @Test func `is printed by check without anything that a terminal obeys`() throws {
        let odd = "/x\nadmin   none\u{1B}[2J\u{9B}31m\r\u{7F}"
        let directory = try directory(
            holding: "config.yaml", Self.text.replacing("store: {directory: kept}", with: ""))
        let result = try BearerdProcess.command(
            "check", "-c", directory.path("config.yaml"), environment: ["STATE_DIRECTORY": odd])
        #expect(result.exit == 0, "\(result.errors)")
        #expect(
            result.output.contains(#"store   /x\nadmin   none\u001b[2J\u009b31m\r\u007f"#), "\(result.output)"
        )
        #expect(result.output.split(separator: "\n").filter { $0.hasPrefix("admin") }.count == 1)
    }

    @Test func `with a value of many lines has problems of one line each`() throws {
        let directory = try directory(
            holding: "config.yaml", Self.text + "\nlog: {level: \"${LEVEL}\"}\n\"li\\nsten\\e[1m\": 1\n")
        let result = try BearerdProcess.command(
            "check", "-c", directory.path("config.yaml"), environment: ["LEVEL": "a\nb"])
        let lines = result.errors.split(separator: "\n")
        #expect(result.exit == 78 && lines.count == 2, "\(result.errors)")
        #expect(lines.allSatisfy { $0.hasPrefix(directory.path("config.yaml")) })
        #expect(!result.errors.contains("\u{1B}"))
        let unknown = try BearerdProcess.command("no\nsuch\u{1B}[1m")
        #expect(unknown.exit == 64 && unknown.errors.split(separator: "\n").count == 1)
        #expect(!unknown.errors.contains("\u{1B}"))
    }

    @Test func `with a tab in its indentation says so, and where`() throws {
        let directory = try directory(
            holding: "config.yaml", "identities:\n  default:\n\t\tissuer: https://sso.example.com\n")
        let file = directory.path("config.yaml")
        let result = try BearerdProcess.command("check", "-c", file)
        #expect(result.exit == 78)
        #expect(
            result.errors == "\(file):3:1: error: a tab in the indentation; YAML is indented with spaces\n")
    }

    @Test func `may be a pipe, which is read once`() throws {
        let sidecar = try Sidecar(
            launcher: ["/bin/bash", "-c", #"exec "$1" "$2" "$3" <(cat "$4")"#, "bash"])
        #expect(try sidecar.get("/").status == 200)
        let answer = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 409 && answer.problem == "no_file", "\(answer.text)")
        #expect(try sidecar.get("/").status == 200)
    }

    @Test func `is not needed for help and version`() throws {
        for words in [["-V"], ["--version"], ["version"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(result.ending == .exited(0) && result.output.hasPrefix("bearerd "), "\(words)")
        }
        for words in [["help"], ["-h"], ["help", "--help"], ["version", "-h"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(
                result.ending == .exited(0) && result.output.contains("usage: bearerd COMMAND"), "\(words)")
        }
        let login = try Subprocess.run([BearerdProcess.binary, "help", "login"])
        #expect(login.ending == .exited(0) && login.output.contains("--no-browser"))
        for words in [["help", "frobnicate"], ["help", "login", "more"], ["version", "more"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(result.ending == .exited(64), "\(words)")
        }
    }
}
