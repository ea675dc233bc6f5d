// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A system that has no thread, descriptor or randomness to give.
///
/// Sanitizers want to be loaded before everything else, so there it is not tried.
@Suite(.blocking, .enabled(if: !Sanitizer.isOn)) struct `Where the system runs short` {
    private func configuration(
        _ directory: TemporaryDirectory, listen: String = "127.0.0.1:0"
    ) throws -> String {
        let text = Sidecar.configuration(
            provider: try HostileProvider(), upstream: "http://127.0.0.1:1", clientSecret: "fake-secret",
            directory: directory, .init(top: "workers: 2", listen: listen))
        return try directory.write("config.yaml", text)
    }

    private func fails(
        _ arguments: [String], _ faults: [String: String], saying word: String,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try Subprocess.run(
            [BearerdProcess.binary] + arguments, environment: try Faults.environment(faults))
        #expect(result.ending == .exited(71), "\(faults) \(result)", sourceLocation: location)
        #expect(result.errors.contains(word), "\(faults) \(result)", sourceLocation: location)
    }

    @Test func `at the start, it is said, and the exit code is 71`() throws {
        let directory = try TemporaryDirectory()
        let file = try configuration(directory)
        // The log's thread, the store's, the files', and two workers'.
        for count in 0..<5 {
            try fails(["run", "-c", file], ["FAULT_THREADS_AFTER": "\(count)"], saying: "no thread left")
        }
        for command in ["token", "logout", "refresh"] {
            try fails([command, "-c", file], ["FAULT_THREADS_AFTER": "0"], saying: "no thread left")
            try fails([command, "-c", file], ["FAULT_EPOLL": "1"], saying: "event loop")
        }
        try fails(["run", "-c", file], ["FAULT_EPOLL": "1"], saying: "event loop")
        try fails(
            ["run", "-c", file], ["FAULT_RANDOM": "1"], saying: "randomness")
        let elsewhere = try TemporaryDirectory()
        let named = try configuration(elsewhere, listen: "localhost:0")
        for (limit, file) in (4...8).flatMap({ [($0, file), ($0, named)] }) {
            let result = try Subprocess.run(
                ["/usr/bin/prlimit", "--nofile=\(limit):\(limit)", BearerdProcess.binary, "run", "-c", file])
            guard case .exited(let code) = result.ending else {
                Issue.record("\(limit) descriptors: \(result)")
                continue
            }
            #expect(code == 71 && !result.errors.isEmpty, "\(limit) descriptors: \(result)")
        }
    }

    @Test func `of threads, a daemon goes on with those that it has`() throws {
        let sidecar = try Sidecar(
            environment: try Faults.environment(["FAULT_THREADS_AFTER": "5"]),
            .init(
                top: "workers: 2",
                moreRoutes:
                    "- path: /other\n  upstream: http://127.0.0.1:1\n  identity: default\n  scope: [other]"))
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        try sidecar.awaitToken()
        for action in ["refresh", "invalidate", "refresh", "logout", "refresh"] {
            #expect(try sidecar.act(action).status == 200, "\(action)")
        }
        for _ in 0..<5 {
            #expect(try sidecar.get().status == 200)
            #expect(try sidecar.admin("GET", "/healthz").status == 200)
            #expect(try sidecar.admin("GET", "/metrics").status == 200)
        }
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        client.wire.close()
        #expect(
            sidecar.bearerd.threadCount == 6,
            "the main one, two workers', the log's, the store's and the files', and no pool")
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `of threads, nobody can ask for an upstream's name, and that is what is said`() throws {
        let sidecar = try Sidecar(
            environment: try Faults.environment(["FAULT_THREADS_AFTER": "5"]),
            .init(
                top: "workers: 2\ntimeouts: {connect: 300ms}",
                moreRoutes:
                    "- {path: /named, upstream: \"https://upstream.test\", identity: none}"))
        for _ in 0..<3 {
            let answer = try sidecar.get("/named")
            `bearerd's own answers`.check(answer, 503, "upstream_busy")
            #expect(answer.text.contains("TasksMax="))
        }
        let line = try sidecar.bearerd.logLine("the reason") {
            $0["route"] == "/named" && $0["reason"] != nil
        }
        #expect(line["reason"] == "no thread is left to ask for the name with")
        let failures = try sidecar.metrics().sum(
            "bearerd_upstream_failures_total", "reason=\"threads\"")
        #expect(failures == 3)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `of threads, a command needs none but its own and those for files`() throws {
        let session = try ImportedSession()
        try session.begin()
        let environment = try Faults.environment(["FAULT_THREADS_AFTER": "3"])
        for command in ["refresh", "token", "userinfo", "logout"] {
            let result = try Subprocess.run(
                [BearerdProcess.binary, command, "-c", session.configuration], environment: environment)
            #expect(result.ending == .exited(0), "\(command) \(result)")
        }
    }

    /// Two workers and a route, as of every test here.
    @Test func `of descriptors, a daemon serves, or does not begin`() throws {
        var served = 0
        for limit in stride(from: 12, through: 64, by: 2) where served < 3 {
            let directory = try TemporaryDirectory()
            let (provider, upstream) = (try HostileProvider(), try RawUpstream())
            let file = try Sidecar.file(
                provider: provider, upstream: upstream.url, directory: directory,
                .init(top: "workers: 2\ntimeouts: {token_wait: 2s}"))
            let daemon = try Subprocess([
                "/usr/bin/prlimit", "--nofile=\(limit):\(limit)", BearerdProcess.binary, "run", "-c", file,
            ])
            let addresses = try daemon.errors.wait(for: "the start, or its end") { capture -> [String]? in
                guard capture.text.contains(#""message":"started""#) else {
                    return capture.isAtEnd ? [] : nil
                }
                return capture.text.matches(of: #/"address":"(127[^"]*)"/#).map { String($0.output.1) }
            }
            guard let proxy = addresses.first.flatMap(Address.init) else {
                #expect(try daemon.waitForEnd() == .exited(71), "\(limit) descriptors")
                let errors = daemon.errors.withLock { $0.text }
                #expect(served == 0 && errors.contains("descriptor") || limit < 20, "\(limit): \(errors)")
                continue
            }
            served += 1
            for _ in 0..<8 {
                let answer = try RawClient(to: proxy).request("GET", "/")
                #expect(answer.status == 200, "\(limit) descriptors: \(answer.text)")
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForEnd() == .exited(0))
        }
        #expect(served == 3)
    }

    @Test(arguments: [EPERM, EINVAL, EMFILE, ENOMEM, ECONNABORTED])
    func
        `of connections that can be accepted, a daemon says so once, waits, and says when there are some again`(
            code: Int32
        ) throws
    {
        let directory = try TemporaryDirectory()
        let fault = directory.path("fault")
        let sidecar = try Sidecar(
            environment: try Faults.environment(["FAULT_ACCEPT": fault, "FAULT_ACCEPT_ERRNO": "\(code)"]),
            .init(top: "workers: 2"))
        try sidecar.awaitToken()
        #expect(try sidecar.get().status == 200)
        let address = "\(try sidecar.bearerd.proxy)"
        _ = try directory.write("fault", "")
        let before = sidecar.processorSeconds
        // Enough that each worker has some.
        let waiting = try (0..<16).map { _ in try sidecar.client() }
        for client in waiting { try client.send("GET", "/") }
        let line = try sidecar.bearerd.logLine("that nobody is accepted") {
            $0["message"] == "connections cannot be accepted" && $0["address"] == address
        }
        #expect(line["level"] == "warning" && line["reason"] == String(cString: strerror(code)))
        let spent = sidecar.processorSeconds - before
        #expect(spent < 0.5, "\(spent) s of processor time")
        unlink(fault)
        for client in waiting { #expect(try client.wire.readResponse().status == 200) }
        let notice = try sidecar.bearerd.logLine("that it works again") {
            $0["message"] == "connections are accepted again" && $0["address"] == address
        }
        #expect(notice["level"] == "notice")
        let lines = sidecar.bearerd.logLines.filter { $0["address"] == address }
        #expect(lines.count { $0["level"] == "warning" } == 1)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `of what the kernel can watch, a daemon says so, and goes on when there is some again`() throws
    {
        let directory = try TemporaryDirectory()
        let shortage = directory.path("shortage")
        let sidecar = try Sidecar(environment: try Faults.environment(["FAULT_WATCH": shortage]))
        try sidecar.awaitToken()
        #expect(try sidecar.get().status == 200)
        _ = try directory.write("shortage", "")
        let silent = try sidecar.client()
        #expect(try silent.wire.readToEnd().isEmpty, "nobody would hear of what it says")
        let line = try sidecar.bearerd.logLine("the trouble") { $0["message"] == "an event loop has trouble" }
        #expect(line["reason"]?.contains("No space left on device") == true && line["level"] == "warning")
        unlink(shortage)
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        _ = try directory.write("shortage", "")
        try fails(
            ["run", "-c", try configuration(directory)], ["FAULT_WATCH": shortage], saying: "event loop")
    }

    @Test func `of what the kernel can watch, a daemon that could not hear all its listeners does not begin`()
        throws
    {
        let directory = try TemporaryDirectory()
        // Nobody is logged in, so that nothing but the start is watched.
        let text = Sidecar.configuration(
            provider: try HostileProvider(), upstream: "http://127.0.0.1:1", clientSecret: "fake-secret",
            directory: directory, .init(top: "workers: 2", grant: "authorization_code"))
        let file = try directory.write("config.yaml", text)
        var refused = 0
        while refused < 40 {
            let daemon = try Subprocess(
                [BearerdProcess.binary, "run", "-c", file],
                environment: try Faults.environment(["FAULT_WATCH_AFTER": "\(refused)"]))
            let isReady = try daemon.errors.wait(for: "the start, or its end") { capture -> Bool? in
                capture.text.contains(#""message":"started""#) ? true : capture.isAtEnd ? false : nil
            }
            if isReady { daemon.signal(SIGTERM) }
            let ending = try daemon.waitForEnd()
            let log = daemon.errors.withLock { $0.text }
            guard !isReady else {
                #expect(ending == .exited(0) && !log.contains("trouble"), "\(log)")
                break
            }
            #expect(ending == .exited(71) && log.contains("No space left on device"), "\(refused): \(log)")
            refused += 1
        }
        // Three loops, what they watch besides, and the listeners: one for each worker, and the admin's.
        #expect((6..<40).contains(refused))
    }

    @Test func `closed standard streams become the null device`() throws {
        let sidecar = try Sidecar(launcher: ["/bin/sh", "-c", "exec \"$@\" <&- >&-", "sh"])
        for stream in 0...1 {
            let link = "/proc/\(sidecar.bearerd.process.processID)/fd/\(stream)"
            let target = try Subprocess.run(["/usr/bin/readlink", link])
            #expect(target.output == "/dev/null\n", "\(stream)")
        }
        #expect(try sidecar.get().status == 200)
        let directory = try TemporaryDirectory()
        let file = try configuration(directory)
        let check = try Subprocess.run(
            ["/bin/sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh", BearerdProcess.binary, "check", "-c", file])
        // It has nowhere to tell its result.
        #expect(check.ending == .exited(74))
    }

    @Test func `arguments arrive wherever the environment is`() throws {
        let result = try Subprocess.run(
            [BearerdProcess.binary, "--version"],
            environment: try Faults.environment(["FAULT_ENVIRON": "1"]))
        #expect(result.ending == .exited(0) && result.output.hasPrefix("bearerd "), "\(result)")
    }
}
