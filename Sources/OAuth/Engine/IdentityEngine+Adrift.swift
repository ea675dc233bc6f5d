// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Requests that were left to let somebody else have the lease: their answers are not lost.
extension IdentityEngine {
    // MARK: Our claim on the lease

    /// True if whoever has the lease is to make room for us: a person waits, or we alone have a refresh token in place of one
    /// that the holder may be about to send.
    var claimsLease: Bool {
        if commands.contains(where: { $0.command.isPersons }) { return true }
        return isUnwritten && ownToken?.matches(session.refreshToken) == true
    }

    /// True while another identity of the name, in this process, is to make room for us: the store may take no claim.
    var isClaiming: Bool { if case .stopped = phase { false } else { claimsLease } }

    /// Has the session be written at once where somebody else has the lease now and is to make room for us: that one may be about
    /// to send the refresh token of before.
    mutating func claimLostLease() {
        guard claimsLease else { return }
        writeMoment = max(now, lossMoment.map { $0 + Self.claimPause } ?? now)
        lossMoment = now
    }

    // MARK: Those who claim the lease

    /// - Parameter heard: whether somebody claims the lease; nil if nobody could be heard.
    mutating func claimed(_ ticket: Ticket, _ heard: Bool?) {
        guard case .asking(var asking) = phase, asking.claimCheck.ticket == ticket else { return }
        // Whoever has an answer to what another process has sent cannot say so, and goes first as if it did.
        let isClaimed = heard ?? asking.rule?.othersSentLast ?? false
        asking.claimCheck = (now + Self.claimCheck, nil)
        asking.isClaimed = isClaimed
        asking.finalClaimCheck = asking.finalClaimCheck == .underWay && !isClaimed ? .foundNobody : nil
        if isClaimed { takeBack(&asking) }
        phase = .asking(asking)
        let isSilent = asking.rule?.isSilent(at: now) ?? false
        // Whoever comes next must find what we have: of two sessions of one generation one is lost.
        if isSilent || isClaimed, needsWriting, writeMoment <= now { return saveMeanwhile() }
        if asking.lacksMark, let stored = lease?.stored { return markAgain(stored) }
        // While it may be answered any moment, others wait for it: whoever has the lock next might send the same refresh
        // token beside it. One that was not sent yet goes last: its answer to an earlier request may be what waits.
        if isClaimed, asking.rule?.mayGiveWay(at: now) ?? false { makeRoom() }
    }

    /// Marks anew what was sent: without a mark, whoever gets the lease after us would send it at once.
    mutating func markAgain(_ stored: StoredSession) {
        guard case .asking(var asking) = phase else { return }
        let ticket = newTicket()
        asking.meanwhile = .spending(ticket)
        phase = .asking(asking)
        act(.spend(ticket, stored))
    }

    /// Releases the lease for somebody else; what the authorization server answers is not lost.
    mutating func makeRoom() {
        guard case .asking(let asking) = phase, asking.rule != nil, asking.meanwhile == nil else { return }
        pauseEnd = now + Self.claimPause
        letGo()
    }

    /// Lets go of a lease that is lost, because another process has stored something.
    mutating func letGo() {
        guard case .asking(let asking) = phase else { return }
        setAdrift(asking)
        releaseLease()
        phase = .idle
    }

    // MARK: A request that was left

    /// Takes a request back that waits for metadata or a credential of ours: nobody has seen it, and it may wait for ever.
    mutating func takeBack(_ asking: inout Asking) {
        guard asking.rule?.isPreparing == true, let ticket = asking.requests.popLast() else { return }
        act(.hangUp(ticket))
        asking.rule?.unsent(isNewest: true, at: now)
    }

    /// Goes on with something else while a request is not answered.
    mutating func setAdrift(_ asking: Asking) {
        var asking = asking
        takeBack(&asking)
        // What is being written is not waited for any more.
        asking.meanwhile = nil
        adrift = asking
        // Its token may be on its way still, whoever marked it.
        lease?.isDoubtOurs = false
        note(asking, isInDoubt: asking.rule?.isOpen ?? true)
        restartAttempt(of: asking.target)
        if asking.requests.isEmpty { abandonAdrift() }
    }

