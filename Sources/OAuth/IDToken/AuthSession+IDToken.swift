// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// ID tokens of refreshes.
extension AuthSession {
    /// The newest ID token; nil if there never was one.
    package var idToken: Secret? { engine.told.session.idToken }

    /// The result, or a failure if its ID token is not valid for the session that was refreshed.
    func judge(_ outcome: TokenRequestResult, of refreshed: StoredSession) async -> TokenRequestResult {
        guard case .success(let grant) = outcome.result else { return outcome }
        var outcome = outcome
        let previous = refreshed.idToken.flatMap { try? IDToken(parsing: $0) }
        do throws(TokenFailure) {
            try await server.judgeIDToken(
                of: grant, .refresh(previous: previous, login: refreshed.loginClaims))
        } catch {
            outcome.result = .failure(error)
        }
        return outcome
    }
}

extension AuthorizationServer {
    /// Returns true if validating a token may need a request for keys.
    func mayAskForKeys(of idToken: Secret) -> Bool {
        guard let token = try? IDToken(parsing: idToken) else { return false }
        return !JWSAlgorithm.symmetric.contains(token.signed.algorithm)
            && !publishedKeys.areAtHand(for: token.signed, at: clock.now)
    }
}
