// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `bearerd init`.
@Suite(.blocking) struct `The first configuration` {
    private let provider: HostileProvider
    private let upstream: RawUpstream
    private let directory: TemporaryDirectory

    init() throws {
        provider = try HostileProvider()
        upstream = try RawUpstream()
        directory = try TemporaryDirectory()
        provider.serve("GET", "/jwks") { _ in .json(#"{"keys":[{"kty":"RSA"}]}"#) }
        try directory.write("client_secret", "not-a-real-secret\n")
    }

    private var options: [String] {
        [
            "--upstream", upstream.url, "--issuer", provider.issuer, "--client-id", "legacy-app",
            "--client-secret-file", "client_secret", "--listen", "127.0.0.1:0",
        ]
    }

    private func run(
        _ words: [String], launcher: [String] = []
    ) throws -> (
        ending: Subprocess.Termination, output: String, errors: String
    ) {
        let result = try Subprocess.run(
            launcher + [BearerdProcess.binary, "init"] + words, directory: directory.path)
        return (result.ending, result.output, result.errors)
    }

    /// Runs the command on a terminal, where somebody types `answers`, whose ends of lines are written as `\n`.
    private func onTerminal(
        answering answers: String
    ) throws -> (ending: Subprocess.Termination, output: String, errors: String) {
        try Subprocess.run(
            [
                "/bin/sh", "-c",
                "printf '\(answers)' | TERM=xterm script -qefc 'exec \(BearerdProcess.binary) init --listen 127.0.0.1:0' /dev/null",
            ], directory: directory.path)
    }

    private var text: String {
        String(decoding: TemporaryDirectory.contents(of: directory.path("config.yaml")), as: UTF8.self)
    }

    @Test func `is written with comments for its owner alone, checked, looked at, and serves`() throws {
        let result = try run(options)
        let file = directory.path("config.yaml")
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(text.split(separator: "\n").count <= 17 && text.contains("# where programs send plain HTTP"))
        #expect(result.output.hasPrefix("wrote config.yaml\n"), "\(result)")
        #expect(result.output.contains("config.yaml: ok") && result.output.contains("ok    discovery"))
        // Somebody else may have the status page's usual port, which doctor tells.
        let isWell = result.output.contains("\nall is well") || result.output.contains("\nnothing has failed")
        #expect(result.ending == .exited(isWell ? 0 : 69), "\(result)")

        try directory.write("config.yaml", text.replacing("127.0.0.1:9090", with: "127.0.0.1:0"))
        let bearerd = try BearerdProcess(
            arguments: ["run"],
            environment: ["HOME": directory.path, "XDG_STATE_HOME": directory.path("state")],
            directory: directory.path)
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").status == 200)
        #expect(upstream.tokens.last == provider.accessTokens.last)
    }

    @Test func `takes any text as a value`() throws {
        var words = options
        words[5] = "it's: \"${HOME}\" # no\\comment"
        _ = try run(words + ["--scope", "openid profile", "--audience", "true"])
        let check = try BearerdProcess.command("check", "--json", directory: directory.path)
        #expect(check.exit == 0, "\(check)")
        _ = try BearerdProcess.command(
            "refresh", environment: ["XDG_STATE_HOME": directory.path("state")], directory: directory.path)
        let request = try provider.request(1)
        #expect(formDecoded(request.basicCredentials?.name ?? "") == words[5])
        #expect(request["scope"] == "openid profile" && request["audience"] == "true")
    }

    @Test func `leaves a file that is there as it is`() throws {
        try directory.write("config.yaml", "mine")
        let result = try run(options)
        #expect(
            result.ending == .exited(73) && result.errors.contains("config.yaml is there already"),
            "\(result)")
        #expect(text == "mine")
        symlink("/nonexistent/elsewhere", directory.path("link.yaml"))
        #expect(try run(options + ["-c", "link.yaml"]).ending == .exited(73))
        #expect(try run([]).ending == .exited(73), "with options missing, too")
        #expect(try run(options + ["-c", "nowhere/config.yaml"]).ending == .exited(73))
    }

    @Test func `needs every option where nobody can be asked, and names a wrong one`() throws {
        for (index, name) in [
            (0, "--upstream"), (2, "--issuer"), (4, "--client-id"), (6, "--client-secret-file"),
        ] {
            var words = options
            words.removeSubrange(index...index + 1)
            let result = try run(words)
            #expect(result.ending == .exited(64) && result.errors.contains("\(name) is missing"), "\(result)")
        }
        var words = options
        words[1] = "http://api.example.com"
        words[3] = "nonsense"
        let result = try run(words)
        #expect(result.ending == .exited(78), "\(result)")
        #expect(
            result.errors.contains("init: --upstream: ") && result.errors.contains("init: --issuer: "),
            "\(result.errors)")
        #expect(!TemporaryDirectory.entries(of: directory.path).contains("config.yaml"))
    }

