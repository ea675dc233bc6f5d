// SPDX-License-Identifier: Apache-2.0

/// What resource servers think of a token.
extension AuthSession {
    /// A resource server refused a token.
    ///
    /// - Returns: another token to send the request with once more; nil if the answer is to go through.
    package func accessTokenRejected(
        _ rejection: TokenRejection, waitingAtMost limit: Duration
    ) async -> AccessTokenSnapshot? {
        if state.isNews(rejection) { report(.authorizationError(route: rejection.route)) }
        var verdict = state.tokenRejected(rejection, at: clock.now)
        advance()
        let deadline = clock.now + limit
        while case .wait = verdict, state.attempt != nil {
            guard await attemptEnd(by: deadline) else { return nil }
            verdict = state.verdict(on: rejection, at: clock.now)
        }
        switch verdict {
        case .replay(let snapshot): return snapshot
        case .pass, .wait: return nil
        }
    }

    /// A resource server took a token; needs to be told only while ``TokenSlot/isWatched``, and of requests that it had
    /// refused with another token.
    package func accessTokenAccepted(generation: Int, route: String, isReplayed: Bool = false) {
        state.tokenAccepted(generation: generation, route: route, isReplayed: isReplayed)
        advance()
    }
}
