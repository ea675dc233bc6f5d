// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// When to ask the authorization server, and what its answers mean.
extension AuthState {
    /// What the driver must do next.
    package enum Action: Equatable, Sendable {
        /// Make one token request: see ``nextGrant(at:)``; report with ``received(_:sentAt:wall:jitter:)`` or
        /// ``failed(_:refreshToken:at:wall:jitter:)``, then ``attemptEnded(at:isSaved:)``.
        case requestToken
    }

    /// What a waiting request is told.
    package enum Answer: Sendable {
        case use(AccessTokenSnapshot)
        case wait
        case fail(TokenError)
    }

    /// How long an answer may be off for a request to wait for it rather than fail at once.
    private static let worthWaitingFor: Duration = .seconds(1)

    /// Whether the answers leave no doubt that a person must log in.
    var isLoginRequired: Bool {
        session.refusal != nil || doubts >= TokenFailure.doubtsAllowed
            || attempt?.isSilent == true && failure?.failure.kind == .final
    }

    /// Whether a token can be asked for without a person.
    var canRenew: Bool {
        !configuration.exchangesCallersTokens
            && (!configuration.grantType.needsPerson || session.refreshToken != nil)
    }

    // MARK: What is to be done

    /// Begins the one attempt if one is due.
    ///
    /// Call it after every event and at ``nextMoment(after:)``.
    package mutating func nextAction(at now: Instant) -> Action? {
        forgetOldHoldOffs(at: now)
        demandHealing(at: now)
        guard attempt == nil, let due = renewalMoment(at: now), due <= now else { return nil }
        isAskedFor = false
        attempt = Attempt(generation: session.generation)
        return .requestToken
    }

    /// When the next attempt begins by itself; nil if none does.
    private func renewalMoment(at now: Instant) -> Instant? {
        guard canRenew else { return nil }
        if isAskedFor { return now }
        guard session.refusal == nil, !isBarred, !isLeaving || isAwaited || demand != nil else { return nil }
        if let failure { return failure.retry }
        guard demand == nil, let access else { return now }
        return access.renewal
    }

    /// When the next attempt begins by itself; nil if none does, or one is under way.
    ///
    /// A token without an expiry is renewed by nobody but who changes what it was made of.
    func nextRequest(at now: Instant) -> Instant? {
        guard attempt == nil else { return nil }
        let isEndless = failure == nil && demand == nil && access?.finiteLifetime == nil && access != nil
        return [isEndless ? nil : renewalMoment(at: now), healingMoment].compactMap(\.self).min()
    }

    /// The next moment at which something changes without an event.
    package func nextMoment(after now: Instant) -> Instant? {
        var moments: [Instant] = []
        if let access { moments.append(access.snapshot.expiry) }
        if attempt == nil, let renewal = renewalMoment(at: now) { moments.append(renewal) }
        if let healing = healingMoment { moments.append(healing) }
        return moments.filter { $0 > now }.min()
    }

    /// What a request that can wait until `deadline` gets.
    package func answer(at now: Instant, until deadline: Instant) -> Answer {
        if let access, access.isUsable(at: now), !isWithheld { return .use(access.snapshot) }
        if let attempt, !attempt.isSilent || !isLoginRequired {
            return now < deadline ? .wait : .fail(reason(at: now))
        }
        if isUnread, isBeingRead, now < deadline { return .wait }
        if isLoginRequired || !canRenew { return .fail(reason(at: now)) }
        if isBarred { return .fail(reason(at: now)) }
        guard let failure else { return now < deadline ? .wait : .fail(reason(at: now)) }
        switch failure.failure.kind {
        case .final, .misconfigured: return .fail(reason(at: now))
        case .doubtful, .transient:
            let isSoon = failure.retry <= min(now + Self.worthWaitingFor, deadline)
            return isSoon && now < deadline ? .wait : .fail(reason(at: now))
        }
    }

    /// What a request is told whose deadline has come.
    package func lastAnswer(at now: Instant) -> Answer {
        if let access, access.isUsable(at: now) { return .use(access.snapshot) }
        return .fail(reason(at: now))
    }

    /// Why there is no token.
    func reason(at now: Instant) -> TokenError {
        if !configuration.exchangesCallersTokens, isLoginRequired || !canRenew {
            guard isUnread else { return .loginRequired }
            return isStoreAway
                ? .storeUnavailable(retryAfter: TokenFailure.lookAfterTrouble)
                : .unavailable(retryAfter: TokenFailure.lookAfterTrouble)
        }
        let delay = max(.seconds(1), failure.map { $0.retry - now } ?? .zero)
        if failure?.failure.kind == .misconfigured || isBarred { return .misconfigured(retryAfter: delay) }
        return isStoreAway ? .storeUnavailable(retryAfter: delay) : .unavailable(retryAfter: delay)
    }

    /// The token that requests may use without asking, nil if they must ask.
    package func published(at now: Instant) -> AccessTokenSnapshot? {
        guard let access, access.isUsable(at: now), !isWithheld else { return nil }
        return access.snapshot
    }

