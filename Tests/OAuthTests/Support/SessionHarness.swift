// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdSystem
import Synchronization

@testable import OAuth

/// A session on a thread of its own, with everything around it in the test's hand.
final class SessionHarness: Sendable {
    let clock: ManualClock
    let journal: Journal
    let server: FakeServer
    let store: FakeStore
    let secret = FakeSecret()
    let session: AuthSession
    private let executor: ThreadExecutor
    private let isAlone: Bool

    /// - Parameter isBeside: whether it is a session of the same identity as `other`.
    init(
        grantType: GrantType = .clientCredentials, sharing other: SessionHarness? = nil,
        isBeside: Bool = false, family: SessionFamily = SessionFamily(),
        credentials: (any CredentialSource)? = nil,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: grantType)
        configuration.endpoints[.token] = HTTPURL("https://sso.example/token")
        configure(&configuration)
        clock = other?.clock ?? ManualClock()
        isAlone = !isBeside
        journal = isBeside ? other?.journal ?? Journal() : Journal()
        executor = isBeside ? other?.executor ?? Self.makeExecutor() : Self.makeExecutor()
        server = other?.server ?? FakeServer(journal: journal)
        store = other?.store ?? FakeStore(journal: journal)
        if isBeside, let other {
            session = AuthSession(
                configuration: configuration, beside: other.session, transport: server, credentials: secret)
            return
        }
        session = AuthSession(
            configuration: configuration, executor: executor, clock: clock, transport: server, store: store,
            credentials: credentials ?? secret, observer: journal, family: family, random: { 0 })
    }

    private static func makeExecutor() -> ThreadExecutor {
        do {
            return try ThreadExecutor(named: "session")
        } catch {
            preconditionFailure("a test needs a thread: \(error)")
        }
    }

    /// Runs `body` with a session that holds an imported refresh token, or none, and is stopped in the end.
    func run(_ refreshToken: String? = nil, _ body: () async throws -> Void) async throws {
        if let refreshToken { store.replace(with: stored(1, refreshToken: refreshToken)) }
        await session.start()
        await settle()
        do { try await body() } catch {
            await end()
            throw error
        }
        await end()
    }

    private func end() async {
        await session.stop()
        if isAlone { executor.stop() }
    }

    /// Lets everything happen that can happen at this moment, however long that takes: until nothing but the clock and held
    /// requests makes anybody wait, so that every other thread sleeps.
    func settle() async {
        for _ in 0..<2 {
            // What is queued for the pool's threads, of which this is one, begins before this goes on.
            await Task.yield()
            OtherThreads.waitUntilIdle()
        }
    }

    func pass(_ duration: Duration) async {
        clock.advance(by: duration)
        await settle()
    }

    /// A session that another process stored.
    func stored(_ generation: Int, accessToken: String? = nil, refreshToken: String) -> StoredSession {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: .refreshToken)
        configuration.endpoints[.token] = HTTPURL("https://sso.example/token")
        var stored = StoredSession(
            identity: "default", generation: generation, binding: configuration.binding)
        stored.refreshToken = Secret(refreshToken)
        stored.lastRefresh = clock.wallNow
        stored.accessToken = accessToken.map {
            StoredAccessToken(
                token: Secret($0), generation: generation, expiresAt: clock.wallNow + .seconds(300),
                lifetime: .seconds(300), request: configuration.requestDigest)
        }
        return stored
    }

    /// Whether it keeps the store's lock from other processes.
    var keepsLock: Bool {
        get async { if case .holding = await session.engine.phase { true } else { false } }
    }

    /// What the hot path sees.
    var token: String? { session.slot.current?.token.withPlaintext { $0 } }

    /// What a request gets that waits ten seconds at most.
    func request() async throws(TokenError) -> String {
        try await session.freshToken(waitingAtMost: .seconds(10)).token.withPlaintext { $0 }
    }
}

/// A client secret that a test can change.
final class FakeSecret: CredentialSource {
    private let text = Mutex<String?>(nil)

    func set(_ new: String?) { text.withLock { $0 = new } }

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        text.withLock { $0.map { Secret($0) } }
    }
}