    /// True if the answer to a request that was left is the session's: nobody has replaced the refresh token that it
    /// carries, but by its answer.
    private func isOurs(_ adrift: Asking) -> Bool {
        guard let sent = adrift.refreshToken, let present = session.refreshToken else { return false }
        return sent.matches(present)
            || adrift.answers.contains { present.matches($0.outcome.anyRefreshToken) }
    }

    /// True if the answer to a request that was left may still come, or is not in the session yet.
    var isAdriftAwaited: Bool {
        guard let adrift, adrift.rule != nil, let sent = adrift.refreshToken, isOurs(adrift) else {
            return false
        }
        if !adrift.unanswered.isEmpty { return true }
        return sent.matches(session.refreshToken)
            && adrift.answers.contains { $0.outcome.anyRefreshToken.map { !$0.matches(sent) } ?? false }
    }

    /// Takes the refresh token that a request has brought which was left, whatever becomes of the rest of its answer:
    /// nobody else has it.
    ///
    /// Where something is under way that changes the session, that comes first.
    mutating func keepTokenAdrift() {
        switch phase {
        case .idle, .settling, .locking, .reading, .holding: break
        case .spending, .asking, .judging, .saving, .performing, .stopped: return
        }
        guard let adrift, isOurs(adrift), adrift.refreshToken?.matches(session.refreshToken) == true else {
            return
        }
        for answer in adrift.answers where rotate(to: answer.outcome.anyRefreshToken) {
            if let key = answer.outcome.proofKey { session.proofKey = key }
            // What others were told of the token before says nothing of this one.
            session.refusal = nil
            providerTrouble = nil
            targets[adrift.target]?.failure = nil
            targets[adrift.target]?.doubtfulAnswers = 0
            // Whoever has the lease may be about to send what this has taken the place of.
            if case .locking = phase { act(.claim) }
            return
        }
    }

    /// Goes on with a request that was left, whichever target asks now: its answer has the session's refresh token.
    ///
    /// - Returns: false if there is none.
    mutating func takeUpAdrift(generation: Int) -> Bool {
        guard var adrift, isOurs(adrift) else { return false }
        self.adrift = nil
        adrift.generation = generation
        let events = adrift.deferred
        adrift.deferred = []
        (adrift.isClaimed, adrift.finalClaimCheck) = (false, nil)
        adrift.rule?.takenUp(at: now)
        adrift.claimCheck = (now + Self.claimCheck, nil)
        phase = .asking(adrift)
        for event in events { take(event) }
        advanceAsking()
        return true
    }

    /// Has a request that was left be nobody's, if the session has another refresh token now.
    ///
    /// Where it has none, somebody has logged out in another process, or had the token revoked: what the authorization server
    /// still answers would live on, and is revoked.
    mutating func leaveAdriftOfOthers() {
        guard let adrift, adrift.refreshToken != nil, !isOurs(adrift) else { return }
        orphanAdrift(revokingAnswer: session.isEndedEverywhere)
    }

    /// Has a request that was left be nobody's, whatever its answer.
    mutating func orphanAdrift(revokingAnswer isRevoked: Bool) {
        if isRevoked, let adrift { revokeAnswers(to: adrift) }
        abandonAdrift()
    }

    /// Revokes what has come of requests that are nobody's, and what is still to come.
    mutating func revokeAnswers(to asking: Asking) {
        for answer in asking.answers { revoke(answer.outcome, of: asking.client) }
        for ticket in asking.unanswered { orphans[ticket] = asking.client }
    }

    /// Forgets the requests of a session that has ended, once there is a new one: to some providers their tokens are the
    /// new one's, too.
    mutating func forgetOrphans() {
        for ticket in orphans.keys { act(.hangUp(ticket)) }
        orphans = [:]
    }

    /// Forgets a request that made room for somebody, and is not to be taken up again.
    mutating func abandonAdrift() {
        guard let adrift else { return }
        self.adrift = nil
        for ticket in adrift.unanswered where orphans[ticket] == nil { act(.hangUp(ticket)) }
        if let probe = adrift.probe { act(.hangUp(probe)) }
    }
}

extension Asking {
    /// The answers that came while nobody could take them in.
    var answers: [TokenRequestReport] {
        deferred.compactMap { if case .answered(_, let answer) = $0 { answer } else { nil } }
    }

    /// The requests whose answers may still come.
    var unanswered: [Ticket] {
        requests.filter { ticket in
            !deferred.contains { if case .answered(ticket, _) = $0 { true } else { false } }
        }
    }
}
