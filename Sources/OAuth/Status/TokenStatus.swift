// SPDX-License-Identifier: Apache-2.0

/// What may be shown of one of several access tokens of an identity.
public struct TokenStatus: Equatable, Sendable {
    /// What it is asked for.
    package var target: TokenTarget
    /// One word for how things stand with it.
    public var state: IdentityState
    /// When it expires, if it is there.
    public var expiresAt: WallTime?
    /// When it expires, on the monotonic clock that decides whether it is sent.
    public var expiry: Instant?
    /// The last failure since it came.
    public var lastError: IdentityError?

    /// A status as somebody else told it.
    package init(target: TokenTarget, state: IdentityState, expiresAt: WallTime?, lastError: IdentityError?) {
        self.target = target
        self.state = state
        self.expiresAt = expiresAt
        self.lastError = lastError
    }

    /// The part of `status` that is about the token itself.
    public init(of status: IdentityStatus, asking client: ClientConfiguration) {
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
    public mutating func summarizeTokens() {
        for state in IdentityState.allCases {
            guard let token = tokens.first(where: { $0.state == state }) else { continue }
            self.state = state
            lastError = token.lastError
            return
        }
    }

    /// Whether there is an access token for `target` that can be sent at `now`; nil means the identity's own.
    package func hasUsableToken(for target: TokenTarget?, at now: Instant) -> Bool {
        guard !needsNoToken, let token = tokens.first(where: { $0.target == target }) else {
            return hasUsableToken(at: now)
        }
        return token.expiry.map { now < $0 } ?? false
    }
}
