// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A secret is typed at a terminal that shows it to nobody, and that is as it was when bearerd is gone.
@Suite(.blocking) struct `A secret that is typed in` {
    private let directory: TemporaryDirectory
    private let upstream: RawUpstream
    private let provider: HostileProvider
    /// Where what is typed goes in; without a reader's end of its own the terminal would see an end.
    private let keys: String

    init() throws {
        directory = try TemporaryDirectory()
        upstream = try RawUpstream()
        provider = try HostileProvider()
        keys = directory.path("keys")
        try #require(mkfifo(keys, 0o600) == 0)
    }

    /// Runs a command of a shell on a terminal of its own.
    private func terminal(_ command: String) throws -> Subprocess {
        try Subprocess(
            ["/bin/sh", "-c", "exec script -qefc \"$1\" /dev/null <> \(keys)", "sh", command],
            // On a terminal Swift would ask what to do about a SIGQUIT.
            environment: ["TERM": "dumb", "PS1": "$ ", "SWIFT_BACKTRACE": "enable=no"],
            directory: directory.path)
    }

    private func type(_ text: String) throws {
        let descriptor = open(keys, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    private func awaitText(_ what: String, of terminal: Subprocess, count: Int = 1) throws {
        try terminal.output.wait(for: "'\(what)' to be shown") { capture in
            capture.text.ranges(of: what).count >= count ? () : nil
        }
    }

    private var command: String {
        "\(BearerdProcess.binary) init --upstream \(upstream.url) --issuer \(provider.issuer) --client-id app --listen 127.0.0.1:0"
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `leaves the terminal as it was where a signal ends the command`(signal: Int32) throws {
        let terminal = try terminal(
            "sh -c 'echo process $$; exec \(command)'; echo; stty -a; echo modes told")
        try awaitText("[y/N]", of: terminal)
        try type("n\n")
        try awaitText("not shown", of: terminal)
        let text = terminal.output.withLock { $0.text }
        let number = try #require(text.firstMatch(of: #/process (\d+)/#))
        kill(try #require(pid_t(number.output.1)), signal)
        try awaitText("modes told", of: terminal)
        let modes = terminal.output.withLock { $0.text }
        #expect(modes.contains(" echo ") && !modes.contains("-echo "), "\(modes)")
    }

    @Test func `is not shown after the command was stopped and goes on`() throws {
        let terminal = try terminal("bash --norc --noediting -i")
        try awaitText("$ ", of: terminal)
        try type("\(command)\n")
        try awaitText("[y/N]", of: terminal)
        try type("n\n")
        try awaitText("not shown: ", of: terminal)
        try type("\u{1A}")
        try awaitText("Stopped", of: terminal)
        try type("fg\n")
        try awaitText("not shown: ", of: terminal, count: 2)
        try type("fake-secret\n")
        try awaitText("kept in", of: terminal)
        #expect(!terminal.output.withLock { $0.text }.contains("fake-secret"))
        let kept = TemporaryDirectory.contents(of: directory.path("client_secret"))
        #expect(String(decoding: kept, as: UTF8.self) == "fake-secret\n")
    }
}
