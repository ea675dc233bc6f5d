// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// ID tokens of refreshes.
extension AuthSession {
    /// The newest ID token; nil if there never was one.
    package var idToken: Secret? { state.session.idToken }

    /// Returns true if a response has an ID token to validate.
    ///
    /// Its refresh token, which may be the only one that works, is stored first if validation needs the server's keys.
    func needsJudgement(
        _ outcome: TokenRequestResult, over place: Result<HeldSession, StoreError>
    ) async -> Bool {
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

    /// The result, or a failure if its ID token is not valid for this session.
    func judge(_ outcome: TokenRequestResult, previous: IDToken?) async -> TokenRequestResult {
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
    /// Returns true if validating a token may need a request for keys.
    fileprivate func mayAskForKeys(of idToken: Secret) -> Bool {
        guard let token = try? IDToken(parsing: idToken) else { return false }
        return !JWSAlgorithm.symmetric.contains(token.signed.algorithm)
            && !publishedKeys.areAtHand(for: token.signed, at: clock.now)
    }
}
