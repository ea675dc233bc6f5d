// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The daemon locks itself in, where the kernel has Landlock, and shows its memory to nobody.
@Suite(.blocking) struct `The sandbox` {
    private static func provider(wanting secret: String) throws -> HostileProvider {
        let provider = try HostileProvider()
        provider.setPolicy { $0.clientSecret = secret }
        return provider
    }

    /// A daemon whose secret is in a file, and whether the kernel let it have a sandbox.
    private static func site() throws -> (sidecar: Sidecar, secret: String, isSandboxed: Bool) {
        let directory = try TemporaryDirectory()
        let secret = "secret-" + randomText()
        mkdir(directory.path("secrets"), 0o700)
        let file = try directory.write("secrets/client", secret)
        let sidecar = try Sidecar(
            provider: try Self.provider(wanting: secret), directory: directory,
            .init(identity: "client_secret_file: \(file)", hasSecret: false))
        try sidecar.awaitToken()
        return (sidecar, secret, sidecar.bearerd.logLines.contains { $0.message == "sandboxed" })
    }

    private static func noNewPrivileges(_ process: pid_t) -> Set<String> {
        let lines = TemporaryDirectory.entries(of: "/proc/\(process)/task").compactMap { thread in
            String(
                decoding: TemporaryDirectory.contents(of: "/proc/\(process)/task/\(thread)/status"),
                as: UTF8.self
            ).split(separator: "\n").first { $0.hasPrefix("NoNewPrivs:") }
        }
        return Set(lines.map { String($0.dropFirst("NoNewPrivs:".count).drop { $0 == "\t" }) })
    }

    @Test func `holds every thread, and is told in one line`() throws {
        let (sidecar, _, isSandboxed) = try Self.site()
        guard isSandboxed else { return }
        #expect(Self.noNewPrivileges(sidecar.bearerd.process.processID) == ["1"])
        let lines = sidecar.bearerd.logLines.filter { $0.message == "sandboxed" }
        #expect(lines.count == 1 && lines[0]["connect"] == "any")
    }

    @Test func `lets no file be read that the configuration has no use for`() throws {
        let (sidecar, secret, isSandboxed) = try Self.site()
        guard isSandboxed else { return }
        let file = sidecar.directory.path("secrets/client")
        // The right secret, and the rights to read it; but elsewhere.
        let elsewhere = try TemporaryDirectory()
        symlink(try elsewhere.write("client", secret), file + ".link")
        rename(file + ".link", file)
        try sidecar.act("refresh")
        try eventually("the secret to be out of reach") {
            try sidecar.identityStatus()["last_error"]["detail"].string?.contains("sandbox hides") == true
        }
        unlink(file)
        try sidecar.directory.write("secrets/client", secret)
        try sidecar.act("refresh")
        try eventually("the identity to be well again") { try sidecar.state() == "authorized" }
        #expect(try sidecar.get().status == 200)
    }

    @Test func `follows a secret that Kubernetes puts in another directory`() throws {
        let directory = try TemporaryDirectory()
        let (old, new) = ("secret-" + randomText(), "secret-" + randomText())
        for (name, secret) in [("..one", old), ("..two", new)] {
            mkdir(directory.path(name), 0o700)
            try directory.write("\(name)/client", secret)
        }
        symlink("..one", directory.path("..data"))
        symlink("..data/client", directory.path("client"))
        let provider = try Self.provider(wanting: old)
        let sidecar = try Sidecar(
            provider: provider, directory: directory,
            .init(identity: "client_secret_file: \(directory.path("client"))", hasSecret: false))
        try sidecar.awaitToken()
        provider.setPolicy { $0.clientSecret = new }
        symlink("..two", directory.path("..new"))
        rename(directory.path("..new"), directory.path("..data"))
        unlink(directory.path("..one/client"))
        rmdir(directory.path("..one"))
        let before = provider.accessTokens.count
        try eventually("a token for the new secret") {
            try sidecar.act("refresh").status == 200 && provider.accessTokens.count > before
        }
    }

    @Test func `lets only those ports be connected to that are needed, where they are known`() throws {
        let provider = try Self.provider(wanting: "s")
        let upstream = try RawUpstream()
        let directory = try TemporaryDirectory()
        let bearerd = try BearerdProcess(
            configuration: """
                listen: 127.0.0.1:0
                workers: 3
                identities:
                  default:
                    token_endpoint: \(provider.tokenEndpoint)
                    client_id: legacy-app
                    client_secret: s
                    grant_type: client_credentials
                routes:
                  - {upstream: \(upstream.url), identity: default}
                store: {type: memory}
                """, in: directory)
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").status == 200)
        guard let line = bearerd.logLines.first(where: { $0.message == "sandboxed" }) else { return }
        let ports = Set([53, provider.port, upstream.address.port]).sorted().map(String.init)
        #expect(line["version"].flatMap(Int.init) ?? 0 < 4 || line["connect"] == ports.joined(separator: " "))
    }

    @Test func `is not there where commands must run, and that is told`() throws {
        let directory = try TemporaryDirectory()
        let top = "on_state_change: [/bin/true]"
        let sidecar = try Sidecar(directory: directory, .init(top: top))
        let line = try sidecar.bearerd.logLine("the reason") { $0.message == "no sandbox" }
        #expect(line["reason"]?.contains("on_state_change") == true)
        #expect(Self.noNewPrivileges(sidecar.bearerd.process.processID) == ["0"])
        let check = try BearerdProcess.command("check", "-c", directory.path("config.yaml"))
        #expect(check.output.contains("sandbox off: the commands of on_state_change"))
        #expect(sidecar.bearerd.process.isRunning)
    }

    @Test func `or not, nobody of our own user sees the daemon's memory`() throws {
        let directory = try TemporaryDirectory()
        let file = try Sidecar.file(provider: try HostileProvider(), directory: directory)
        // Root sees everything, so root runs it as somebody else.
        var arguments = [BearerdProcess.binary]
        if getuid() == 0 {
            for path in [directory.path, file] { chown(path, 65534, 65534) }
            arguments =
                ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + arguments
            guard try Subprocess.run(arguments + ["--version"]).ending == .exited(0) else { return }
        }
        let user = getuid() == 0 ? 65534 : getuid()
        let bearerd = try Subprocess(arguments + ["run", "-c", file])
        _ = try bearerd.errors.wait(for: "the start") { $0.text.contains("started") ? () : nil }
        let other = try Subprocess(Array(arguments.dropLast()) + ["/bin/sleep", "60"])
        try eventually("the other to run") { Self.owner(of: "/proc/\(other.processID)/mem") == user }
        #expect(Self.owner(of: "/proc/\(bearerd.processID)/mem") == 0)
        #expect(Self.owner(of: "/proc/\(bearerd.processID)/environ") == 0)
    }

    private static func owner(of path: String) -> uid_t? {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_uid : nil
    }
}
