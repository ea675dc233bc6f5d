// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// The keys of an authorization server's signatures (`jwks_uri`), fetched when needed and kept for an hour, or until they can
/// be fetched anew.
///
/// Confined to its session.
final class PublishedKeys {
    private static let longestUse: Duration = .seconds(3600)
    /// The least time between two fetches for tokens that no key fits.
    private static let refetchInterval: Duration = .seconds(30)

    /// How long no fetch follows one that failed while there were no keys.
    private let pauseWithoutKeys: Duration
    /// The last failure, and until when it stands for an attempt; nil after a success.
    private var failure: (error: TokenFailure, end: Instant)?
    private var last: JSONWebKeySet?
    private var fetchedAt: Instant?
    /// When the last fetch began; nil if it brought the key that was looked for.
    private var askedAt: Instant?
    /// True while the keys are being fetched; ``waiters`` wait for that.
    private var isFetching = false
    private var waiters: [OneTimeWaiter<Result<Void, TokenFailure>?>] = []

    init(pausingWithoutKeys pause: Duration = .zero) {
        pauseWithoutKeys = pause
    }

    /// Fetches the keys if there are none yet, and the server publishes some.
    ///
    /// - Throws: ``TokenFailure`` if they cannot be had.
    func prepare(fetchingWith server: some KeyPublisher) async throws(TokenFailure) {
        guard last == nil else { return }
        if try await refetch(with: server) { askedAt = nil }
    }

    /// Returns true if the present keys verify `token`.
    func areAtHand(for token: JWS, at now: Instant) -> Bool {
        guard let last, let fetchedAt, now - fetchedAt < Self.longestUse else { return false }
        return (try? last.verify(token)) != nil
    }

    /// The flaw of a token's signature; nil if it is valid.
    ///
    /// - Parameter isTrusted: true for a token that came straight from the server, whose TLS vouches for it where the
    ///   server publishes no keys (OpenID Connect Core §3.1.3.7, rule 6).
    /// - Throws: ``TokenFailure`` if the keys cannot be had.
    func flaw(
        in token: JWS, fetchingWith server: some KeyPublisher, isTrustedWithoutKeys isTrusted: Bool = true
    ) async throws(TokenFailure) -> JOSEError? {
        guard JWSAlgorithm.asymmetric.contains(token.algorithm) else { return .algorithmNotAllowed }
        guard !areAtHand(for: token, at: server.clock.now) else { return nil }
        var isFetched = false
        do throws(TokenFailure) {
            isFetched = try await refetch(with: server)
        } catch {
            guard last != nil else { throw error }
        }
        guard let last else { return isTrusted ? nil : .noKey }
        do throws(JOSEError) {
            try last.verify(token)
            if isFetched { askedAt = nil }
            return nil
        } catch {
            return error
        }
    }

    /// Fetches the keys, or waits for the fetch under way; does nothing if the server publishes none.
    ///
    /// - Returns: false if the last fetch was so short a time ago that the keys stay as they are.
    /// - Throws: the fetch's failure, for all who waited; without any keys the next call tries again after the pause.
    private func refetch(with server: some KeyPublisher) async throws(TokenFailure) -> Bool {
        while isFetching {
            guard let result = try await fetched() else { continue }
            try result.get()
            return true
        }
        let now = server.clock.now
        if let askedAt, now - askedAt < Self.refetchInterval {
            try requireKeys()
            return false
        }
        if last == nil, let failure, now < failure.end { throw failure.error }
        askedAt = now
        isFetching = true
        let result = await fetch(with: server)
        switch result {
        case .success(let keys?):
            last = keys
            fetchedAt = now
            failure = nil
        case .success(nil):
            askedAt = nil
        case .failure(let error):
            failure = (error, server.clock.now + pauseWithoutKeys)
            if last == nil { askedAt = nil }
        }
        isFetching = false
        // A cancelled fetch says nothing of the server: one of the waiters fetches again.
        let told: Result<Void, TokenFailure>? = Task.isCancelled ? nil : result.map { _ in }
        if Task.isCancelled { failure = nil }
        for waiter in waiters { waiter.wake(with: .success(told)) }
        waiters = []
        _ = try result.get()
        return true
    }

    /// Returns the published keys; nil if the server publishes none.
    private func fetch(with server: some KeyPublisher) async -> Result<JSONWebKeySet?, TokenFailure> {
        do throws(TokenFailure) {
            guard let url = try await server.keysURL() else { return .success(nil) }
            return .success(try await server.fetchKeys(from: url))
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the fetch under way.
    ///
    /// - Returns: its result; nil if its task was cancelled.
    private func fetched() async throws(TokenFailure) -> Result<Void, TokenFailure>? {
        let waiter = OneTimeWaiter<Result<Void, TokenFailure>?>()
        waiters.append(waiter)
        do throws(TokenError) {
            return try await waiter.value()
        } catch {
            throw TokenFailure(
                .transient, .cancelled, detail: "the wait for the provider's keys was given up")
        }
    }

    private func requireKeys() throws(TokenFailure) {
        guard last == nil else { return }
        throw TokenFailure(.transient, .noKeys, detail: "the provider's keys could not be had just now")
    }
}

/// The server that ``PublishedKeys`` asks for keys.
protocol KeyPublisher: AnyObject {
    var clock: any SessionClock { get }

    /// The `jwks_uri`; nil if no keys are published.
    func keysURL() async throws(TokenFailure) -> HTTPURL?

    func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet
}
