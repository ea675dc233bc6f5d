// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The session after answers, logins and logouts; all of it pure.
extension StoredSession {
    /// The clocks of two machines may differ by so much.
    private static let clockDifference: Duration = .seconds(1)

    /// The session after a successful answer of the token endpoint, and the access token that it brought.
    ///
    /// - Parameters:
    ///   - grant: the token and what came with it.
    ///   - lifetime: of the access token; one of zero is not kept.
    ///   - client: who asked; for a route's own token, aimed at that.
    ///   - request: the digest of what `client` asks for.
    ///   - sentAt: when the request was sent; the lifetime counts from then.
    ///   - wall: the civil clock at that moment.
    ///   - jitter: in 0..<1.
    func renewed(
        by grant: TokenResponse, lasting lifetime: Duration, for client: ClientConfiguration, request: String,
        sentAt: Instant, wall: WallTime, jitter: Double
    ) -> (StoredSession, AccessToken) {
        var next = self
        next.generation += 1
        next.accessTokens.removeAll { $0.expiresAt < wall }
        // A route's own token says nothing of the key that the session's refresh token is bound to.
        next.proofKey = grant.proofKey ?? (client.asksByItself ? proofKey : nil)
        var stored = StoredAccessToken(
            token: grant.accessToken, generation: next.generation, expiresAt: wall + lifetime,
            lifetime: lifetime, request: request, tokenType: grant.tokenType)
        stored.isBound = grant.isBound
        next[request] = lifetime > .zero ? stored : nil
        if !client.asksByItself {
            if let newest = grant.refreshToken {
                next.refreshToken = newest
                next.refreshOrigin = client.grantType.needsPerson ? nil : "\(newest.digest) \(request)"
            }
            if let newest = grant.idToken {
                next.idToken = newest
                next.loginClaims =
                    loginClaims ?? (try? IDToken(parsing: idToken ?? newest)).map(LoginClaims.init)
            }
        }
        if !client.isForRoute {
            next.additionalParameters = additionalParameters.updated(with: grant.additionalParameters)
            next.scope = grant.scope ?? (scope.isEmpty ? client.scope : scope)
        }
        next.refusal = nil
        next.doubtedToken = nil
        next.lastRefresh = wall
        let token = AccessToken(
            grant.accessToken, boundTo: grant.isBound ? grant.proofKey : nil, generation: next.generation,
            subject: next.subject, idToken: next.idToken, end: sentAt + lifetime, lifetime: lifetime,
            margin: client.refreshMargin, jitter: jitter)
        return (next, token)
    }

    /// The session that a login's answer is taken into: only the generation and what was learnt of the server stay.
    func beginning(
        _ client: ClientConfiguration, with grant: TokenResponse, at wall: WallTime
    ) -> StoredSession {
        var fresh = StoredSession(
            identity: identity, generation: generation, binding: client.registered(registration).binding)
        fresh.began = successorBegin(at: wall)
        fresh.basicEncoding = basicEncoding
        fresh.registration = registration
        fresh.earlierImports = refreshToken == nil ? [] : spentImports
        fresh.scope = client.loginScope
        fresh.loginScope = grant.loginScope ?? client.loginScope
        fresh.isLoginScopeOwn = grant.isLoginScopeOwn
        return fresh
    }

    /// This session after a logout.
    ///
    /// It is stored, not removed: its generation tells every other process that theirs has ended.
    func loggedOut(binding: String, at wall: WallTime) -> StoredSession {
        var empty = StoredSession(identity: identity, generation: generation + 1, binding: binding)
        empty.began = successorBegin(at: wall)
        empty.basicEncoding = basicEncoding
        empty.registration = registration
        empty.grantClient = grantClient
        return empty
    }

    /// This session without its access tokens, most of which die with the refresh token, and without that one if it is
    /// forgotten too.
    func withoutTokens(forgettingRefreshToken isForgotten: Bool) -> StoredSession {
        var next = self
        next.generation += 1
        next.accessTokens = []
        if isForgotten {
            next.refreshToken = nil
            next.refusal = nil
        }
        return next
    }

    /// Has access tokens that seem to be from the future have ended: the civil clock was set back while nobody ran who knows
    /// how old they are.
    mutating func expireTokens(ofUnknownAge wall: WallTime) {
        for index in accessTokens.indices
        where accessTokens[index].expiresAt - wall > accessTokens[index].lifetime + Self.clockDifference {
            accessTokens[index].expiresAt = wall
        }
    }

    /// The session of a client that the server has only just made.
    func replaced(
        byClient registration: ClientRegistration, of configured: ClientConfiguration
    ) -> StoredSession {
        var fresh = StoredSession(
            identity: identity, generation: generation + 1,
            binding: configured.registered(registration).binding)
        fresh.registration = registration
        return fresh
    }
}

extension ClientConfiguration {
    /// True if its token comes from a grant of its own, and the session's refresh token is nothing to it: a route's
    /// token, where nobody needs to log in.
    var asksByItself: Bool { isForRoute && !grantType.needsPerson }
}

extension TokenFailure {
    private static let lookAfterDoubts: Duration = .seconds(300)
    /// A store that failed is asked again after this time.
    static let lookAfterTrouble: Duration = .seconds(1)
    /// How many doubtful answers in a row count as final.
    static let doubtsAllowed = 3

    /// How long until the request is made again.
    ///
    /// - Parameters:
    ///   - count: how many failures of this kind there were in a row.
    ///   - doubtfulAnswers: how many doubtful answers since the last success.
    ///   - jitter: in 0..<1.
    func delay(after count: Int, doubtfulAnswers: Int, jitter: Double) -> Duration {
        let wait =
            switch kind {
            case .misconfigured: BackOff.misconfigured.delay(after: count, jitter: jitter)
            case .doubtful where doubtfulAnswers >= Self.doubtsAllowed: Self.lookAfterDoubts
            case .transient where isAboutStore: Self.lookAfterTrouble
            case .final, .doubtful, .transient: BackOff.transient.delay(after: count, jitter: jitter)
            }
        return max(wait, retryAfter ?? .zero)
    }
}
