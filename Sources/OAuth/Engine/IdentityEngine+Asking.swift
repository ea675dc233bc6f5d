// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Token requests, and refresh tokens whose answer is missing: they are never sent again on a guess.
extension IdentityEngine {
    /// Between two looks whether somebody claims the lease.
    static let claimCheck: Duration = .milliseconds(500)
    /// How long we stay away from a lease that somebody claims; longer than the time between two of their tries.
    static let claimPause: Duration = .seconds(1)

    // MARK: Asking

    /// Makes a request without a refresh token.
    ///
    /// - Parameter error: why nothing can be stored of what it brings; nil with the lease in hand.
    mutating func ask(_ id: TargetID, _ grant: Grant, after error: StoreError? = nil) {
        var asking = asking(for: id, with: grant)
        asking.trouble = error
        report(.tokenRequestBegan)
        send(&asking)
        phase = .asking(asking)
    }

    /// Sends the refresh token, or goes on waiting for the answer to it.
    mutating func beginAsking(_ id: TargetID, _ grant: Grant) {
        var asking = asking(for: id, with: grant)
        report(.tokenRequestBegan)
        lease?.leavesMark = false
        guard mayRotate(grant) || isDoubted else {
            send(&asking)
            return phase = .asking(asking)
        }
        if takeUpAdrift(generation: asking.generation) { return }
        abandonAdrift()
        if isDoubted, toldDoubt != session.doubtedToken {
            toldDoubt = session.doubtedToken
            report(.refreshTokenMayBeSpent(generation: asking.generation))
        }
        asking.rule = UnansweredRefresh(
            isInDoubt: isDoubted, isOurs: lease?.isDoubtOurs ?? false, waiting: configured.tokenTimeLimit,
            at: now)
        // Whoever has the answer to an earlier request may be waiting already.
        asking.claimCheck = (isDoubted ? now : now + Self.claimCheck, nil)
        phase = .asking(asking)
        advanceAsking()
    }

    private func asking(for id: TargetID, with grant: Grant) -> Asking {
        Asking(
            for: id, with: grant, by: requestingClient(of: id), of: session,
            generation: (lease?.stored ?? session).generation, at: now)
    }

    private mutating func send(_ asking: inout Asking) {
        guard let state = targets[asking.target] else { return }
        let ticket = newTicket()
        asking.requests.append(ticket)
        targets[asking.target]?.sentAdditions = state.additions.number
        act(.ask(ticket, asking.target, asking.grant, additions(for: state), waitsLong: asking.rule != nil))
    }

    /// Does what the rule says of a refresh token that was sent, or is to be.
    mutating func advanceAsking() {
        while case .asking(var asking) = phase, var rule = asking.rule, asking.meanwhile == nil {
            if isStopping || targets[asking.target] == nil { rule.stop() }
            // The last moment at which whoever has an answer to an earlier request can say so.
            if rule.isAboutToRepeat, asking.finalClaimCheck != .foundNobody {
                guard asking.claimCheck.ticket == nil else { return }
                asking.finalClaimCheck = .underWay
                return lookForClaim(asking)
            }
            asking.finalClaimCheck = nil
            let step = rule.next(at: now)
            asking.rule = rule
            phase = .asking(asking)
            if rule.isSilent(at: now) { isSilent() }
            guard case .asking(var asking) = phase else { return }
            switch step {
            case .send:
                send(&asking)
                phase = .asking(asking)
            case .probe:
                let ticket = newTicket()
                asking.probe = ticket
                phase = .asking(asking)
                act(.probe(ticket, asking.target))
            case .end:
                return endAsking(asking, with: asking.failure?.outcome)
            case .wait:
                if rule.mayGiveWay(at: now), !commands.isEmpty { return makeRoomForCommand() }
                guard asking.claimCheck.due <= now, asking.claimCheck.ticket == nil else { return }
                return lookForClaim(asking)
            }
        }
    }

    private mutating func lookForClaim(_ asking: Asking) {
        var asking = asking
        let ticket = newTicket()
        asking.claimCheck.ticket = ticket
        phase = .asking(asking)
        act(.lookForClaim(ticket))
    }

    func nextMoment(of asking: Asking) -> Instant? {
        guard var rule = asking.rule, asking.meanwhile == nil else { return nil }
        let look = asking.claimCheck.ticket == nil ? asking.claimCheck.due : nil
        guard case .wait(let moment) = rule.next(at: now) else { return look }
        return [moment, look].compactMap(\.self).min()
    }

