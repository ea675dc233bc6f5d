// SPDX-License-Identifier: Apache-2.0

/// Identities without a token of their own, which exchange each caller's.
extension AuthState {
    /// The access token of a caller, of an exchange's response.
    mutating func callerServed(
        _ response: TokenResponse, to caller: CallerToken, generation: Int, sentAt: Instant
    ) -> AccessTokenSnapshot {
        failure = nil
        let lifetime =
            response.lifetime ?? min(configuration.defaultLifetime, ClientConfiguration.longestLifetime)
        return AccessToken(
            response.accessToken, boundTo: response.isBound ? response.proofKey : nil, generation: generation,
            subject: caller.subject, end: sentAt + lifetime, lifetime: lifetime, margin: .zero, jitter: 0
        ).snapshot
    }

    /// Takes note that the provider refused a caller's token, and so is at work.
    mutating func callerRefused() {
        if failure?.failure.kind == .transient { failure = nil }
    }

    /// Takes note of a failure that concerns more than one caller.
    mutating func callersFailed(_ failure: TokenFailure, until retry: Instant, at wall: WallTime) {
        let count = self.failure.map { min($0.count + 1, 1000) } ?? 1
        self.failure = LastFailure(failure: failure, count: count, retry: retry, at: wall)
    }

    /// Forgets the failure of earlier exchanges.
    mutating func callersForgotten() { failure = nil }
}
