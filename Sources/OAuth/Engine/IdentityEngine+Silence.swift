// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Refresh tokens whose answer is missing: they are never sent again on a guess.
extension IdentityEngine {
    /// An answer counts as long as this after its request was sent.
    static let longestLateness: Duration = .seconds(600)
    /// How long a provider that answers may leave a request unanswered before that is given up.
    private static let silenceAllowed: Duration = .seconds(5)
    /// How many unanswered requests with one refresh token may have a connection.
    private static let connectionsAllowed = 2
    /// Between two looks at a mark whose owner lives.
    private static let lookAtOwner: Duration = .seconds(1)

    /// Whether a refresh token may be sent.
    enum Clearance {
        case given
        /// Not before this moment.
        case later(Instant)
        /// Only after the provider has answered something harmless.
        case afterProbe
    }

    func clearance(for token: Secret) -> Clearance {
        let sent = unanswered.filter { $0.refreshToken?.equals(token) ?? false }
        guard sent.allSatisfy(\.isGivenUp), sent.count(where: \.isConnected) < Self.connectionsAllowed else {
            return .afterProbe
        }
        // What we alone have, nobody else can have sent.
        if holdsWhatStoreLacks { return .given }
        if let settledAt, settledAt > now { return .later(settledAt) }
        let name = SpendingMark.name(of: token)
        let marks = (lease?.marks ?? []).filter { $0.tokens.contains(name) }
        if marks.isEmpty { return .given }
        if marks.contains(where: \.isOwnerAlive) { return .later(now + Self.lookAtOwner) }
        if let leaseTerm {
            let end = (marks.compactMap { missingOwners[$0.owner] }.max() ?? now) + leaseTerm
            if now < end { return .later(min(end, now + Self.lookAtOwner)) }
        }
        return forgivenMarks.isSuperset(of: marks) ? .given : .afterProbe
    }

    /// The refresh token may have been spent: the provider is asked something harmless first.
    ///
    /// - Parameter marks: that owners have left who are gone.
    mutating func doubt(_ token: Secret, marks: [SpendingMark] = []) {
        if !marks.isEmpty { report(.refreshTokenMayBeSpent) }
        let silence = Silence(refreshToken: token, marks: marks, probe: .due(now))
        phase = .silent(silence)
        advance(silence)
    }

    mutating func advance(_ silence: Silence) {
        let isMoot = session.refreshToken?.equals(silence.refreshToken) != true || dueTarget == nil
        let looks = lookMoment.map { $0 <= now } ?? false
        if stopMoment != nil {
            if hasToWrite || !unanswered.contains(where: \.isConnected) { leaveSilence() }
            return
        }
        if isMoot || !commands.isEmpty || looks || isUnwritten && writeMoment <= now { return leaveSilence() }
        switch silence.probe {
        case .due(let moment):
            guard moment <= now else { return }
            var silence = silence
            let ticket = newTicket()
            silence.probe = .asked(ticket)
            phase = .silent(silence)
            act(.probe(ticket))
        case .asked:
            break
        case .answered(let end):
            let sent = unanswered.filter { $0.refreshToken?.equals(silence.refreshToken) ?? false }
            guard end <= now || !sent.contains(where: \.isConnected),
                sent.count(where: \.isConnected) < Self.connectionsAllowed
            else { return }
            for index in unanswered.indices { unanswered[index].isGivenUp = true }
            unanswered.removeAll { !$0.isConnected }
            leaveSilence()
        }
    }

    private mutating func leaveSilence() {
        phase = .idle
        advanceIdle()
    }

    mutating func probed(_ ticket: Ticket, isAnswered: Bool) {
        guard case .silent(var silence) = phase, case .asked(ticket) = silence.probe else { return }
        if isAnswered {
            let isAwaited = unanswered.contains { $0.isConnected && !$0.isGivenUp }
            silence.probe = .answered(givingUpAt: isAwaited ? now + Self.silenceAllowed : now)
            forgivenMarks.formUnion(silence.marks)
        } else {
            silence.failures += 1
            silence.probe = .due(
                now + BackOff.transient.delay(after: silence.failures + 3, jitter: moment.jitter))
        }
        phase = .silent(silence)
    }

    mutating func connectionEnded(_ ticket: Ticket) {
        orphans.remove(ticket)
        guard let index = unanswered.firstIndex(where: { $0.ticket == ticket }) else { return }
        unanswered[index].isConnected = false
        // What was given up already is of no more interest.
        if unanswered[index].isGivenUp { unanswered.remove(at: index) }
    }

    /// The answer to a request that the engine had stopped waiting for.
    mutating func answeredLate(_ outcome: TokenRequestResult, of request: SentRequest, isJudged: Bool) {
        guard isCurrent(request, outcome) else { return }
        let isSuccess = (try? outcome.result.get()) != nil || outcome.refreshToken != nil
        switch phase {
        case .silent:
            report(.lateAnswer)
            take(outcome, of: request, isJudged: isJudged)
        case .idle, .settling, .holding:
            guard isSuccess else { return }
            report(.lateAnswer)
            take(outcome, of: request, isJudged: isJudged)
        case .asking(let second)
        where isSuccess && second.refreshToken.map { $0.equals(request.refreshToken) } == true:
            report(.lateAnswer)
            take(outcome, of: request, isJudged: isJudged)
        case .looking, .locking, .reading, .spending, .asking, .judging, .saving, .performing:
            // The access token in it is let go: the refresh token brings another one.
            guard isSuccess else { return }
            report(.lateAnswer)
            rotate(to: outcome.refreshToken)
            if session.refusal != nil {
                session.refusal = nil
                changed()
            }
        case .stopped:
            break
        }
    }

    /// Ends connections that nobody waits for any longer.
    mutating func forgetOldRequests() {
        for request in unanswered where request.isConnected && request.sentAt + Self.longestLateness <= now {
            act(.hangUp(request.ticket))
            connectionEnded(request.ticket)
        }
        // A refresh token that is refused for good is in doubt no more.
        if session.refusal != nil { unanswered.removeAll { !$0.isConnected } }
        let token = session.refreshToken
        for request in unanswered where request.refreshToken?.equals(token) != true {
            if request.isConnected { act(.hangUp(request.ticket)) }
        }
        unanswered.removeAll { $0.refreshToken?.equals(token) != true }
    }

    /// Takes our mark out of the store once the refresh token that it names is no longer in doubt.
    mutating func takeMarkAway() {
        guard isMarked, !isUnwritten, unanswered.isEmpty, settledAt.map({ $0 <= now }) ?? true else { return }
        switch phase {
        case .spending, .asking, .judging, .saving: return
        case .idle, .looking, .settling, .locking, .reading, .silent, .holding, .performing, .stopped: break
        }
        isMarked = false
        act(.disclaim)
    }
}
