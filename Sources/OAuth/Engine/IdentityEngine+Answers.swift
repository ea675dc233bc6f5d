// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The meaning of the answers to token requests.
extension IdentityEngine {
    /// After so many answers without another refresh token the server is known to replace none.
    private static let answersForCertainty = 3

    /// True if an answer is about the session that there is, or has brought its refresh token already.
    private func isCurrent(_ asking: Asking, _ outcome: TokenRequestResult) -> Bool {
        guard asking.origin == session.origin else { return false }
        guard let sent = asking.refreshToken else { return true }
        guard let present = session.refreshToken else { return false }
        return present.matches(sent) || present.matches(outcome.refreshToken)
    }

    /// Takes an answer in, and goes on from there.
    mutating func take(_ outcome: TokenRequestResult, of asking: Asking, needsKeys: Bool) {
        guard isCurrent(asking, outcome), targets[asking.target] != nil else {
            return takeForNobody(outcome, of: asking)
        }
        if let key = outcome.proofKey { session.proofKey = key }
        guard case .success(let grant) = outcome.result, grant.idToken != nil,
            configured.grantType.needsPerson
        else { return conclude(outcome, of: asking) }
        if needsKeys, rotate(to: grant.refreshToken), lease != nil {
            return save(then: .judging(asking, outcome))
        }
        judge(outcome, of: asking)
    }

    /// Takes a refresh token of an answer for the session's, whatever else is wrong with the answer.
    ///
    /// - Returns: true if it is another one.
    mutating func rotate(to refreshToken: Secret?) -> Bool {
        guard let refreshToken, let present = session.refreshToken, !present.matches(refreshToken) else {
            return false
        }
        replace(present)
        session.refreshToken = refreshToken
        ownToken = refreshToken
        session.doubtedToken = nil
        rotates = true
        hasStoredWorked = true
        changed()
        return true
    }

    /// Takes note that the session has changed in memory.
    mutating func changed() {
        session.generation += 1
        isUnwritten = true
        writeMoment = now
    }

    mutating func judge(_ outcome: TokenRequestResult, of asking: Asking) {
        let ticket = newTicket()
        phase = .judging(ticket, asking, outcome)
        act(.judge(ticket, asking.target, outcome, of: session))
    }

    mutating func judged(_ ticket: Ticket, _ outcome: TokenRequestResult) {
        guard case .judging(ticket, let asking, _) = phase else { return }
        guard isCurrent(asking, outcome), targets[asking.target] != nil else {
            return takeForNobody(outcome, of: asking)
        }
        conclude(outcome, of: asking)
    }

    /// Takes an answer in that is about another session, or whose target has left: its refresh token is the session's all
    /// the same.
    private mutating func takeForNobody(_ outcome: TokenRequestResult, of asking: Asking) {
        if asking.refreshToken != nil, isCurrent(asking, outcome), rotate(to: outcome.refreshToken),
            let key = outcome.proofKey
        {
            session.proofKey = key
        }
        restartAttempt(of: asking.target)
        workUnderLease()
    }

    /// Makes an answer that is judged the session, or a failure.
    private mutating func conclude(_ outcome: TokenRequestResult, of asking: Asking) {
        let type = TokenRequestBody.grantType(of: asking.grant, otherwise: configured.grantType)
        var result = outcome.result
        if case .success(let grant) = result, let failure = staleness(of: grant, for: asking.target) {
            result = .failure(failure)
        }
        switch result {
        case .success(let grant):
            let isRepeated = targets[asking.target]?.repeatsRefusedToken(grant.accessToken) ?? false
            report(isRepeated ? .tokenRepeated(type) : .tokenRequested(type, nil))
            if grant.proofKey != nil, !grant.isBound { report(.tokenNotBound) }
            granted(grant, outcome, to: asking)
            store(asking, ending: nil)
        case .failure(let failure):
            var told = failure
            // Only the refresh token has died, and the grant itself is made again.
            if failure.kind == .final, !configured.grantType.needsPerson { told.kind = .transient }
            report(.tokenRequested(type, told))
            failed(failure, outcome, asking)
        }
    }

    /// Why a file's token is none that could take the place of the one that is to be renewed; nil if it could.
    ///
    /// A file that nobody renews brings the same token again, until it ends.
    private func staleness(of grant: TokenResponse, for id: TargetID) -> TokenFailure? {
        guard case .fixed(let place)? = configured.source, let state = targets[id],
            !state.repeatsRefusedToken(grant.accessToken), let access = state.access,
            access.finiteLifetime != nil, access.isUsable(at: now), access.renewal <= now,
            access.snapshot.token.matches(grant.accessToken)
        else { return nil }
        return TokenFailure(
            .transient, .tokenUnchanged,
            detail:
                "\(place) still holds the token that is about to end, because whoever writes it has not renewed it"
        )
    }

