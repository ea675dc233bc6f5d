// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The engine's state as people see it.
extension IdentityEngine {
    /// The one word for a target: the first that applies.
    func state(of id: TargetID) -> SessionState {
        guard let state = targets[id] else { return .empty }
        if configured.exchangesCallersTokens {
            guard let failure = state.failure else { return .authorized }
            return failure.cause.kind == .misconfigured ? .misconfigured : .unavailable
        }
        let isUsable = state.access?.isUsable(at: now) ?? false
        if isUnread, !isUsable {
            return state.attempt == nil || isHeldUpByStore(id) ? .unavailable : .refreshing
        }
        if isFirstLook, !isUsable { return .empty }
        if isLoginRequired(state) || !canRenew && !isUsable { return .loginRequired }
        if state.failure?.cause.kind == .misconfigured { return .misconfigured }
        if state.unauthorized != nil { return .authorizationError }
        if !isUsable, state.failure != nil || isHeldUpByStore(id) { return .unavailable }
        if !isUsable, state.attempt != nil { return .refreshing }
        return isUsable ? .authorized : .empty
    }

    /// The engine as it is told: of a login that is being stored nobody hears before its tokens are used.
    var told: IdentityEngine {
        guard let sessionBefore else { return self }
        var engine = self
        engine.session = sessionBefore
        return engine
    }

    /// True if the store could not be read or its lock not be had, and no request for the target is on its way: what is tried
    /// meanwhile is only that store again, and a state that told it would change every few seconds.
    private func isHeldUpByStore(_ id: TargetID) -> Bool {
        if case .asking(let asking) = phase, asking.target == id { return false }
        return storeTroubles[.load] != nil || storeTroubles[.lock] != nil
    }

    /// True if what is to be written is that a session has ended which the store holds.
    var isEndUnwritten: Bool { needsWriting && isIrreplaceable && !session.holdsTokens && hasStoredTokens }

    /// True if the session is what a logout or a revocation has left, whatever the store holds.
    var isEnd: Bool { !session.holdsTokens && (hasStoredTokens || session.began != nil) }

    /// True if the session has more than access tokens that the configuration alone brings again: a person's login or
    /// logout, a refresh token, a client that the server made for us.
    var isIrreplaceable: Bool {
        configured.grantType.needsPerson || session.refreshToken != nil || session.registration != nil
    }

    /// All that may be shown of a target.
    func status(of id: TargetID, at now: Instant) -> SessionStatus {
        var engine = self
        engine.moment.now = now
        return engine.status(of: id)
    }

    private func status(of id: TargetID) -> SessionStatus {
        let target = targets[id]
        var status = SessionStatus(
            name: configured.name, state: state(of: id), generation: shownGeneration,
            expiresAt: target.flatMap(expiresAt), expiry: target?.access?.snapshot.expiry,
            lifetime: target?.access?.finiteLifetime,
            scope: session.scope.filter { !SecretListing.isRepeated(in: $0) },
            lastRefresh: session.lastRefresh, lastError: target.flatMap(lastError))
        if status.state == .authorized, status.lastError == nil { status.lastError = target.flatMap(newsOf) }
        status.additionalParameters = additionalParameters
        status.isServing = target?.access?.isUsable(at: now) ?? false
        status.isAsking = target?.attempt != nil
        status.isBeingRead = isFirstLook && status.state == .empty
        status.goesOnFromMemory = goesOnFromMemory
        status.isOnlyHere =
            isIrreplaceable && (needsWriting && storeTrouble != nil || storeTroubles[.place] != nil)
        status.isRenewable = canRenew
        status.needsNoToken = configured.exchangesCallersTokens
        return status
    }

    /// The news of a session that works, for a person; nil if there is none.
    private func newsOf(_ target: TargetState) -> LastError? {
        if configured.grantType.needsPerson, session.refreshToken == nil, expiresAt(target) != nil {
            return LastError(
                code: LastError.noRefreshToken,
                detail: "the login brought no refresh token: it ends with its access token")
        }
        return scopeChange(for: target).map { LastError(code: LastError.scopeChanged, detail: $0.sentence) }
    }

