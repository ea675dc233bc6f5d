// SPDX-License-Identifier: Apache-2.0

/// Something that happened to a session, for logs; holds no secret.
public enum SessionEvent: Equatable, Sendable {
    /// The state has changed.
    case stateChanged(from: SessionState, to: SessionState)
    /// A token request begins, without a person.
    case tokenRequestBegan
    /// A token request ended; nil means it brought a token.
    case tokenRequested(GrantType, TokenFailure?)
    /// A source gave the very token once more that a resource server has refused.
    case tokenRepeated(GrantType)
    /// The answer to a refresh token is waited for no longer than for others, and its connection is kept.
    case refreshUnanswered(TokenFailure)
    /// Somebody has sent this generation's refresh token before, and ended without an answer.
    case refreshTokenMayBeSpent(generation: Int)
    /// The server would not exchange a caller's own token, which concerns nobody else.
    case callerRefused(TokenFailure)
    /// A caller's own token could not be exchanged.
    case callerFailed(TokenFailure)
    /// The server was asked for a token that is bound to our key, and made a bearer token, which is used as that.
    case tokenNotBound
    /// A newer session of another process is in use.
    case adopted(generation: Int)
    /// The stored session belongs to another client or server, as the words say; it is kept until a login replaces it.
    case othersSessionFound(String)
    /// Somebody logged in with the first scope, and the second is configured now: it counts with the next login.
    case scopeChanged(from: [String], to: [String])
    /// The store could not do something, which is tried again; the session goes on with what is in memory.
    case storeFailed(StoreOperation, StoreError)
    /// The store can do again what it could not.
    case storeRecovered(StoreOperation)
    /// A resource server answered 401 to the newest token; for a program `route` is the server's origin.
    case authorizationError(route: String, TokenRefusal)
    /// The secret that came with a registration ends soon, or has: register again.
    case clientSecretExpires(WallTime)
}
