// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// Daemons that share one session through Redis, and a provider that takes a refresh token's second use for a theft.
final class Fleet: Sendable {
    let redis: RedisProcess
    let provider: HostileProvider
    let upstream: RawUpstream
    private let secret: String
    private let key = (0..<64).map { _ in "0123456789abcdef".randomElement() ?? "0" }.map(String.init)
        .joined()
    private let place: String
    private let top: String
    private let identity: String

    /// - Parameters:
    ///   - place: lines of the section `store` that say where Redis is; its socket if they are not given.
    ///   - isBrief: whether a lease lives for 6 s.
    ///   - secretEnd: the end of the client's secret.
    ///   - identity: lines of the identity of each daemon.
    init(
        _ redis: RedisProcess? = nil, at place: String? = nil, isBrief: Bool = false, secretEnd: String = "",
        provider: HostileProvider? = nil, identity: String = ""
    ) throws {
        self.identity = identity
        secret = "secret-" + randomText() + secretEnd
        let redis = try redis ?? RedisProcess()
        self.redis = redis
        top = isBrief ? "timeouts:\n  token: 1s" : ""
        self.place = place ?? "url: \(redis.url)"
        self.provider = try provider ?? HostileProvider()
        upstream = try RawUpstream()
    }

    /// The section `store` of each.
    func store(at place: String? = nil) -> String {
        "type: redis\nencryption_key: \(key)\n" + (place ?? self.place)
    }

    /// One more daemon.
    func daemon(
        at place: String? = nil, grant: String = "refresh_token", identity: String = "",
        directory: TemporaryDirectory? = nil
    ) throws -> Sidecar {
        try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret,
            .init(
                top: top, identity: self.identity + "\n" + identity, store: store(at: place), grant: grant))
    }

    /// Daemons with one session, which was imported by one of them; none of them wants anything by itself.
    func daemons(_ count: Int) throws -> [Sidecar] {
        let daemons = try (0..<count).map { _ in try daemon() }
        try daemons[0].importSession()
        for daemon in daemons { try daemon.awaitToken() }
        for daemon in daemons {
            try awaitAgreement(of: daemons)
            try rotate(by: daemon)
        }
        try awaitAgreement(of: daemons)
        return daemons
    }

    /// Has `daemon` ask the provider.
    ///
    /// One that still waits for the lock, though another has been faster, is content with what that one brought: who asks
    /// then is told of that.
    private func rotate(by daemon: Sidecar) throws {
        let before = provider.requests.count
        try eventually("a rotation by this one") {
            try daemon.act("refresh").status < 300 && provider.requests.count > before
        }
    }

    /// Waits until all have the newest token: one that lags would adopt it where a test wants it to ask.
    func awaitAgreement(of daemons: [Sidecar]) throws {
        try eventually("all to have the newest token") {
            Set(try daemons.map { try $0.identityStatus()["generation"].number }).count == 1
        }
    }

    /// Runs a command with a configuration that has no daemon.
    func command(
        _ words: [String], at place: String? = nil
    ) throws -> (exit: Int32, output: String, errors: String) {
        let directory = try TemporaryDirectory()
        let file = try Sidecar.file(
            provider: provider, upstream: upstream.url, clientSecret: secret, directory: directory,
            .init(store: store(at: place), grant: "refresh_token"))
        let done = try Subprocess.run([BearerdProcess.binary] + words + ["-c", file])
        guard case .exited(let code) = done.ending else { throw WireError("\(words) \(done.ending)") }
        return (code, done.output, done.errors)
    }

    /// The refresh tokens that the provider was shown.
    var shown: [String] { provider.requests.compactMap { $0["refresh_token"] } }
}
