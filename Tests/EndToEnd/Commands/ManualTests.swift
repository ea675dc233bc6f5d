// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Help, the version, and the manual that is made of the help.
@Suite(.blocking) struct `The manual` {
    private static let mandoc = "/usr/bin/mandoc"
    private static let man = "/usr/bin/man"

    /// The words of every command, as the help lists them.
    private func commands() throws -> [String] {
        let help = try BearerdProcess.command("help").output
        return help.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("  -") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test func `is told by every spelling of help`() throws {
        let overview = try BearerdProcess.command("--help").output
        for words in [["-h"], ["help"]] {
            #expect(try Subprocess.run([BearerdProcess.binary] + words).output == overview)
        }
        for command in try commands() {
            let help = try BearerdProcess.command("help", command).output
            #expect(help.hasPrefix("usage: bearerd \(command)"), "\(help)")
            for flag in ["-h", "--help"] {
                #expect(try BearerdProcess.command(command, flag).output == help, "\(command) \(flag)")
            }
        }
        #expect(try commands().count >= 19)
    }

    @Test func `is told of no other command`() throws {
        let result = try BearerdProcess.command("help", "refersh")
        #expect(result.exit == 64 && result.errors.contains("did you mean 'refresh'?"), "\(result.errors)")
        #expect(try BearerdProcess.command("help", "run", "check").exit == 64)
    }

    @Test func `has the version in every spelling`() throws {
        let version = try BearerdProcess.command("version").output
        #expect(version.wholeMatch(of: #/bearerd \d+\.\d+\.\d+\n/#) != nil, "\(version)")
        for flag in ["-V", "--version"] { #expect(try BearerdProcess.command(flag).output == version) }
        #expect(try BearerdProcess.command("version", "x").exit == 64)
    }

    /// A parent such as node makes its end of the pipe non-blocking, and with it the command's.
    @Test func `is written whole to a pipe that is non-blocking and too small for it`() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ (fcntl(2)), which Glibc shows to GNU sources alone
        let size = fcntl(ends[1], setPipeSize, 4096)
        let process = try Subprocess(
            ["/bin/sh", "-c", #"exec "$0" completion bash >&3"#, BearerdProcess.binary], passing: [ends[1]])
        close(ends[1])
        defer { close(ends[0]) }
        // The command has written as much as fits.
        try eventually("a full pipe") {
            var waiting: Int32 = 0
            return ioctl(ends[0], UInt(FIONREAD), &waiting) == 0 && waiting == size
        }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        try eventually("the end of the output") {
            let count = read(ends[0], &part, part.count)
            bytes += part[..<max(0, count)]
            return count == 0
        }
        #expect(try process.waitForEnd() == .exited(0), "\(process.errors.withLock { $0.text })")
        let whole = try BearerdProcess.command("completion", "bash").output
        #expect(String(decoding: bytes, as: UTF8.self) == whole)
    }

    @Test func `has a page for each command, which man shows without a warning`() throws {
        let directory = try TemporaryDirectory()
        for words in [[], ["bearerd.yaml"]] + (try commands().map { [$0] }) {
            let page = try Subprocess.run([BearerdProcess.binary, "help", "--man"] + words).output
            let file = try directory.write(words == ["bearerd.yaml"] ? "page.5" : "page.1", page)
            #expect(page.hasPrefix(".TH BEARERD"), "\(words)")
            if access(Self.mandoc, X_OK) == 0 {
                let lint = try Subprocess.run([Self.mandoc, "-Tlint", "-W", "warning", file])
                #expect(lint.ending == .exited(0) && lint.output.isEmpty, "\(words) \(lint.output)")
            }
            guard access(Self.man, X_OK) == 0 else { continue }
            let shown = try Subprocess.run(
                [
                    "/usr/bin/env", "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=80", Self.man, "--warnings",
                    "-l", file,
                ])
            #expect(shown.ending == .exited(0) && shown.errors.isEmpty, "\(words) \(shown.errors)")
            let needed = words == ["bearerd.yaml"] ? "KEYS OF identities.NAME" : "EXIT STATUS"
            #expect(shown.output.contains(needed), "\(words)")
        }
    }
}
