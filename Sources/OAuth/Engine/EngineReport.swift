// SPDX-License-Identifier: Apache-2.0

/// What an ``IdentityEngine`` tells people; holds no secret.
enum EngineReport: Equatable, Sendable {
    /// A token request is made.
    case tokenRequestBegan
    /// A token request ended; nil means it brought a token.
    case tokenRequested(TokenTarget, TokenFailure?)
    /// An answer came after its time limit, and counts.
    case lateAnswer
    /// A newer session of another process is in use.
    case adopted(generation: Int)
    /// What is stored belongs to another client or server, and is kept until a login replaces it.
    case othersSessionFound
    /// A process that is gone had sent the refresh token, so that it may be spent; it is tried once.
    case refreshTokenMayBeSpent
    /// The store could not do something, which is tried again.
    case storeFailed(StoreOperation, StoreError)
    /// The store can do again what it could not.
    case storeRecovered(StoreOperation)
    /// A route's resource server answered 401 to the newest token.
    case authorizationError(route: String)
    /// The engine stops, and the newest session was never written.
    case sessionLost
}
