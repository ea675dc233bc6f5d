// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

@Suite(
    .blocking, .needs(.keyring))
struct `An encryption key in the Secret Service` {
    private static let name = "the key/of a t\u{E9}st $HOME"

    private func store(_ directory: TemporaryDirectory, _ name: String = Self.name) -> String {
        "directory: \(directory.path("store"))\nencryption_key_keyring: \"\(name)\""
    }

    private func sidecar(
        on bus: SessionBus, _ directory: TemporaryDirectory, provider: HostileProvider,
        grant: String = "refresh_token"
    ) throws -> Sidecar {
        try Sidecar(
            provider: provider, directory: directory, environment: bus.environment,
            .init(store: store(directory), grant: grant))
    }

    /// A configuration without a daemon.
    private func file(
        in directory: TemporaryDirectory, _ provider: HostileProvider, grant: String = "client_credentials"
    ) throws -> String {
        try directory.write(
            "config.yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "not-a-real-secret",
                directory: directory, .init(store: store(directory), grant: grant)))
    }

    private func command(
        _ words: String..., in directory: TemporaryDirectory, _ environment: [String: String]
    ) throws -> (exit: Int32, output: String, errors: String) {
        let done = try Subprocess.run(
            [BearerdProcess.binary] + words + ["-c", directory.path("config.yaml")], environment: environment)
        guard case .exited(let code) = done.ending else { throw WireError("\(words): \(done)") }
        return (code, done.output, done.errors)
    }

    /// What /proc tells of a process's children, ended ones too.
    private func children(of parent: pid_t) -> [String] {
        TemporaryDirectory.entries(of: "/proc").filter { $0.allSatisfy(\.isNumber) }.map { process in
            String(decoding: TemporaryDirectory.contents(of: "/proc/\(process)/stat"), as: UTF8.self)
        }.filter { $0.split(separator: ") ").last?.split(separator: " ").dropFirst().first == "\(parent)" }
    }

    @Test func `is made at first use, and opens the session after a restart of all`() throws {
        let bus = try SessionBus()
        try bus.startKeyring()
        let (directory, provider) = (try TemporaryDirectory(), try HostileProvider())
        _ = try file(in: directory, provider, grant: "refresh_token")
        let token = try directory.write("token", provider.makeRefreshToken() + "\n")
        let taken = try command("import", "--refresh-token", token, in: directory, bus.environment)
        #expect(taken.exit == 0, "\(taken)")
        let first = try sidecar(on: bus, directory, provider: provider)
        try first.awaitToken()
        let key = try bus.value(of: Self.name)
        #expect(key.count == 32)
        let (rotated, requests) = (try #require(provider.latestRefreshToken), provider.requests.count)
        for name in TemporaryDirectory.entries(of: first.storeDirectory) {
            let text = String(
                decoding: TemporaryDirectory.contents(of: "\(first.storeDirectory)/\(name)"), as: UTF8.self)
            #expect(!text.contains(rotated), "\(name)")
        }
        let left = children(of: first.bearerd.process.processID)
        #expect(left.isEmpty, "a process is left, or what remains of one: \(left)")
        #expect(try first.bearerd.terminate() == .exited(0))
        try bus.stopKeyring()
        try bus.startKeyring()
        let second = try sidecar(on: bus, directory, provider: provider)
        try second.awaitToken()
        #expect(provider.requests.count == requests, "the stored token is used")
        #expect(try bus.value(of: Self.name) == key)
        #expect(try second.act("refresh").status < 300)
        let hexadecimal = key.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        for log in [first.bearerd.log, second.bearerd.log, taken.output, taken.errors] {
            #expect(!log.contains(hexadecimal) && !log.contains(rotated))
        }
    }

    @Test func `is the same for all who make it at once`() throws {
        let bus = try SessionBus()
        try bus.startKeyring()
        let (directory, provider) = (try TemporaryDirectory(), try HostileProvider())
        let file = try file(in: directory, provider)
        let outcomes = try concurrently(4) { _ in
            try BearerdProcess.command("token", "-c", file, environment: bus.environment)
        }
        for outcome in outcomes where outcome.exit != 0 {
            #expect(outcome.errors.contains("does not answer"), "\(outcome)")  // of a slow machine
        }
        #expect(try bus.count(of: Self.name) == 1)
        let homes = [directory, try TemporaryDirectory()]
        let daemons = try concurrently(2) { index in
            try Sidecar(
                provider: provider, directory: homes[index], environment: bus.environment,
                .init(store: store(directory)))
        }
        for daemon in daemons { try daemon.awaitToken() }
        try eventually("one token for both") {
            try daemons[0].identityStatus()["generation"].number
                == daemons[1].identityStatus()["generation"].number
        }
        #expect(try bus.count(of: Self.name) == 1)
    }

    @Test func `may be one that somebody else put there, and is never written over`() throws {
        let bus = try SessionBus()
        try bus.startKeyring()
        let (directory, provider) = (try TemporaryDirectory(), try HostileProvider())
        _ = try file(in: directory, provider)
        for (value, code) in [
            ("hunter2", 78), (String(repeating: "5a", count: 31), 78),
            (String(repeating: "k", count: 400), 78),
            (String(repeating: "5a", count: 32) + "\n", 0),
            (String(repeating: "Wlpa", count: 10) + "Wlo=", 0),
        ] as [(String, Int32)] {
            _ = try bus.secretTool(
                "store", "--label", "x", "application", "bearerd", "key", Self.name, input: value)
            let done = try command("token", in: directory, bus.environment)
            #expect(done.exit == code, "\(value) \(done)")
            #expect(code == 0 || done.errors.contains("is not 32 bytes") && !done.errors.contains(value))
            #expect(try bus.value(of: Self.name) == Array(value.utf8), "\(value)")
        }
        _ = try bus.secretTool(
            "store", "--label", "x", "application", "bearerd", "key", Self.name, "also", "other",
            input: "hunter2")
        let done = try command("token", in: directory, bus.environment)
        #expect(done.exit == 78 && done.errors.contains("several values"), "\(done)")
    }

    @Test func `is not made anew where sessions are encrypted with one that is gone`() throws {
        let bus = try SessionBus()
        try bus.startKeyring()
        let (directory, provider) = (try TemporaryDirectory(), try HostileProvider())
        let daemon = try sidecar(on: bus, directory, provider: provider, grant: "client_credentials")
        try daemon.awaitToken()
        let text = String(
            decoding: TemporaryDirectory.contents(of: directory.path("config.yaml")), as: UTF8.self)
        try directory.write("config.yaml", text.asking(daemon.bearerd.admin))
        let refresh = try command("refresh", in: directory, [:])
        #expect(refresh.exit == 0, "the daemon does it for who has no bus: \(refresh)")
        let token = try command("token", in: directory, [:])
        #expect(token.exit == 69 && token.output.isEmpty, "but no listener hands out tokens: \(token)")
        #expect(try daemon.bearerd.terminate() == .exited(0))
        _ = try bus.secretTool("clear", "application", "bearerd", "key", Self.name)
        for word in ["run", "status", "doctor"] {
            let done = try command(word, in: directory, bus.environment)
            #expect(done.exit == (word == "doctor" ? 69 : 78), "\(word): \(done)")
            #expect((done.output + done.errors).contains(daemon.storeDirectory), "\(done)")
        }
        #expect(try bus.count(of: Self.name) == 0)
    }

    @Test func `is looked for by doctor, who makes none`() throws {
        let bus = try SessionBus()
        try bus.startKeyring()
        let (directory, provider) = (try TemporaryDirectory(), try HostileProvider())
        _ = try file(in: directory, provider)
        func check() throws -> (exit: Int32, output: String, errors: String) {
            try command("doctor", "--check", "keyring", in: directory, bus.environment)
        }
        let before = try check()
        #expect(before.exit == 0 && before.output.hasPrefix("ok ") && before.output.contains("no key"))
        #expect(try bus.count(of: Self.name) == 0)
        #expect(try command("token", in: directory, bus.environment).exit == 0)
        let after = try check()
        #expect(after.exit == 0 && after.output.contains("can be read"), "\(after)")
        bus.signalKeyring(SIGSTOP)
        let all = try command("doctor", "--json", in: directory, bus.environment)
        bus.signalKeyring(SIGCONT)
        let checks = TestJSON(parsing: all.output)?["checks"].array ?? []
        #expect(checks.first { $0["id"].string == "keyring" }?["result"].string == "fail", "\(all)")
        #expect(checks.first { $0["id"].string == "token" }?["result"].string == "skip", "\(all)")
    }
}
