// SPDX-License-Identifier: Apache-2.0

/// Tokens that resource servers refuse or accept.
extension AuthSession {
    /// Reports that a resource server refused a token.
    ///
    /// - Returns: a token for one more request; nil if the response is to go through.
    package func accessTokenRejected(
        _ rejection: TokenRejection, waitingAtMost limit: Duration
    ) async -> AccessTokenSnapshot? {
        if state.isNews(rejection) {
            report(
                .authorizationError(
                    route: rejection.route,
                    TokenRefusal(rejection.challenges, to: state.access?.snapshot)))
        }
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

    /// Reports that a resource server accepted a token; needed while ``TokenSlot/isWatched``, and for repeated requests.
    package func accessTokenAccepted(generation: Int, route: String, isReplayed: Bool = false) {
        state.tokenAccepted(generation: generation, route: route, isReplayed: isReplayed)
        advance()
    }
}
