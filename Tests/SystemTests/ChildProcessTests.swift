// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import Glibc
import Testing

@Suite struct `Another program` {
    private func run(
        _ command: String..., environment: [String: String] = [:], limit: Duration = .seconds(20)
    ) throws -> ChildProcess.Termination {
        try ChildProcess.run(command, environment: environment, limit: limit)
    }

    @Test func `is run to its end`() throws {
        #expect(try run("/bin/sh", "-c", "exit 0") == .exited(0))
        #expect(try run("/bin/sh", "-c", "exit 7") == .exited(7))
        #expect(try run("/bin/sh", "-c", "kill -TERM $$") == .signalled(SIGTERM))
    }

    @Test func `that cannot be looked at is not said to be missing`() {
        let name = "/" + String(repeating: "x", count: 300)
        #expect(ChildProcess.obstacle(to: name) == "cannot be looked at: File name too long")
        #expect(ChildProcess.obstacle(to: "/nowhere/program") == "is not there")
    }

    @Test func `gets its arguments as they are, and our environment not at all`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("out")
        let script = "printf '%s|' \"$@\" > \(file); env >> \(file)"
        setenv("BEARERD_TEST_SECRET", "hunter2", 1)
        #expect(
            try run("/bin/sh", "-c", script, "sh", "a b", "$(c)", "", environment: ["X": "1"]) == .exited(0))
        let output = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        #expect(output.hasPrefix("a b|$(c)||"))
        #expect(output.contains("X=1") && !output.contains("hunter2"))
    }

    @Test func `has no descriptor of ours, and no signal is blocked or ignored`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("out")
        let inherited = open("/dev/null", O_RDONLY)
        defer { close(inherited) }
        signal(SIGPIPE, SIG_IGN)
        let script = "ls /proc/self/fd | wc -l > \(file); grep -E 'Sig(Blk|Ign)' /proc/self/status >> \(file)"
        #expect(try run("/bin/sh", "-c", script, environment: ["PATH": "/usr/bin:/bin"]) == .exited(0))
        let lines = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self).split(
            separator: "\n")
        // Three, and the one that ls reads the directory through.
        #expect(lines.first.flatMap { Int($0) } == 4)
        for line in lines.dropFirst() {
            let set = try #require(UInt64(line.suffix(16), radix: 16))
            #expect(set & 0x7FFF_FFFF == 0, "\(line): glibc keeps two signals above 31 to itself")
        }
    }

    @Test func `is heard to its end, or until it has said too much or taken too long`() throws {
        #expect(try said("printf one; sleep 0.1; printf two") == Said(text: "onetwo", isWhole: true))
        #expect(try said("exit 7") == Said(text: "", isWhole: true))
        #expect(try said("exec 1>&-; exec sleep 600") == Said(text: "", isWhole: true))
        #expect(try !said("printf one; exec sleep 600", limit: .milliseconds(300)).isWhole)
        #expect(try !said("printf one; sleep 600 & exit", limit: .milliseconds(300)).isWhole)
        #expect(try !said("while printf 0123456789; do :; done").isWhole)
        #expect(throws: SystemError.self) {
            _ = try ChildProcess.output(
                of: ["/nonexistent"], environment: [:], limit: .seconds(1), longest: 1)
        }
    }

    private struct Said: Equatable {
        let text: String
        let isWhole: Bool
    }

    private func said(_ script: String, limit: Duration = .seconds(20)) throws -> Said {
        let output = try ChildProcess.output(
            of: ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], limit: limit, longest: 100)
        return Said(text: String(decoding: output.bytes, as: UTF8.self), isWhole: output.isWhole)
    }

    @Test func `that hangs is killed, with all that it started`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("pid")
        #expect(
            try run(
                "/bin/sh", "-c", "sleep 600 & echo $! > \(file); wait",
                environment: ["PATH": "/usr/bin:/bin"], limit: .seconds(1))
                == .killed)
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let process = try #require(pid_t(text.filter(\.isNumber)))
        // The orphan is init's to reap; here it is enough that it runs no more, soon after its signal.
        var status = ""
        for _ in 0..<500 {
            status = String(
                decoding: TemporaryDirectory.contents(of: "/proc/\(process)/stat"), as: UTF8.self)
            if status.isEmpty || status.contains(") Z ") { break }
            try? Gate().pass(within: .milliseconds(20))
        }
        #expect(status.isEmpty || status.contains(") Z "))
    }

    @Test func `that is not there is an error`() throws {
        let error = #expect(throws: SystemError.self) { try run("/nowhere/program") }
        #expect(error.map { "\($0)" } == "posix_spawn /nowhere/program: No such file or directory")
    }
}
