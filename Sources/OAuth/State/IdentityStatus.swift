// SPDX-License-Identifier: Apache-2.0

/// What may be shown of an identity: no secret, everything else.
package struct IdentityStatus: Equatable, Sendable {
    /// The key under `identities` in the configuration.
    package var name: String
    package var state: IdentityState
    /// Counts every stored change of the identity, across processes and restarts.
    package var generation: Int
    /// When the present access token expires, if there is one, expired or not.
    package var expiresAt: WallTime?
    /// The same on the clock that judges it.
    package var expiry: Instant?
    /// How long the present access token was good for when it came.
    package var lifetime: Duration?
    /// Scope tokens granted, or asked for where the answer named none.
    package var scope: [String]
    /// When a token request last succeeded, in any process that shares the store.
    package var lastRefresh: WallTime?
    /// The last failure since then.
    package var lastError: IdentityError?
    /// Each access token, where routes ask for their own; else empty.
    package var tokens: [TokenStatus] = []

    /// Whether the identity has an access token that can be sent at `now`.
    package func hasUsableToken(at now: Instant) -> Bool {
        guard let expiry else { return false }
        return now < expiry
    }
}
