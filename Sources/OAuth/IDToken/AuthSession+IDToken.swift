// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// The id tokens that come with refreshes.
extension AuthSession {
    /// The newest id token, if the provider ever sent one.
    package var idToken: Secret? { state.session.idToken }

    /// Whether an answer has an id token to be judged.
    ///
    /// A refresh token that came along is stored before the provider is asked for keys: it may be the only one that
    /// works.
    func needsJudgement(_ outcome: TokenOutcome, over place: Result<HeldSession, StoreError>) async -> Bool {
        guard case .success(let grant) = outcome.result, let idToken = grant.idToken,
            state.configuration.grantType.needsPerson
        else { return false }
        if server.mayAskForKeys(of: idToken), let session = state.rotated(to: grant.refreshToken),
            await saving(session, over: place) == nil
        {
            state.saved(session)
        }
        return true
    }

    /// Makes a failure of an answer whose id token is not the one of the session that a person began.
    func judge(_ outcome: TokenOutcome, previous: IDToken?) async -> TokenOutcome {
        guard case .success(let grant) = outcome.result else { return outcome }
        var outcome = outcome
        do throws(TokenFailure) {
            try await server.judgeIDToken(of: grant, .refresh(previous: previous))
        } catch {
            outcome.result = .failure(error)
        }
        return outcome
    }
}

extension AuthorizationServer {
    /// Whether judging a token needs something that only the server has.
    fileprivate func mayAskForKeys(of idToken: Secret) -> Bool {
        guard let token = try? IDToken(parsing: idToken) else { return false }
        return !JWSAlgorithm.symmetric.contains(token.signed.algorithm)
            && !publishedKeys.areAtHand(for: token.signed, at: clock.now)
    }
}