    // MARK: Events

    /// A request wants a token and none is published.
    ///
    /// - Returns: whether it is the one that refreshes before it is sent; the others need not wait.
    package mutating func tokenNeeded() -> Bool {
        isAwaited = isLeaving
        guard isWithheld else { return false }
        isWithheld = false
        guard let access else { return false }
        demand = access.snapshot.generation
        return true
    }

    /// The next request is to have a newer token than the present one, if that can be had in time.
    mutating func refreshNeeded() { isWithheld = access != nil && canRenew }

    /// A person asked for a refresh.
    ///
    /// - Throws: ``TokenError/loginRequired`` if there is nothing to refresh with.
    package mutating func refreshRequested() throws(TokenError) {
        guard canRenew else {
            guard isUnread else { throw .loginRequired }
            throw isStoreAway
                ? .storeUnavailable(retryAfter: TokenFailure.lookAfterTrouble)
                : .unavailable(retryAfter: TokenFailure.lookAfterTrouble)
        }
        isAskedFor = attempt == nil
    }

    /// Secret, key or CA files changed: a misconfiguration may be mended.
    package mutating func credentialsChanged(at now: Instant) {
        guard failure?.failure.kind == .misconfigured else { return }
        failure?.retry = now
    }

    /// What to ask for in the present attempt, once the store was looked at.
    ///
    /// - Parameter mayRefresh: whether our refresh token is known to be the newest.
    /// - Returns: nil if the store held a newer token that makes the request needless, or nothing may be asked.
    package func nextGrant(at now: Instant, mayRefresh: Bool = true) -> Grant? {
        guard !isAttemptNeedless(at: now) else { return nil }
        if configuration.asksByItself { return .original }
        guard let refreshToken = session.refreshToken, !wasGrantedForAnother else { return .original }
        if mayRefresh { return .refresh(refreshToken) }
        return configuration.grantType.needsPerson ? nil : .original
    }

    /// Whether the present attempt has nothing to bring: another process was faster, or somebody has logged out since.
    func isAttemptNeedless(at now: Instant) -> Bool {
        // A sibling's token makes the session newer, but not ours.
        if let attempt, let access, access.snapshot.generation > attempt.generation, demand == nil,
            now < access.renewal
        {
            return true
        }
        return !canRenew
    }

    /// Whether the present attempt can do nothing but send our refresh token.
    func needsRefreshToken(at now: Instant) -> Bool {
        !isAttemptNeedless(at: now) && nextGrant(at: now, mayRefresh: false) == nil
    }

    /// Somebody who logs in or out has superseded the attempt: what is left of it begins anew after that.
    mutating func attemptSuperseded() {
        guard let generation = attempt?.generation else { return }
        attempt = Attempt(generation: generation)
    }

    /// The attempt with `grant` failed, but can be made again without its refresh token.
    ///
    /// - Returns: false if only a person could get a new one, or the failure is not about the token.
    package mutating func canForgetRefreshToken(_ grant: Grant, after failure: TokenFailure) -> Bool {
        guard case .refresh = grant, !configuration.grantType.needsPerson else { return false }
        switch failure.kind {
        case .final, .doubtful:
            session.refreshToken = nil
            isUnsaved = true
            return true
        case .misconfigured, .transient:
            return false
        }
    }

    /// The attempt with `grant` failed because its answer was lost, and is worth making once more at once: the server
    /// keeps the refresh token, or another one is to be had without a person.
    package mutating func canRepeat(_ grant: Grant, after failure: TokenFailure) -> Bool {
        guard case .refresh = grant, !mayRotate(grant), failure.reason == .interrupted,
            attempt?.isRepeated == false
        else { return false }
        attempt?.isRepeated = true
        return true
    }

    /// The server takes client credentials in this encoding; nil if that is open again.
    package mutating func basicEncodingLearned(_ encoding: BasicEncoding?) {
        session.basicEncoding = encoding
    }

    /// The attempt brought a token.
    ///
    /// - Parameters:
    ///   - grant: the token and what came with it.
    ///   - sentAt: when the request was sent; the lifetime counts from then.
    ///   - wall: the civil clock at that moment.
    ///   - jitter: in 0..<1.
    /// - Returns: what must be stored before the token is used.
    package mutating func received(
        _ grant: TokenResponse, sentAt: Instant, wall: WallTime, jitter: Double
    ) -> StoredSession {
        let (next, token) = granted(grant, to: session, sentAt: sentAt, wall: wall, jitter: jitter)
        learnRotation(from: grant)
        attempt?.result = .granted(token, next)
        storedWorked()
        return next
    }

    /// The answer in hand has a new refresh token, and judging the rest of it takes a while.
    ///
    /// - Returns: what must be stored at once; nil if there is nothing new.
    mutating func rotated(to refreshToken: Secret?) -> StoredSession? {
        guard let refreshToken,
            !refreshToken.withPlaintext({ session.refreshToken?.matches(Array($0.utf8)) ?? false })
        else { return nil }
        session.refreshToken = refreshToken
        rotates = true
        session.generation += 1
        isUnsaved = true
        storedWorked()
        attempt?.isRotationStored = true
        return session
    }