    @Test func `is where BEARERD_CONFIG says, with files as its directory needs them`() throws {
        mkdir(directory.path("etc"), 0o700)
        let result = try Subprocess.run(
            [BearerdProcess.binary, "init"] + options,
            environment: ["BEARERD_CONFIG": directory.path("etc/b.yaml")],
            directory: directory.path)
        #expect(result.output.hasPrefix("wrote \(directory.path("etc/b.yaml"))\n"), "\(result)")
        #expect(result.output.contains("b.yaml: ok"))
    }

    @Test func `asks on a terminal, once more for what is refused, and keeps the secret unseen`() throws {
        unlink(directory.path("client_secret"))
        let answers =
            "nonsense\\n\(upstream.url)\\n\(provider.issuer)\\nn\\nlegacy-app\\ntyped-fake-secret\\n"
        let result = try onTerminal(answering: answers)
        #expect(result.output.contains("the API that requests go to"), "\(result)")
        #expect(result.output.contains("is not http(s)://HOST"), "\(result)")
        #expect(
            text.contains("client_secret_file: client_secret")
                && text.contains("grant_type: client_credentials"))
        let secret = directory.path("client_secret")
        var status = stat()
        #expect(stat(secret, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(TemporaryDirectory.contents(of: secret) == Array("typed-fake-secret\n".utf8))
    }

    @Test func `takes neither a word nor a letter but y for a yes, and n for a no`() throws {
        unlink(directory.path("client_secret"))
        let answers =
            "\(upstream.url)\\n\(provider.issuer)\\nmaybe\\nnein\\nno\\nlegacy-app\\n\\ntyped-fake-secret\\n"
        let result = try onTerminal(answering: answers)
        #expect(result.output.split(separator: "y or n?").count == 3, "\(result)")
        #expect(result.output.contains("a program proves by a secret who it is"), "\(result)")
        #expect(text.contains("grant_type: client_credentials") && text.contains("client_id: legacy-app"))
    }

    @Test func `keeps sessions beside its file where the usual place has another's`() throws {
        let state = [
            "XDG_STATE_HOME": directory.path("state"), "STATE_DIRECTORY": directory.path("state/bearerd"),
        ]
        func run(_ words: [String]) throws -> (output: String, errors: String) {
            let result = try Subprocess.run(
                [BearerdProcess.binary] + words, environment: state, directory: directory.path)
            return (result.output, result.errors)
        }
        let first = try run(["init"] + options)
        #expect(!first.errors.contains("session of another configuration"), "\(first)")
        _ = try run(["refresh"])
        let second = try run(["init", "-c", "second.yaml"] + options)
        #expect(
            second.errors.contains(
                "has a session of another configuration, which a login here would replace"),
            "\(second)")
        let other = String(
            decoding: TemporaryDirectory.contents(of: directory.path("second.yaml")), as: UTF8.self)
        #expect(
            other.contains("  directory: sessions") && !text.contains("  directory: sessions"), "\(other)")
        _ = try run(["refresh", "-c", "second.yaml"])
        #expect(TemporaryDirectory.entries(of: directory.path("sessions")).contains("default.session"))
    }

    @Test(.needs(.root)) func `is for the group of the directory too where root writes into /etc/bearerd`()
        throws
    {
        let script = """
            mount -t tmpfs none /etc && mkdir /etc/bearerd && chgrp 12345 /etc/bearerd || exit 99
            "$0" init -c /etc/bearerd/config.yaml "$@" >&2
            "$0" init -c /etc//bearerd/./other.yaml "$@" >&2
            cp client_secret /etc/bearerd && cd /etc/bearerd && "$0" init -c third.yaml "$@" >&2
            stat -c '%a %u %g' config.yaml other.yaml third.yaml
            """
        let result = try Subprocess.run(
            ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, BearerdProcess.binary] + options,
            directory: directory.path)
        #expect(result.output == String(repeating: "640 0 12345\n", count: 3), "\(result)")
    }
}
