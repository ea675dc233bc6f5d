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

    /// The provider refused a caller's token, which it does only when it is of use.
    mutating func callerRefused() {
        if failure?.failure.kind == .transient { failure = nil }
    }

    /// An exchange failed for a reason that is every caller's.
    ///
    /// - Parameter isNews: whether the back-off doubles for it: a hundred requests that fail together are one failure, and
    ///   so is one caller's request that fails a hundred times.
    mutating func callerFailed(
        _ failure: TokenFailure, isNews: Bool, at now: Instant, wall: WallTime, jitter: Double
    ) {
        let previous = self.failure.flatMap { $0.failure.kind == failure.kind ? $0 : nil }
        let count = min(max((previous?.count ?? 0) + (isNews ? 1 : 0), 1), 1000)
        let retry =
            now + max(failure.backOff.delay(after: count, jitter: jitter), failure.retryAfter ?? .zero)
        self.failure = LastFailure(
            failure: failure, count: count, retry: max(retry, previous?.retry ?? retry), at: wall)
    }

    /// Somebody wants every caller's token to be exchanged anew.
    mutating func callersForgotten() { failure = nil }
}
