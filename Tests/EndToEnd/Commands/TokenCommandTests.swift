// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What `bearerd token` prints when the stored token is soon to end, and how long its caller waits.
@Suite(.blocking) struct `The token that the command prints` {
    private let provider: HostileProvider
    private let directory: TemporaryDirectory

    init() throws {
        provider = try HostileProvider()
        directory = try TemporaryDirectory()
    }

    private func configure(_ settings: Sidecar.Settings) throws -> String {
        try Sidecar.file(
            provider: provider, clientSecret: "secret-" + randomText(), directory: directory, settings)
    }

    /// Runs the command until the token that it stored first is due for a refresh.
    ///
    /// - Returns: what the run printed that asked for another one.
    private func printed(with file: String) throws -> String {
        var printed = ""
        let before = provider.requests.count
        try eventually("the margin to begin") {
            let result = try BearerdProcess.command("token", "-c", file)
            #expect(result.exit == 0, "\(result.errors)")
            printed = result.output
            return provider.requests.count > before + 1
        }
        return String(printed.dropLast())
    }

    /// A configuration with an imported session, whose provider does not answer from the `first`th request on.
    private func rotating(silentFrom first: Int) throws -> (file: String, released: Monitor<Bool>) {
        let released = Monitor(false)
        provider.setPolicy { $0.expiresIn = "20" }
        for _ in 1..<first { provider.script({ request, provider in provider.goodAnswer(to: request) }) }
        provider.script { request, provider in
            try released.wait(for: "the release") { $0 ? () : nil }
            return provider.goodAnswer(to: request)
        }
        let file = try configure(
            .init(
                top: "timeouts: {token_wait: 1s, token: 30s}", identity: "refresh_margin: 10s",
                grant: "refresh_token"))
        let token = try directory.write("token", provider.makeRefreshToken() + "\n")
        let result = try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
        #expect(result.exit == 0, "\(result.errors)")
        return (file, released)
    }

    private func awaitRotation(_ count: Int) throws {
        try eventually("the rotated token in the store") {
            let stored = TemporaryDirectory.contents(of: directory.path("store/default.session"))
            guard provider.accessTokens.count == count, let newest = provider.latestRefreshToken else {
                return false
            }
            return String(decoding: stored, as: UTF8.self).contains(newest)
        }
    }

    @Test func `is the next one where that is to be had`() throws {
        provider.setPolicy { $0.expiresIn = "10" }
        let file = try configure(.init(identity: "refresh_margin: 10s"))
        #expect(try printed(with: file) == provider.accessTokens.last)
        #expect(provider.requests.count == 2)
    }

    @Test func `is the old one where the provider fails`() throws {
        provider.script({ _, provider in provider.tokens(expiresIn: "10") })
        provider.always { _, _ in .response(503) }
        let file = try configure(.init(identity: "refresh_margin: 10s"))
        #expect(try printed(with: file) == provider.accessTokens.first)
    }

    @Test func `is the old one while the provider is silent, and the rotation ends behind it`() throws {
        let (file, released) = try rotating(silentFrom: 2)
        // Each run ends while the provider still says nothing, its output closed.
        #expect(try printed(with: file) == provider.accessTokens.first)
        #expect(provider.accessTokens.count == 1)
        released.withLock { $0 = true }
        try awaitRotation(2)
        let next = try BearerdProcess.command("token", "-c", file)
        #expect(next.exit == 0 && next.output == (provider.accessTokens.last ?? "") + "\n")
    }

    @Test func `comes after a silence that a refresh tells of, and ends behind it`() throws {
        let (file, released) = try rotating(silentFrom: 1)
        for command in ["refresh", "userinfo", "token"] {
            let result = try BearerdProcess.command(command, "-c", file)
            // Those that come later find the lock taken.
            let words =
                command == "refresh" ? "\(provider.tokenEndpoint) has not answered within 1 s" : "no token"
            #expect(result.exit == 69 && result.errors.contains(words), "\(command): \(result.errors)")
            #expect(result.output.isEmpty && provider.requests.count == 1)
        }
        released.withLock { $0 = true }
        try awaitRotation(1)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGKILL])
    func `is stored though the command is ended while the provider is silent`(signal: Int32) throws {
        let (file, released) = try rotating(silentFrom: 1)
        let command = try Subprocess([BearerdProcess.binary, "refresh", "-c", file])
        try provider.request(1)
        command.signal(signal)
        #expect(try command.waitForEnd() == .signalled(signal))
        #expect(command.output.withLock { $0.bytes }.isEmpty)
        released.withLock { $0 = true }
        try awaitRotation(1)
        // What did the work is gone then.
        let again = try Subprocess.run([
            "/usr/bin/flock", "--timeout", "20", directory.path("store/default.session.lock"), "/bin/true",
        ])
        #expect(again.ending == .exited(0))
    }

    /// The daemon may be another one's that runs elsewhere, and the port anybody's.
    @Test(arguments: [200, 404])
    func `is had from the provider where another program listens at admin's address`(status: Int) throws {
        let stranger = try RawUpstream { _ in .response(status, [], "hello") }
        var settings = Sidecar.Settings()
        settings.adminListen = "\(stranger.url.dropFirst("http://".count))"
        let file = try configure(settings)
        let refresh = try BearerdProcess.command("refresh", "-c", file)
        #expect(refresh.exit == 0, "\(refresh)")
        let token = try BearerdProcess.command("token", "-c", file)
        #expect(token.exit == 0 && token.output == (provider.accessTokens.last ?? "") + "\n", "\(token)")
    }

    @Test func `leaves no process to whoever adopts orphans`() throws {
        provider.setPolicy { $0.expiresIn = "600" }
        let file = try configure(.init())
        for _ in 0..<5 {
            // In a session of its own, by which all that is left of it is found.
            let result = try Subprocess.run([
                "/bin/sh", "-c", "setsid \"$0\" token -c \"$1\" >/dev/null & wait $!; ps -o pid= -s $!",
                BearerdProcess.binary, file,
            ])
            #expect(result.output.isEmpty, "\(result.output)")
        }
    }
}