    /// True if tokens are renewed though the store takes nothing.
    private var goesOnFromMemory: Bool {
        guard let hindrance = storeTroubles[.load] ?? storeTroubles[.lock] else {
            return needsWriting && storeTroubles[.save] != nil
        }
        // A grant from configuration needs neither the record nor the lock.
        return !configured.grantType.needsPerson && !hindrance.error.isBusy && !hindrance.error.isOutage
    }

    /// The generation that people see: while one is being stored, nobody gets its token yet.
    private var shownGeneration: Int {
        if isUnwritten, case .saving = phase { return min(session.generation, knownGeneration) }
        return session.generation
    }

    /// The change of scope that another login would bring; nil where none is needed.
    func scopeChange(for state: TargetState) -> ScopeChange? { ScopeChange(of: session, for: state.client) }

    /// The scope that a refresh names, where it names one at all, of a login that asked for another one than is configured:
    /// the configured one may be more than was granted (RFC 6749 §6).
    func scopeOfOwnLogin(_ state: TargetState) -> [String]? {
        let namesConfigured =
            !state.client.isForRoute
            && (state.client.sendsScopeOnRefresh || state.client.grantType == .refreshToken)
        return session.isLoginScopeOwn && namesConfigured ? session.loginScope : nil
    }

    /// When the next attempt begins by itself; nil if none does, or one is under way.
    ///
    /// A token without an expiry is renewed by nobody but who changes what it was made of.
    func nextRequest(of id: TargetID, at now: Instant) -> Instant? {
        var engine = self
        engine.moment.now = now
        guard let state = targets[id], state.attempt == nil else { return nil }
        let isEndless =
            state.failure == nil && state.demand == nil && state.access != nil
            && state.access?.finiteLifetime == nil
        // Nothing heals what a person has to begin anew.
        let healing = canRenew && session.refusal == nil ? state.healingMoment : nil
        return [isEndless ? nil : engine.renewalMoment(of: id), healing].compactMap(\.self).min()
    }

    /// All else that the authorization server said: of the client that it made, of the login, with tokens.
    private var additionalParameters: AdditionalParameters {
        let made = registration?.additionalParameters ?? AdditionalParameters()
        let secrets =
            session.accessTokens.map(\.token) + [session.refreshToken, session.idToken].compactMap(\.self)
        return made.updated(with: session.additionalParameters)
            .without(secrets + [registration?.clientSecret].compactMap(\.self))
    }

    /// nil too where the store's access token is another one, for another daemon's scope.
    private func expiresAt(_ state: TargetState) -> WallTime? {
        guard let stored = session[state.request], stored.generation == state.access?.snapshot.generation,
            state.access?.finiteLifetime != nil
        else { return nil }
        return stored.expiresAt
    }

    /// The trouble with the store that people hear of.
    var storeTrouble: StoreTrouble? {
        storeTroubles[.load] ?? storeTroubles[.lock] ?? storeTroubles[.save] ?? storeTroubles[.place]
    }

    private func lastError(_ state: TargetState) -> LastError? {
        if let storeTrouble { return LastError(storeTrouble) }
        if let failure = state.failure {
            return LastError(code: failure.cause.code, detail: failure.cause.detail, at: failure.at)
        }
        if let refusal = session.refusal {
            return LastError(
                code: refusal.rawValue,
                detail: "\(configured.issuer ?? "the authorization server") refused for good", at: nil)
        }
        if let othersWords, configured.grantType.needsPerson || state.access == nil {
            return LastError(code: "other_client", detail: othersWords, at: nil)
        }
        guard state.unauthorized != nil else { return nil }
        let words = state.refusal?.words ?? ""
        return LastError(
            code: SessionState.authorizationError.rawValue,
            detail: "'\(state.refusingRoute)' answered 401 to the newest access token\(words)", at: nil)
    }
}

extension SessionStatus {
    /// The status of an identity of which only the stored session is known.
    package init(
        of stored: StoredSession?, asking client: ClientConfiguration, at now: Instant, _ wall: WallTime
    ) {
        var engine = IdentityEngine(client, at: Moment(now: now, wall: wall, jitter: 0))
        engine.compare(with: stored)
        self = engine.status(of: 0, at: now)
    }
}
