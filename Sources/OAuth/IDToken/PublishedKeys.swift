// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes

/// The keys that an authorization server signs with (`jwks_uri`), fetched when needed and kept for an hour.
///
/// Confined to its session.
final class PublishedKeys {
    /// Why a signature could not be believed.
    enum Failure: Error {
        /// It is not the server's.
        case token(JOSEError)
        /// There is no telling: the keys cannot be had.
        case noKeys(TokenFailure)
    }

    private static let longestUse: Duration = .seconds(3600)
    /// A token that no key fits has the keys fetched anew, but after one time in vain not sooner than this.
    private static let refetchInterval: Duration = .seconds(30)

    private var last: JSONWebKeySet?
    private var fetchedAt: Instant?
    /// When they were asked for in vain.
    private var askedAt: Instant?

    /// Whether a token can be judged without asking the server.
    func areAtHand(for token: JWS, at now: Instant) -> Bool {
        guard let last, let fetchedAt, now - fetchedAt < Self.longestUse else { return false }
        return (try? last.verify(token)) != nil
    }

    /// Checks that the server signed `token`, with a key that it publishes or has begun to.
    ///
    /// A server that publishes none is believed by its TLS; an unsigned token never is.
    func verify(_ token: JWS, fetchingWith server: AuthorizationServer) async throws(Failure) {
        guard JWSAlgorithm.asymmetric.contains(token.algorithm) else { throw .token(.algorithmNotAllowed) }
        guard !areAtHand(for: token, at: server.clock.now) else { return }
        do throws(TokenFailure) {
            guard let url = try await server.keysURL() else { return }
            try await refetch(from: url, with: server)
        } catch {
            guard last != nil else { throw .noKeys(error) }
        }
        guard let last else { return }
        do throws(JOSEError) {
            try last.verify(token)
            askedAt = nil
        } catch {
            throw .token(error)
        }
    }

    private func refetch(from url: HTTPURL, with server: AuthorizationServer) async throws(TokenFailure) {
        let now = server.clock.now
        if let askedAt, now - askedAt < Self.refetchInterval { return try requireKeys() }
        askedAt = now
        last = try await server.fetchKeys(from: url)
        fetchedAt = now
    }

    private func requireKeys() throws(TokenFailure) {
        guard last == nil else { return }
        throw TokenFailure(
            .transient, code: "no_keys", detail: "the provider's keys could not be had just now")
    }
}

extension AuthorizationServer {
    fileprivate func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet {
        var request = ProviderRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.accept, "application/json")
        let response = try await send(request)
        guard response.status == 200, let keys = try? JSONWebKeySet(parsing: response.body) else {
            throw TokenFailure(
                .transient, code: "no_keys",
                detail: "what \(url) answers (\(response.status)) is no set of keys")
        }
        return keys
    }
}
