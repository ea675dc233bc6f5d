// SPDX-License-Identifier: Apache-2.0

/// Refresh tokens that the server may replace, and does not answer.
extension AuthState {
    /// Whether a renewal is under way that is worth waiting for with a token that can be used.
    var isBeingRenewed: Bool { attempt.map { !$0.isSilent } ?? false }

    /// Whether the server may replace the refresh token that is sent with `grant`, and only a person could get another.
    func mayRotate(_ grant: Grant) -> Bool {
        guard case .refresh = grant else { return false }
        return rotates != false && configuration.grantType.needsPerson
    }

    /// The refresh token that was sent is not answered in time; the attempt goes on.
    ///
    /// - Parameter failure: what people hear of it.
    /// - Returns: whether that is news.
    mutating func refreshIsSilent(with failure: TokenFailure, at now: Instant, wall: WallTime) -> Bool {
        guard attempt?.isSilent == false || self.failure?.failure.kind != failure.kind else { return false }
        attempt?.isSilent = true
        isWithheld = false
        let previous = self.failure.flatMap { $0.failure.kind == failure.kind ? $0.count : nil } ?? 0
        self.failure = LastFailure(failure: failure, count: previous, retry: now, at: wall)
        return true
    }
}
