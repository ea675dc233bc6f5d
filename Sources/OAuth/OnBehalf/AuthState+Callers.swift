// SPDX-License-Identifier: Apache-2.0

/// Identities that have no token of their own: each caller's is exchanged.
extension AuthState {
    /// An exchange brought a token, which is none of the session's.
    mutating func callerServed(
        _ grant: TokenGrant, to caller: CallerToken, generation: Int, sentAt: Instant
    ) -> AccessTokenSnapshot {
        failure = nil
        let lifetime =
            grant.lifetime ?? min(configuration.defaultLifetime, ClientConfiguration.longestLifetime)
        return AccessToken(
            grant.accessToken, boundTo: grant.isBound ? grant.proofKey : nil, generation: generation,
            subject: caller.subject, end: sentAt + lifetime, lifetime: lifetime, margin: .zero, jitter: 0
        ).snapshot
    }

    /// The provider refused a caller's token, which it does only when it is of use.
    mutating func callerRefused() {
        if failure?.failure.kind == .transient { failure = nil }
    }

    /// Exchanges fail for a reason that is not one caller's own.
    mutating func callersFailed(_ failure: TokenFailure, until retry: Instant, at wall: WallTime) {
        let count = self.failure.map { min($0.count + 1, 1000) } ?? 1
        self.failure = LastFailure(failure: failure, count: count, retry: retry, at: wall)
    }

    /// Somebody wants every caller's token to be exchanged anew.
    mutating func callersForgotten() { failure = nil }
}