    /// The attempt was answered, so what the store held when it began has worked.
    private mutating func storedWorked() {
        if attempt?.isRotationStored != true { hasStoredWorked = true }
    }

    /// What an answer makes of `session`, and the token it brought.
    mutating func granted(
        _ grant: TokenResponse, to session: StoredSession, sentAt: Instant, wall: WallTime, jitter: Double
    ) -> (StoredSession, AccessToken) {
        let lifetime =
            grant.lifetime ?? knownLifetime
            ?? min(configuration.defaultLifetime, ClientConfiguration.longestLifetime)
        if lifetime > .zero { knownLifetime = grant.lifetime ?? knownLifetime }
        return session.renewed(
            by: grant, lasting: lifetime, for: configuration, request: request, sentAt: sentAt, wall: wall,
            jitter: jitter)
    }

    /// The attempt brought no token.
    ///
    /// - Parameters:
    ///   - failure: why.
    ///   - refreshToken: one that came with the answer all the same.
    ///   - now: when the answer came; the back-off counts from then.
    ///   - wall: the civil clock at that moment.
    ///   - jitter: in 0..<1.
    /// - Returns: what must be stored, if anything.
    package mutating func failed(
        _ failure: TokenFailure, refreshToken: Secret?, at now: Instant, wall: WallTime, jitter: Double
    ) -> StoredSession? {
        if failure.kind == .doubtful { doubts += 1 }
        let previous = self.failure.flatMap { $0.failure.kind == failure.kind ? $0.count : nil } ?? 0
        let count = min(previous + 1, 1000)
        let wait = failure.delay(after: count, doubts: doubts, jitter: jitter)
        let last = LastFailure(
            failure: failure, count: count, retry: now + wait, at: wall)

        var next = session
        let refreshToken = configuration.asksByItself ? nil : refreshToken
        if let refreshToken {
            next.refreshToken = refreshToken
            storedWorked()
        }
        if failure.kind == .final { next.refusal = failure.refusal ?? .invalidGrant }
        next = barring(next, after: failure)
        let isChanged =
            refreshToken != nil || next.refusal != session.refusal
            || next.barredRequests != session.barredRequests
        next.generation += isChanged ? 1 : 0
        attempt?.result = .failed(last, isChanged ? next : nil)
        return isChanged ? next : nil
    }

    /// The attempt is over, and what was to be stored has been, or could not be.
    ///
    /// - Returns: whether it brought a token, or needed to bring none.
    @discardableResult
    package mutating func attemptEnded(at now: Instant, isSaved: Bool) -> Result<Void, TokenFailure> {
        defer { attempt = nil }
        guard let result = attempt?.result else {
            storeTroubles[.lock] = nil  // nobody needs it any more
            return .success(())
        }
        switch result {
        case .granted(let token, let stored):
            replaceSession(with: stored, isSaved: isSaved)
            if repeatsRefusedToken(token.snapshot.token) { keep(token) } else { use(token) }
            return .success(())
        case .failed(let last, let stored):
            if let stored { replaceSession(with: stored, isSaved: isSaved) }
            failure = last
            isWithheld = false
            if session.refusal != nil { demand = nil }
            return .failure(last.failure)
        }
    }

    /// A newer access token takes the old one's place, and with it goes all that was held against that.
    mutating func use(_ token: AccessToken) {
        access = token
        failure = nil
        doubts = 0
        isAwaited = false
        demand = nil
        unauthorized = nil
        isWithheld = false
        for route in holdOffs.keys { holdOffs[route]?.renewed(to: token.snapshot.generation) }
    }

    /// Whether a source has given the very token once more that a resource server has refused.
    func repeatsRefusedToken(_ token: Secret) -> Bool {
        guard configuration.source != nil, let access, unauthorized == access.snapshot.generation else {
            return false
        }
        return access.snapshot.token.matches(token)
    }

    /// The refused token came once more: it lives on, as long as it now is said to, and stays refused.
    private mutating func keep(_ token: AccessToken) {
        guard let access else { return }
        self.access = token.numbered(access.snapshot.generation)
        if var stored = session[request] {
            stored.generation = access.snapshot.generation
            session[request] = stored
        }
        failure = nil
        doubts = 0
        isAwaited = false
        demand = nil
        isWithheld = false
        for route in holdOffs.keys { holdOffs[route]?.renewed(to: access.snapshot.generation) }
    }

    private mutating func replaceSession(with stored: StoredSession, isSaved: Bool) {
        // An invalidation that came while the answer was being stored is about the token before it.
        session = stored
        isUnsaved = !isSaved
        guard isSaved else { return }
        hasStoredWorked = false
        isStoreBehind = false
        outranksStored = false
    }
}
