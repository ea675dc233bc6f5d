// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// The keys that an authorization server signs with (`jwks_uri`), fetched when needed and kept for an hour.
///
/// Confined to its session.
final class PublishedKeys {
    private static let longestUse: Duration = .seconds(3600)
    /// A token that no key fits has the keys fetched anew, but after one time in vain not sooner than this.
    private static let refetchInterval: Duration = .seconds(30)

    private var last: JSONWebKeySet?
    private var fetchedAt: Instant?
    /// When they were asked for in vain.
    private var askedAt: Instant?
    /// Whether they are being fetched, and who waits for that.
    private var isFetching = false
    private var waiters: [TokenWaiter<Result<Void, TokenFailure>?>] = []

    /// Whether a token can be judged without asking the server.
    func areAtHand(for token: JWS, at now: Instant) -> Bool {
        guard let last, let fetchedAt, now - fetchedAt < Self.longestUse else { return false }
        return (try? last.verify(token)) != nil
    }

    /// What is wrong with the signature of `token`: nil if it is the server's, by a key that it publishes or has begun to.
    ///
    /// A server that publishes none is believed by its TLS; an unsigned token never is.
    ///
    /// - Throws: ``TokenFailure`` if there is no telling, because the keys cannot be had.
    func flaw(
        in token: JWS, fetchingWith server: some KeyPublisher
    ) async throws(TokenFailure) -> JOSEError? {
        guard JWSAlgorithm.asymmetric.contains(token.algorithm) else { return .algorithmNotAllowed }
        guard !areAtHand(for: token, at: server.clock.now) else { return nil }
        do throws(TokenFailure) {
            guard let url = try await server.keysURL() else { return nil }
            try await refetch(from: url, with: server)
        } catch {
            guard last != nil else { throw error }
        }
        guard let last else { return nil }
        do throws(JOSEError) {
            try last.verify(token)
            askedAt = nil
            return nil
        } catch {
            return error
        }
    }

    /// Fetches them, or waits for who does.
    ///
    /// - Throws: why they could not be fetched, for all who waited; where there are none so far the next call tries
    ///   anew.
    private func refetch(from url: HTTPURL, with server: some KeyPublisher) async throws(TokenFailure) {
        while isFetching {
            if let result = try await fetched(within: server) { return try result.get() }
        }
        let now = server.clock.now
        if let askedAt, now - askedAt < Self.refetchInterval { return try requireKeys(of: url) }
        askedAt = now
        isFetching = true
        let result: Result<JSONWebKeySet, TokenFailure>
        do throws(TokenFailure) {
            result = .success(try await server.fetchKeys(from: url))
        } catch {
            result = .failure(error)
            if last == nil { askedAt = nil }
        }
        if case .success(let keys) = result {
            last = keys
            fetchedAt = now
        }
        isFetching = false
        // Who goes away in the middle says nothing of the server: somebody else fetches.
        let told: Result<Void, TokenFailure>? = Task.isCancelled ? nil : result.map { _ in }
        for waiter in waiters { waiter.wake(with: .success(told)) }
        waiters = []
        _ = try result.get()
    }

    /// Waits for the one fetch; who gives up waiting harms nobody.
    ///
    /// - Returns: what came of it; nil if who made it went away.
    private func fetched(
        within server: some KeyPublisher
    ) async throws(TokenFailure) -> Result<Void, TokenFailure>? {
        let waiter = TokenWaiter<Result<Void, TokenFailure>?>(
            deadline: server.clock.now + server.timeLimit)
        waiters.append(waiter)
        do throws(TokenError) {
            return try await waiter.value()
        } catch {
            throw TokenFailure(
                .transient, .cancelled, detail: "the wait for the provider's keys was given up")
        }
    }

    private func requireKeys(of url: HTTPURL) throws(TokenFailure) {
        guard last == nil else { return }
        throw TokenFailure(
            .transient, .noKeys, detail: "the keys at \(url.place) could not be had just now")
    }
}
