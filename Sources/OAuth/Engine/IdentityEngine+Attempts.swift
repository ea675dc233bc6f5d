// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// When to ask for a token, and what with.
extension IdentityEngine {
    /// Between two looks at a store that was away, while an attempt waits for others to write.
    private static let settlingLook: Duration = .seconds(1)

    // MARK: What is due

    /// Begins the attempts that are due; they wait in a queue.
    mutating func beginAttempts() {
        guard !isStopping else { return }
        let last = providerTrouble?.target
        for id in order where id != last { beginAttempt(of: id) }
        if let last { beginAttempt(of: last) }
    }

    private mutating func beginAttempt(of id: TargetID) {
        guard let state = targets[id], state.attempt == nil, mayBegin(id), let due = renewalMoment(of: id),
            due <= now
        else { return }
        if let providerTrouble, providerTrouble.failure.retry > now, !state.isAskedFor {
            return endAttempt(of: id, sharing: providerTrouble)
        }
        targets[id]?.isAskedFor = false
        targets[id]?.attempt = TargetState.Attempt(
            generation: session.generation, wasRefused: session.refusal != nil)
        queue.append(id)
    }

    /// True if an attempt may begin by itself, or somebody waits for it.
    func mayBegin(_ id: TargetID) -> Bool {
        guard !isStopping, targets[id]?.attempt == nil else { return false }
        return isStarted || targets[id]?.isAskedFor ?? false || waiters.contains { $0.target == id }
    }

    /// When the next attempt begins by itself; nil if none does.
    func renewalMoment(of id: TargetID) -> Instant? {
        guard let state = targets[id], canRenew, state.pending == nil, !state.isEnding else { return nil }
        if state.isAskedFor { return now }
        guard session.refusal == nil, !state.isLeaving || state.isAwaited || state.demand != nil
        else { return nil }
        if let failure = state.failure { return failure.retry }
        guard state.demand == nil, let access = state.access else { return now }
        return access.renewal
    }

    /// True if a token can be asked for without a person.
    ///
    /// Where another client's session has taken the place of ours, other processes may have our refresh token too, and there
    /// is no record by which to send it in turns.
    var canRenew: Bool {
        !configured.exchangesCallersTokens
            && (!configured.grantType.needsPerson || session.refreshToken != nil && othersSession == nil)
    }

    // MARK: The attempt

    /// True if an attempt has nothing to bring: another process was faster, or was refused, or somebody has logged out since.
    func isNeedless(_ id: TargetID) -> Bool {
        guard let state = targets[id], canRenew, !isStopping else { return true }
        if session.refusal != nil, state.attempt?.wasRefused == false { return true }
        if let attempt = state.attempt, let access = state.access,
            access.snapshot.generation > attempt.generation, state.demand == nil, now < access.renewal
        {
            return true
        }
        return false
    }

    /// Ends the attempts that have become needless.
    mutating func endNeedlessAttempts() {
        for id in queue where isNeedless(id) {
            storeTroubles[.lock] = nil  // nobody needs it any more
            endAttempt(of: id, nil)
        }
    }

    /// The grant to ask for a target with; nil if nothing may be asked.
    ///
    /// - Parameter mayRefresh: true if our refresh token is known to be the newest.
    func nextGrant(for id: TargetID, mayRefresh: Bool = true) -> Grant? {
        guard let state = targets[id] else { return nil }
        if state.client.asksByItself { return .original }
        guard let token = session.refreshToken, othersSession == nil, !wasGrantedForAnother(state) else {
            return .original
        }
        if mayRefresh { return .refresh(token) }
        return configured.grantType.needsPerson ? nil : .original
    }

    /// True if a session that needs no person has a refresh token of a person's, or for another scope or audience than is asked
    /// for now: a refresh would bring that again (RFC 6749 §6).
    private func wasGrantedForAnother(_ state: TargetState) -> Bool {
        guard !configured.grantType.needsPerson else { return false }
        if let isGranted = session.isGranted(for: state.request) { return !isGranted }
        return session.isOfPerson || session[state.request] == nil && !session.accessTokens.isEmpty
    }