    /// Tells people that the authorization server hangs; nobody waits from here on who does not want to.
    private mutating func isSilent() {
        guard case .asking(var asking) = phase, var state = targets[asking.target] else { return }
        let silence = TokenFailure(unansweredAt: unansweredEndpoint, after: configured.tokenTimeLimit)
        if !asking.isTold {
            asking.isTold = true
            phase = .asking(asking)
            report(.refreshUnanswered(silence))
        }
        let failure = asking.refusal ?? silence
        guard state.attempt?.isSilent == false || state.failure?.cause.kind != failure.kind else { return }
        state.attempt?.isSilent = true
        state.isWithheld = false
        let previous = state.failure.flatMap { $0.cause.kind == failure.kind ? $0.count : nil } ?? 0
        state.failure = LastFailure(cause: failure, count: previous, retry: now, at: moment.wall)
        state.endedAttempts += 1
        state.hasFailed = true
        targets[asking.target] = state
    }

    // MARK: What comes of it

    /// True if a request that waited for metadata, a credential or a connection may still be sent, or sent anew.
    ///
    /// One that was ever left may not: whoever had the lease then may have sent the same refresh token. Nor may one that
    /// another one of ours has followed, which carries that token, too.
    func wants(_ ticket: Ticket) -> Bool {
        guard case .asking(let asking) = phase else { return false }
        return asking.requests.last == ticket && asking.rule?.isOursAlone ?? true
    }

    /// From here on an answer is waited for.
    mutating func requestBegan(_ ticket: Ticket) {
        guard wants(ticket), case .asking(var asking) = phase else { return }
        asking.rule?.begun(at: now)
        phase = .asking(asking)
    }

    /// The time that its answer may take is counted from here, and not from the time when it began to connect.
    mutating func requestConnected(_ ticket: Ticket) {
        guard wants(ticket), case .asking(var asking) = phase, asking.rule?.isPreparing == false else {
            return
        }
        asking.rule?.connected(at: now)
        phase = .asking(asking)
    }

    mutating func answered(_ ticket: Ticket, _ answer: TokenRequestReport) {
        if let client = orphans.removeValue(forKey: ticket) { return revoke(answer.outcome, of: client) }
        if adrift?.requests.contains(ticket) == true {
            adrift?.deferred.append(.answered(ticket, answer))
            return
        }
        guard case .asking(var asking) = phase, let index = asking.requests.firstIndex(of: ticket) else {
            return
        }
        if asking.meanwhile != nil {
            asking.deferred.append(.answered(ticket, answer))
            return phase = .asking(asking)
        }
        session.basicEncoding = answer.encoding
        let isNewest = asking.requests.last == ticket
        asking.requests.remove(at: index)
        if asking.requests.isEmpty, answer.wasSuperseded {
            // Whoever has had the lease since has stored what it brought, or has left its mark.
            nextRead = now
            return endAsking(asking, with: nil)
        }
        let isLost = answer.isLost
        guard var rule = asking.rule, let failure = answer.outcome.failure, answer.outcome.refreshToken == nil
        else {
            return endAsking(asking, with: answer.outcome, needsKeys: answer.needsKeys, isLost: isLost)
        }
        let isAnswer =
            answer.wasSent && !isLost && failure.reason != .unreachable && failure.reason != .certificate
        asking.note(answer.outcome, isAnswer: isAnswer)
        if isAnswer {
            rule.refused()
        } else if answer.isGateways {
            rule.givenUpByGateway()
        } else if isLost {
            rule.lost(at: now)
        } else {
            rule.unsent(isNewest: isNewest, at: now)
        }
        asking.rule = rule
        phase = .asking(asking)
        advanceAsking()
    }

    mutating func probed(_ ticket: Ticket, _ failure: TokenFailure?) {
        if adrift?.probe == ticket {
            adrift?.deferred.append(.probed(ticket, failure))
            return
        }
        guard case .asking(var asking) = phase, asking.probe == ticket else { return }
        asking.probe = nil
        asking.rule?.probed(isAnswered: failure == nil, at: now)
        if let failure {
            asking.note(
                TokenRequestResult(result: .failure(failure), sentAt: now, wall: moment.wall), isAnswer: false
            )
        }
        phase = .asking(asking)
        advanceAsking()
    }

