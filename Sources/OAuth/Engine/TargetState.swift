// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// What is known of the access token for one ``TokenTarget``.
struct TargetState: Sendable {
    /// The client that asks, aimed at the target.
    var client: ClientConfiguration
    /// The digest of what is asked for: finds the token in a stored session.
    let request: String

    /// The token in use; it may have expired.
    var access: AccessToken?
    /// What an answer has brought, until it is written or that has failed: nothing is used before.
    var pending: AccessToken?
    /// Whether the token in use ends as soon as the login that replaces its session is written, or cannot be.
    var isEnding = false
    /// The last lifetime that the provider told, for answers that tell none.
    var knownLifetime: Duration?
    /// The last failure since the last success.
    var failure: AuthState.LastFailure?
    /// Doubtful answers since the last success.
    var doubts = 0
    /// How many attempts have ended, whatever they brought.
    var endedAttempts = 0

    /// Somebody asked for a refresh: the next attempt waits for nothing and minds no final answer.
    var isAskedFor = false
    /// A token newer than this generation is wanted, whatever the present one's expiry.
    var demand: Int?
    /// Access tokens up to this generation are never used again.
    var invalidated = 0

    /// The generation of the newest token, if a resource server answered 401 to it.
    var unauthorized: Int?
    /// Routes that forced a refresh not long ago, or may not yet.
    var holdOffs: [String: HoldOff] = [:]
    /// Whether the next request asks for a renewal before it gets a token, though that has not expired.
    var isWithheld = false

    /// What requests use without asking, as the driver was last told.
    var published: AccessTokenSnapshot?

    init(_ client: ClientConfiguration) {
        self.client = client
        request = client.requestDigest
    }

    /// The token, if it may be sent.
    func usable(at now: Instant) -> AccessTokenSnapshot? {
        access.flatMap { $0.isUsable(at: now) ? $0.snapshot : nil }
    }

    /// A newer access token takes the old one's place, and with it goes all that was held against that.
    mutating func use(_ token: AccessToken) {
        access = token
        pending = nil
        isEnding = false
        failure = nil
        doubts = 0
        isAskedFor = false
        demand = nil
        unauthorized = nil
        isWithheld = false
        for route in holdOffs.keys { holdOffs[route]?.renewed(to: token.snapshot.generation) }
    }

    /// The session that the token belongs to has ended.
    mutating func forget(upTo generation: Int) {
        invalidated = max(invalidated, generation)
        access = nil
        pending = nil
        isEnding = false
        failure = nil
        doubts = 0
        isAskedFor = false
        demand = nil
        unauthorized = nil
        isWithheld = false
    }

    /// An attempt brought no token.
    mutating func failed(_ failure: TokenFailure, at moment: Moment, endingAttempt isEnd: Bool = true) {
        if failure.kind == .doubtful { doubts += 1 }
        let previous = self.failure.flatMap { $0.failure.kind == failure.kind ? $0.count : nil } ?? 0
        let count = min(previous + 1, 1000)
        let wait = failure.delay(after: count, doubts: doubts, jitter: moment.jitter)
        self.failure = AuthState.LastFailure(
            failure: failure, count: count, retry: moment.now + wait, at: moment.wall)
        isAskedFor = false
        isWithheld = false
        if isEnd { endedAttempts += 1 }
    }

    /// Takes over what a newer session of another process holds for this target.
    mutating func adopt(_ stored: inout StoredSession, at moment: Moment) {
        pending = nil
        isEnding = false
        guard let token = stored[request] else {
            access = nil  // somebody wants it never to be used again
            return
        }
        guard token.generation != access?.snapshot.generation else { return }
        guard token.generation > invalidated else {
            stored[request] = nil
            return
        }
        guard !token.isBound || stored.proofKey != nil else {
            access = nil
            return
        }
        knownLifetime = token.lifetime
        // A civil clock that was set back must not make the token live longer than it ever did.
        let remaining = min(token.expiresAt - moment.wall, token.lifetime)
        use(
            AccessToken(
                token.token, boundTo: token.isBound ? stored.proofKey : nil, generation: token.generation,
                subject: stored.subject, end: moment.now + remaining, lifetime: token.lifetime,
                margin: client.refreshMargin, jitter: moment.jitter))
    }
}
