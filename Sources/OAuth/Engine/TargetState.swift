// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The state of the access token for one scope, audience or resource.
struct TargetState: Sendable {
    /// The client as configured, aimed at the target.
    let configured: ClientConfiguration
    /// The client that asks: the registered one if there is one.
    var client: ClientConfiguration
    /// The digest of what is asked for: finds the token in a stored session.
    let request: String

    /// The token in use; it may have expired.
    var access: AccessToken?
    /// The token of an answer, until it is written or that has failed: it is not used before.
    var pending: AccessToken?
    /// True if the token in use ends as soon as the login that replaces its session is written, or cannot be.
    var isEnding = false
    /// The last lifetime that the authorization server told, for answers that tell none.
    var knownLifetime: Duration?
    /// The attempt to get a token, from the moment at which it is due.
    var attempt: Attempt?
    /// The last failure since the last success.
    var failure: LastFailure?
    /// Doubtful answers since the last success.
    var doubtfulAnswers = 0
    /// Counts the ends of attempts, and the times that one turned out to take long, for those who wait.
    var endedAttempts = 0
    /// True if the last of them brought no token.
    var hasFailed = false

    /// Somebody asked for a refresh: the next attempt waits for nothing and minds no final answer.
    var isAskedFor = false
    /// The parameters of the next request beside those that all have.
    var additions = TokenAdditions()
    /// The number of the additions that were sent last.
    var sentAdditions = 0
    /// A token newer than this generation is wanted, whatever the present one's expiry.
    var demand: Int?
    /// Access tokens up to this generation are never used again.
    var invalidated = 0

    /// The generation of the newest token, if a resource server answered 401 to it.
    var unauthorized: Int?
    /// The words with which a resource server last refused a token.
    var refusal: TokenRefusal?
    /// The route on which that was: its path, or for a program its origin.
    var refusingRoute = ""
    /// Routes that forced a refresh not long ago, or may not yet.
    var holdOffs: [String: HoldOff] = [:]
    /// True if the next request asks for a renewal before it gets a token, though that has not expired.
    var isWithheld = false

    /// True if it is to end, and asks for tokens only where somebody waits for one.
    var isLeaving = false
    /// True if somebody has waited for a token since ``isLeaving`` was set.
    var isAwaited = false

    /// The token that requests use without asking, as the driver was last told.
    var published: AccessTokenSnapshot?

    /// One attempt, from the moment at which it is due to the end of storing its answer.
    struct Attempt: Sendable {
        /// The session's generation when it began: a later token makes the request needless.
        let generation: Int
        /// True if the refresh token was refused before, and somebody has asked all the same.
        let wasRefused: Bool
        /// True if the request was made again because its answer was lost.
        var isRepeated = false
        /// True if the answer takes so long that callers with a usable token no longer wait for it.
        var isSilent = false
    }

    init(_ client: ClientConfiguration) {
        configured = client
        self.client = client
        request = client.requestDigest
    }

    /// The token, if it may be sent.
    func usable(at now: Instant) -> AccessTokenSnapshot? {
        access.flatMap { $0.isUsable(at: now) ? $0.snapshot : nil }
    }

    /// True if a renewal is under way that is worth waiting for with a token that can be used.
    var isBeingRenewed: Bool { attempt.map { !$0.isSilent } ?? false }

    /// Puts a newer access token in the old one's place, and forgets what was held against that.
    mutating func use(_ token: AccessToken) {
        access = token
        pending = nil
        isEnding = false
        failure = nil
        doubtfulAnswers = 0
        isAwaited = false
        demand = nil
        unauthorized = nil
        isWithheld = false
        for route in holdOffs.keys { holdOffs[route]?.renewed(to: token.snapshot.generation) }
    }

    /// Forgets the token, because its session has ended.
    mutating func forget(upTo generation: Int) {
        invalidated = max(invalidated, generation)
        access = nil
        pending = nil
        isEnding = false
        failure = nil
        doubtfulAnswers = 0
        isAskedFor = false
        demand = nil
        unauthorized = nil
        isWithheld = false
    }

    /// The failure that an answer means, with the moment of the next attempt.
    mutating func lastFailure(by failure: TokenFailure, at moment: Moment) -> LastFailure {
        if failure.kind == .doubtful { doubtfulAnswers += 1 }
        let previous = self.failure.flatMap { $0.cause.kind == failure.kind ? $0.count : nil } ?? 0
        let count = min(previous + 1, 1000)
        let wait = failure.delay(after: count, doubtfulAnswers: doubtfulAnswers, jitter: moment.jitter)
        return LastFailure(cause: failure, count: count, retry: moment.now + wait, at: moment.wall)
    }

    /// Takes over the access token that a newer session of another process holds for this target.
    mutating func adopt(_ stored: inout StoredSession, at moment: Moment) {
        pending = nil
        isEnding = false
        guard let token = stored[request] else {
            access = nil  // somebody wants it never to be used again
            return
        }
        if let snapshot = access?.snapshot, snapshot.generation == token.generation,
            snapshot.token.matches(token.token)
        {
            return
        }
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
                subject: stored.subject, idToken: stored.idToken, end: moment.now + remaining,
                lifetime: token.lifetime,
                margin: client.refreshMargin, jitter: moment.jitter))
    }
}
