// SPDX-License-Identifier: Apache-2.0

/// The status of one access token of an identity that has several, without secrets.
public struct TokenStatus: Equatable, Sendable {
    /// The scope and resource for which the token is requested.
    package var target: TokenTarget
    /// The state of this token.
    public var state: SessionState
    /// The civil time at which the token expires; nil if there is none.
    public var expiresAt: WallTime?
    /// The monotonic time at which the token expires, which decides if it is sent.
    public var expiry: Instant?
    /// The last failure since the token was issued.
    public var lastError: LastError?
    /// True if it can be sent.
    private(set) var isServing = false

    /// A status read from another process's answer.
    package init(target: TokenTarget, state: SessionState, expiresAt: WallTime?, lastError: LastError?) {
        self.target = target
        self.state = state
        self.expiresAt = expiresAt
        self.lastError = lastError
    }

    /// Takes the token's part of an identity's status.
    package init(of status: SessionStatus, asking client: ClientConfiguration) {
        target = client.target
        state = status.state
        expiresAt = status.expiresAt
        expiry = status.expiry
        lastError = status.lastError
        isServing = status.isServing
    }
}

extension SessionStatus {
    /// Sets the state, with what belongs to it, to that of the token whose state comes first in ``SessionState``.
    package mutating func summarizeTokens() {
        for state in SessionState.allCases {
            let those = tokens.filter { $0.state == state }
            let token =
                those.first { !$0.isServing } ?? those.first { $0.lastError?.isFailure ?? false }
                ?? those.first
            guard let token else { continue }
            self.state = state
            (lastError, isServing) = (token.lastError, token.isServing)
            return
        }
    }

    /// Returns true if the identity has an access token for `target` that can be sent at `now`; nil means its
    /// own token.
    package func hasUsableToken(for target: TokenTarget?, at now: Instant) -> Bool {
        guard !needsNoToken, let token = tokens.first(where: { $0.target == target }) else {
            return hasUsableToken(at: now)
        }
        return token.expiry.map { now < $0 } ?? false
    }
}