    /// True if the server may replace the refresh token of `grant`, and only a person could get another.
    func mayRotate(_ grant: Grant) -> Bool {
        guard case .refresh = grant else { return false }
        return rotates != false && configured.grantType.needsPerson
    }

    /// The parameters of the next request for a target beside those that all have.
    func additions(for state: TargetState) -> TokenAdditions {
        var additions = state.additions
        additions.scope = additions.scope ?? scopeOfOwnLogin(state)
        return additions
    }

    /// Takes a target's attempt for ended; a `failure` of nil means that there is a token, or that none was needed.
    mutating func endAttempt(of id: TargetID, _ failure: LastFailure?) {
        queue.removeAll { $0 == id }
        guard var state = targets[id] else { return }
        state.attempt = nil
        state.additions = TokenAdditions()
        state.endedAttempts += 1
        state.hasFailed = failure != nil
        if let failure {
            state.failure = failure
            state.isWithheld = false
            if session.refusal != nil { state.demand = nil }
        }
        targets[id] = state
    }

    /// Ends an attempt that would fail as another target's has.
    private mutating func endAttempt(of id: TargetID, sharing trouble: ProviderTrouble) {
        let moment = moment
        var failure = targets[id]?.failure
        // What is wrong with the target itself stays.
        if failure?.cause.kind != .misconfigured {
            failure = targets[id]?.lastFailure(by: trouble.failure.cause, at: moment)
        }
        failure?.retry = trouble.failure.retry
        endAttempt(of: id, failure)
    }

    /// Takes in a failure of a token request for what it says of the authorization server: nothing is asked for any other
    /// target before the authorization server is to be asked again, but for what somebody waits for who wants just that.
    mutating func noteProvider(_ failure: TokenFailure, of id: TargetID) {
        guard failure.isOfProvider else { return providerTrouble = nil }
        let trouble = ProviderTrouble(failure, of: id, after: providerTrouble, at: moment)
        providerTrouble = trouble
        for other in queue where other != id {
            let isWanted = waiters.contains { waiter in
                if case .attempt = waiter.wish { waiter.target == other } else { false }
            }
            if !isWanted { endAttempt(of: other, sharing: trouble) }
        }
    }

    /// Begins an attempt anew that somebody has come before.
    mutating func restartAttempt(of id: TargetID) {
        guard let attempt = targets[id]?.attempt else { return }
        targets[id]?.attempt = TargetState.Attempt(
            generation: attempt.generation, wasRefused: attempt.wasRefused)
    }

    /// Ends an attempt that asked for nothing, because the store failed.
    mutating func failAttempt(of id: TargetID, _ error: StoreError) {
        let moment = moment
        endAttempt(of: id, targets[id]?.lastFailure(by: TokenFailure(error), at: moment))
    }

    // MARK: Without anything under way

    mutating func advanceIdle() {
        if lease != nil { return workUnderLease() }
        if !commands.isEmpty || needsWriting && writeMoment <= now && !isStopping { return beginLocking() }
        endNeedlessAttempts()
        guard !queue.isEmpty else { return phase = .idle }
        if let end = settlingEnd {
            // Others come back to the store one after the other: it knows best how long that takes.
            if end == settledAt { nextRead = nextRead ?? now + Self.settlingLook }
            return phase = .settling(until: end)
        }
        beginLocking()
    }

    /// Until when the first attempt of the queue waits; nil if it need not.
    private var settlingEnd: Instant? {
        let end = [pauseEnd, mustSettle ? settledAt : nil].compactMap(\.self).max()
        return end.flatMap { $0 > now ? $0 : nil }
    }

    /// True if our refresh token may not be the newest, though nobody has stored another.
    var mustSettle: Bool {
        guard let token = session.refreshToken, let settledAt, settledAt > now else { return false }
        // Nobody else can have renewed what we alone have; a store that has gone back may have had it before.
        return !token.matches(ownToken)
    }
}
