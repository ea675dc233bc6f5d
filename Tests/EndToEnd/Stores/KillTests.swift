// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Rotation of refresh tokens against SIGKILL and against each other.
///
/// `make soak` runs these for longer.
@Suite(.blocking) struct `A session on a provider that takes no refresh token twice` {
    private let provider: HostileProvider
    private let directory: TemporaryDirectory

    init() throws {
        provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        directory = try TemporaryDirectory()
    }

    private func configure(_ upstream: String = "http://127.0.0.1:1") throws {
        try Sidecar.file(
            provider: provider, upstream: upstream, clientSecret: "s", directory: directory,
            .init(grant: "refresh_token"))
    }

    private func command(_ words: String...) throws -> Int32 {
        try Subprocess.run([BearerdProcess.binary] + words + ["-c", directory.path("config.yaml")]).ending
            .code
    }

    /// Somebody logs in.
    private func begin() throws {
        let token = try directory.write("token", provider.makeRefreshToken())
        #expect(try command("import", "--refresh-token", token) == 0)
    }

    @Test(.enabled(if: TracedProcess.isPossible, "the kernel lets nobody trace here"))
    func `survives a kill before each system call of a rotation, unless the answer was not stored yet`()
        throws
    {
        try configure()
        for _ in 0..<Soak.factor {
            try begin()
            var survived = 0
            var finished = 0
            var call = 0
            var wasKilled = true
            while wasKilled {
                call += 1
                let before = provider.requests.count
                wasKilled = try TracedProcess.kill(
                    [BearerdProcess.binary, "refresh", "-c", directory.path("config.yaml")], atCall: call)
                let newest = provider.latestRefreshToken
                // Written whole, and without its name.
                let left = TemporaryDirectory.contents(of: directory.path("store/default.session.new"))
                let isWritten = wasKilled && String(decoding: left, as: UTF8.self).contains(newest ?? "-")
                let sent = provider.requests.count
                var code = try command("refresh")
                // Who finds a newer session than there was is content with that.
                if isWritten, provider.requests.count == sent { code = try command("refresh") }
                let shown = provider.requests.dropFirst(before).compactMap { $0["refresh_token"] }
                let last = try #require(shown.last)
                if !wasKilled || isWritten {
                    #expect(last == newest, "what was stored is used, call \(call)")
                }
                if isWritten { finished += 1 }
                guard shown.dropLast().contains(last) else {
                    #expect(code == 0, "call \(call)")
                    survived += 1
                    continue
                }
                // Sent, and not stored: nobody can know what the provider made of it. It took the token for stolen.
                #expect(wasKilled && code != 0, "call \(call)")
                try begin()
            }
            #expect(call > 20 && survived > call / 2, "\(survived) of \(call)")
            #expect(finished > 0, "there are calls between the writing and the renaming")
            let names = TemporaryDirectory.entries(of: directory.path("store"))
            #expect(!names.contains { $0.contains("damaged") }, "\(names)")
        }
    }

    @Test func `is shared by two daemons and many commands under load, and nothing is lost`() throws {
        provider.setPolicy { $0.expiresIn = "1" }
        let upstream = try RawUpstream()
        try configure(upstream.url)
        try begin()
        let daemons = try (0..<2).map { _ in
            try Sidecar(
                provider: provider, upstream: upstream, directory: directory, clientSecret: "s",
                .init(grant: "refresh_token"))
        }
        for daemon in daemons { try daemon.awaitToken() }
        let length = Duration.seconds(6 * Soak.factor)
        let end = ContinuousClock.now + length
        let clients = daemons.map { daemon in
            Background { () -> [Int] in
                var statuses: [Int] = []
                while ContinuousClock.now < end { statuses.append(try daemon.get().status) }
                return statuses
            }
        }
        let commands = ["token", "refresh", "status"].map { word in
            Background { () -> [Int32] in
                var codes: [Int32] = []
                while ContinuousClock.now < end { codes.append(try self.command(word)) }
                return codes
            }
        }
        for client in clients {
            let statuses = try client.value(within: length + patience)
            #expect(
                statuses.count > 10 && statuses.allSatisfy { $0 == 200 }, "\(statuses.filter { $0 != 200 })")
        }
        for command in commands {
            let codes = try command.value(within: length + patience)
            #expect(codes.count > 3 && codes.allSatisfy { $0 == 0 }, "\(codes.filter { $0 != 0 })")
        }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(shown.count > 10 && Set(shown).count == shown.count, "each refresh token once")
        for daemon in daemons { #expect(try daemon.get().status == 200) }
    }
}

extension Subprocess.Termination {
    fileprivate var code: Int32 {
        switch self {
        case .exited(let code): code
        case .signalled(let number): -number
        }
    }
}
