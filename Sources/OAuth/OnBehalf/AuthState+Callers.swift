// SPDX-License-Identifier: Apache-2.0

/// Identities that have no token of their own: each caller's is exchanged.
extension AuthState {
    /// Why no caller's token is exchanged now; nil if one may be.
    func barrier(toCallersAt now: Instant) -> TokenError? {
        guard let failure, now < failure.retry else { return nil }
        return reason(at: now)
    }

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

    /// An exchange failed for a reason that is every caller's.
    mutating func callerFailed(_ failure: TokenFailure, at now: Instant, wall: WallTime, jitter: Double) {
        let previous = self.failure.flatMap { $0.failure.kind == failure.kind ? $0.count : nil } ?? 0
        let count = min(previous + 1, 1000)
        let backOff: BackOff = failure.kind == .misconfigured ? .misconfigured : .transient
        self.failure = LastFailure(
            failure: failure, count: count,
            retry: now + max(backOff.delay(after: count, jitter: jitter), failure.retryAfter ?? .zero),
            at: wall)
    }

    /// Somebody wants every caller's token to be exchanged anew.
    mutating func callersForgotten() { failure = nil }
}
