// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The commands of `on_state_change`.
@Suite(.blocking) struct `A command on a change of state` {
    /// A program that adds what it was given to files beside it.
    private func program(in directory: TemporaryDirectory, _ more: String = "") throws -> String {
        try directory.write(
            "hook",
            """
            #!/bin/sh
            env >> "${0%/*}/environment"
            tr '\\0' ' ' < /proc/$$/cmdline >> "${0%/*}/arguments"
            \(more)
            echo "$BEARERD_IDENTITY $BEARERD_STATE $1" >> "${0%/*}/states"
            """, mode: 0o700)
    }

    private func text(_ name: String, in directory: TemporaryDirectory) -> String {
        String(decoding: TemporaryDirectory.contents(of: directory.path(name)), as: UTF8.self)
    }

    @Test func `is told the identity and its state, in order, and no secret`() throws {
        let directory = try TemporaryDirectory()
        let hook = try program(in: directory)
        let provider = try HostileProvider()
        let upstream = try RawUpstream { request in
            request.head.target == "/no" ? .unauthorized : .ok()
        }
        let secret = "secret-" + randomText()
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: "${APP_SECRET}",
            environment: ["APP_SECRET": secret],
            .init(top: "on_state_change: [\(hook), 'two words']", route: "retry_on_status: []"))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/no").status == 401)
        #expect(try sidecar.get("/yes").status == 200)
        let expected = ["refreshing", "authorized", "authorization_error", "authorized"]
        let lines = expected.map { "default \($0) two words\n" }.joined()
        try eventually("the command's four runs") { text("states", in: directory) == lines }
        let seen = text("environment", in: directory) + text("arguments", in: directory)
        #expect(seen.contains("BEARERD_STATE=authorized"))
        for word in provider.handedOut + [secret, "APP_SECRET"] { #expect(!seen.contains(word)) }
        try eventually("no child to be left") { children(of: sidecar).isEmpty }
    }

    @Test func `that hangs, fails or is not there stops nobody, and is logged`() throws {
        let directory = try TemporaryDirectory()
        let hook = try program(in: directory, "[ \"$BEARERD_IDENTITY\" = default ] && exit 3; exec sleep 600")
        let others = ["slow": hook, "gone": "no-such-hook"].map { name, command in
            """
            \(name):
              issuer: PROVIDER
              client_id: \(name)
              grant_type: client_credentials
              on_state_change: [\(command)]
            """
        }.joined(separator: "\n")
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, directory: directory,
            .init(
                top: "on_state_change: [\(hook)]",
                moreIdentities: others.replacing("PROVIDER", with: provider.issuer)))
        try sidecar.awaitToken()
        for _ in 0..<20 { #expect(try sidecar.get().status == 200) }
        for (identity, reason) in [("default", "exit status 3"), ("gone", "No such file")] {
            try sidecar.bearerd.logLine("\(identity)'s failure") { line in
                line.message == "the command of on_state_change failed" && line["identity"] == identity
                    && line["reason"]?.contains(reason) == true
            }
        }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `is not run by a command's own session`() throws {
        let directory = try TemporaryDirectory()
        let hook = try program(in: directory)
        let file = try Sidecar.file(
            provider: try HostileProvider(), directory: directory, .init(top: "on_state_change: [\(hook)]"))
        _ = try BearerdProcess.command("token", "-c", file)
        #expect(text("states", in: directory).isEmpty)
    }

    /// The processes that bearerd has started and not yet waited for.
    private func children(of sidecar: Sidecar) -> String {
        let process = sidecar.bearerd.process.processID
        return TemporaryDirectory.entries(of: "/proc/\(process)/task").map { thread in
            let path = "/proc/\(process)/task/\(thread)/children"
            return String(decoding: TemporaryDirectory.contents(of: path), as: UTF8.self)
        }.joined()
    }
}
