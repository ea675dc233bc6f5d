// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Tokens that have not expired, for the length of one call.
public struct FreshTokens: Sendable {
    /// For `Authorization: Bearer …`, unless it ``isBound``.
    public let accessToken: String
    /// True if the token is bound to a key of the session (RFC 9449), so that each request needs a proof: by itself it is of
    /// no use, and `AuthSession.authorized` makes the request.
    public let isBound: Bool
    /// The ID token of the session, if the authorization server sent one; it may have expired, for it says who logged in, and
    /// is no credential.
    public let idToken: String?
    /// The access token is of no use from here on.
    public let expiry: Instant
}

extension FreshTokens: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[tokens]" }
}

extension AuthSession {
    /// Calls `body` with tokens that have not expired: at once if they are not due for a refresh, else after the one
    /// in flight; if that fails or takes too long, with those that there are while they last.
    ///
    /// However many call at once, there is one refresh, and what it brought is stored before anybody gets it.
    ///
    /// - Parameters:
    ///   - limit: how long a refresh is waited for.
    ///   - body: makes the request that needs a token.
    /// - Returns: what `body` returns.
    /// - Throws: ``TokenError`` if there is no token in time, else what `body` throws.
    public nonisolated func withFreshTokens<Value>(
        waitingAtMost limit: Duration = .seconds(10), _ body: (FreshTokens) async throws -> Value
    ) async throws -> Value {
        try await body(try await freshTokens(waitingAtMost: limit))
    }

    /// A token that has not expired; where it is due for renewal, the one that the renewal in flight brings.
    ///
    /// A caller that takes a token away should not get one that is about to end. Cancelling the caller ends its wait, never the
    /// renewal.
    ///
    /// - Throws: ``TokenError`` at the latest after `limit`, if the token that there was has expired too.
    package func renewedToken(
        waitingAtMost limit: Duration = .seconds(10)
    ) async throws(TokenError) -> AccessTokenSnapshot {
        try await token(waitingAtMost: limit, isRenewed: true)
    }

    private func freshTokens(waitingAtMost limit: Duration) async throws(TokenError) -> FreshTokens {
        let access = try await renewedToken(waitingAtMost: limit)
        return FreshTokens(
            accessToken: access.token.withPlaintext { $0 },
            isBound: access.binding != nil,
            idToken: access.idToken?.withPlaintext { $0 },
            expiry: access.expiry)
    }
}