    mutating func endAsking(
        _ asking: Asking, with outcome: TokenRequestResult?, needsKeys: Bool = false, isLost: Bool = false
    ) {
        for ticket in asking.requests { act(.hangUp(ticket)) }
        if let probe = asking.probe { act(.hangUp(probe)) }
        targets[asking.target]?.attempt?.isSilent = false
        let hasSucceeded = outcome.map { $0.failure == nil || $0.refreshToken != nil } ?? false
        let isOpen = asking.rule?.isInDoubt ?? (isLost && mayBeDoubted(asking.grant))
        note(asking, isInDoubt: isOpen && !hasSucceeded)
        lease?.isDoubtOurs = asking.rule?.isOursAlone ?? true
        guard let outcome else {
            if isStopping { endAttempt(of: asking.target, nil) } else { restartAttempt(of: asking.target) }
            pauseEnd = now + Self.claimPause
            releaseLease()
            return phase = .idle
        }
        take(outcome, of: asking, needsKeys: needsKeys)
    }

    // MARK: Doubts

    /// True if our refresh token may be spent, and only a person could get another.
    var isDoubted: Bool { configured.grantType.needsPerson && session.isDoubted }

    /// True if it matters whether a request has spent its refresh token.
    private func mayBeDoubted(_ grant: Grant) -> Bool {
        if case .refresh = grant { configured.grantType.needsPerson } else { false }
    }

    /// Takes note whether anybody knows what became of a request's refresh token; an authorization server that has never
    /// replaced one may do so at any time.
    mutating func note(_ asking: Asking, isInDoubt: Bool) {
        guard let token = asking.refreshToken else { return }
        lease?.leavesMark = isInDoubt
        if isInDoubt {
            guard token.matches(session.refreshToken) else { return }
            session.doubt()
            toldDoubt = session.doubtedToken
        } else if session.doubtedToken == token.digest {
            session.doubtedToken = nil
        }
    }

    // MARK: Writing while the provider hangs

    mutating func saveMeanwhile() {
        guard case .asking(var asking) = phase, let lease else { return }
        note(asking, isInDoubt: asking.rule?.isOpen ?? true)
        countOn(from: lease.stored)
        let ticket = newTicket()
        asking.meanwhile = .saving(ticket, session)
        phase = .asking(asking)
        act(.save(ticket, session, over: lease.stored, keepingPrevious: hasStoredWorked))
    }

    /// Takes in what became of a write or a mark while an answer is awaited.
    ///
    /// - Returns: false if the event is about something else.
    mutating func endMeanwhile(_ event: EngineEvent) -> Bool {
        guard case .asking(var asking) = phase, let meanwhile = asking.meanwhile else { return false }
        var isLeaseLost = false
        switch (event, meanwhile) {
        case (.saved(let ticket), .saving(let mine, let written)) where ticket == mine:
            noteSaved(written)
            // The refresh token that was sent is that of this generation now.
            asking.generation = written.generation
            phase = .asking(asking)
            markAgain(written)
            return true
        case (.notSaved(let ticket, let error, let hasMoved), .saving(let mine, _)) where ticket == mine:
            storeFailed(.save, error)
            lease?.isUnsure = error != .outdated
            lease?.hasMoved = hasMoved
            writeMoment = now + Self.pauseAfterTrouble
            isLeaseLost = error == .leaseLost
        case (.spent(let ticket, let result), .spending(let mine)) where ticket == mine:
            // Writing has removed the mark of what was sent.
            asking.lacksMark = false
            if case .failure(let error) = result {
                (asking.lacksMark, isLeaseLost) = (true, error == .leaseLost)
            }
        default: return false
        }
        asking.meanwhile = nil
        phase = .asking(asking)
        if isLeaseLost {
            nextRead = now
            claimLostLease()
            letGo()
            return true
        }
        let events = asking.deferred
        asking.deferred = []
        phase = .asking(asking)
        for event in events { take(event) }
        if case .asking(let asking) = phase, asking.isClaimed {
            // Its requests are nobody's, or none was sent; else it may be answered any moment.
            let isLate = asking.rule?.mayGiveWay(at: now) ?? false
            if asking.requests.isEmpty || isLate && !asking.lacksMark { makeRoom() }
        }
        return true
    }
}
