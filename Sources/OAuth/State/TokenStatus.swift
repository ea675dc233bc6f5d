// SPDX-License-Identifier: Apache-2.0

/// What may be shown of one of several access tokens of an identity.
package struct TokenStatus: Equatable, Sendable {
    /// What it is asked for.
    package var target: TokenTarget
    package var state: IdentityState
    package var expiresAt: WallTime?
    /// The same on the clock that judges it.
    package var expiry: Instant?
    package var lastError: IdentityError?

    /// The part of `status` that is about the token itself.
    package init(of status: IdentityStatus, asking client: ClientConfiguration) {
        target = client.target
        state = status.state
        expiresAt = status.expiresAt
        expiry = status.expiry
        lastError = status.lastError
    }
}

extension IdentityStatus {
    /// Makes the status one of all its ``tokens``: the first state that applies to one of them, with its error, the
    /// newest generation and refresh stay.
    package mutating func summarizeTokens() {
        for state in IdentityState.allCases {
            guard let token = tokens.first(where: { $0.state == state }) else { continue }
            self.state = state
            lastError = token.lastError
            return
        }
    }

    /// Whether there is an access token for `target` that can be sent at `now`; nil means the identity's own.
    package func hasUsableToken(for target: TokenTarget?, at now: Instant) -> Bool {
        guard let token = tokens.first(where: { $0.target == target }) else { return hasUsableToken(at: now) }
        return token.expiry.map { now < $0 } ?? false
    }
}