    private mutating func granted(_ grant: TokenResponse, _ outcome: TokenRequestResult, to asking: Asking) {
        guard var state = targets[asking.target] else { return }
        var grant = grant
        // What is not told is what was asked for (RFC 6749 §5.1); a refresh has asked for nothing else than before.
        if asking.refreshToken == nil, grant.scope == nil, !state.client.scope.isEmpty {
            grant.scope = state.client.scope
        }
        let lifetime =
            grant.lifetime ?? state.knownLifetime
            ?? min(configured.defaultLifetime, ClientConfiguration.longestLifetime)
        if lifetime > .zero { state.knownLifetime = grant.lifetime ?? state.knownLifetime }
        let before = session.refreshToken
        // It may be in the session already, ahead of the rest of its answer.
        let isRotated = asking.refreshToken.map { !$0.matches(before) } ?? false
        if let sent = asking.refreshToken, configured.grantType.needsPerson {
            noteRotation(grant.refreshToken.map { !$0.matches(sent) } ?? false)
        }
        let (next, token) = session.renewed(
            by: grant, lasting: lifetime, for: state.client, request: state.request, sentAt: outcome.sentAt,
            wall: outcome.wall, jitter: moment.jitter)
        session = next
        if let before, !before.matches(next.refreshToken) { replace(before) }
        if let given = next.refreshToken, !given.matches(before) { ownToken = given }
        isUnwritten = true
        writeMoment = now
        if !isRotated { hasStoredWorked = true }
        state.pending = token
        targets[asking.target] = state
        // The provider answers: what others were told for the moment is over.
        providerTrouble = nil
        for id in order where id != asking.target && targets[id]?.failure?.cause.kind != .misconfigured {
            targets[id]?.failure = nil
            targets[id]?.doubtfulAnswers = 0
        }
    }

    /// Takes note of whether the server has replaced a refresh token.
    ///
    /// One that replaces them now and then does so again, and may have begun with an answer without one (RFC 6749 §6).
    private mutating func noteRotation(_ isReplaced: Bool) {
        if isReplaced { return rotates = true }
        answersWithoutToken = min(answersWithoutToken + 1, Self.answersForCertainty)
        if rotates == nil, answersWithoutToken == Self.answersForCertainty { rotates = false }
    }

    private mutating func failed(_ failure: TokenFailure, _ outcome: TokenRequestResult, _ asking: Asking) {
        guard let state = targets[asking.target] else { return }
        let canRepeat =
            asking.refreshToken != nil && asking.rule == nil && failure.reason == .interrupted
            && state.attempt?.isRepeated == false
        let canForget =
            asking.refreshToken != nil && !configured.grantType.needsPerson
            && (failure.kind == .final || failure.kind == .doubtful)
        if canForget || canRepeat && outcome.refreshToken == nil, lease != nil || asking.trouble != nil {
            // Its answer was lost, and the server keeps the refresh token; or the grant itself is made again, which needs none.
            if canRepeat { targets[asking.target]?.attempt?.isRepeated = true }
            if !canRepeat {
                session.refreshToken = nil
                isUnwritten = true
            }
            return askAgain(asking)
        }
        let before = session
        if canForget {
            session.refreshToken = nil
            changed()
        } else {
            if !state.client.asksByItself { _ = rotate(to: outcome.refreshToken) }
            if failure.kind == .final { session.refusal = failure.refusal ?? .invalidGrant }
            // Another person's: no later answer to it would tell that.
            if failure.kind == .final, failure.reason == .badIDToken, let token = outcome.refreshToken {
                act(.revoke(token, .refreshToken, of: asking.client))
                session.refreshToken = nil
            }
        }
        let isRefused = before.refusal != session.refusal
        if isRefused, before.generation == session.generation { session.generation += 1 }
        let moment = moment
        let last = targets[asking.target]?.lastFailure(by: failure, at: moment)
        noteProvider(failure, of: asking.target)
        if isRefused || before.generation != session.generation {
            isUnwritten = true
            writeMoment = now
            return store(asking, ending: last)
        }
        endAttempt(of: asking.target, last)
        workUnderLease()
    }

    private mutating func askAgain(_ asking: Asking) {
        guard !isNeedless(asking.target), let grant = nextGrant(for: asking.target) else {
            endAttempt(of: asking.target, nil)
            return workUnderLease()
        }
        guard case .refresh = grant, let lease else {
            return ask(asking.target, grant, after: asking.trouble)
        }
        let ticket = newTicket()
        phase = .spending(ticket, asking.target, grant)
        act(.spend(ticket, lease.stored ?? session))
    }

    /// Has the session stored before anything of an answer is used, if it can be.
    private mutating func store(_ asking: Asking, ending failure: LastFailure?) {
        if lease != nil { return save(then: .ending(asking.target, failure)) }
        noteNotSaved(asking.trouble ?? .leaseLost, hasMoved: false)
        usePending()
        endAttempt(of: asking.target, failure)
        phase = .idle
        advanceIdle()
    }

    /// Revokes the tokens of an answer that no session uses; a refresh token takes its access token with it.
    mutating func revoke(_ outcome: TokenRequestResult, of client: Asking.Client) {
        if let token = outcome.anyRefreshToken {
            act(.revoke(token, .refreshToken, of: client))
        } else if let token = (try? outcome.result.get())?.accessToken {
            act(.revoke(token, .accessToken, of: client))
        }
    }

    mutating func credentialsChanged() {
        let now = now
        for id in order where targets[id]?.failure?.cause.kind == .misconfigured {
            targets[id]?.failure?.retry = now
        }
    }
}
