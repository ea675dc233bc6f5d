// SPDX-License-Identifier: Apache-2.0

/// Refresh tokens that the provider may replace, sent as ``UnansweredRefresh`` allows.
extension AuthSession {
    /// How often is looked whether a person wants the lock in another process.
    private static let claimLook: Duration = .milliseconds(500)

    /// Sends the refresh token, and waits for the answer for as long as one can come.
    ///
    /// The store's lock is kept meanwhile: whoever had it would send the token a second time. A person who wants it gets
    /// it; the connection is kept, and waited for again where nothing has changed.
    ///
    /// - Parameter held: the session that is to be replaced.
    /// - Returns: nil if the attempt was superseded, or makes room for a person.
    func rotation(_ grant: Grant, of held: HeldSession) async -> TokenRequestResult? {
        guard !family.isSuperseded else { return nil }
        let sent = refreshUnderWay(from: held)
        while true {
            let step = sent.rule.next(at: clock.now)
            let isSilent = sent.rule.isSilent(at: clock.now)
            if isSilent { refreshIsSilent(sent) }
            switch step {
            case .send:
                sent.requests.append(send(grant, as: sent))
            case .ask:
                sent.question = Task { _ = sent.sink.yield(.asked(await server.silence())) }
            case .end:
                return end(sent, with: sent.failure?.outcome, under: held.lease)
            case .wait(let moment):
                let look = clock.now + Self.claimLook
                guard let event = await event(of: sent, by: moment.map { min($0, look) } ?? look) else {
                    held.lease.leaveSpent()
                    abandonSentRefresh()
                    return nil
                }
                if case .time = event {
                    let isClaimed = await held.lease.isClaimed()
                    // Whoever comes next must find what we have: of two sessions of one generation one is lost.
                    if isSilent || isClaimed { await saveMeanwhile(over: held) }
                    sent.generation = held.stored?.generation ?? sent.generation
                    guard !isClaimed else {
                        held.lease.leaveSpent()
                        sent.isClaimed = true
                        return nil
                    }
                }
                if let outcome = take(event, of: sent) {
                    return self.end(sent, with: outcome, under: held.lease)
                }
            }
        }
    }

    /// What is on its way already, or else a new beginning.
    private func refreshUnderWay(from held: HeldSession) -> SentRefresh {
        let generation = (held.stored ?? state.session).generation
        if let sentRefresh, sentRefresh.generation == generation { return sentRefresh }
        abandonSentRefresh()
        let isInDoubt = held.lease.mayBeSpent
        if isInDoubt, unansweredGeneration != generation {
            report(.refreshTokenMayBeSpent(generation: generation))
        }
        let rule = UnansweredRefresh(
            isInDoubt: isInDoubt || unansweredGeneration == generation,
            waiting: state.configuration.tokenTimeLimit, at: clock.now)
        let sent = SentRefresh(generation: generation, rule, since: supersessions)
        sentRefresh = sent
        return sent
    }

    private func send(_ grant: Grant, as sent: SentRefresh) -> Task<Void, Never> {
        Task {
            var wasSent = false
            let outcome = await server.requestToken(
                with: grant, adding: additions, proving: state.session.proofKey,
                waitingAtMost: UnansweredRefresh.longestWait,
                unless: {
                    wasSent = supersessions.all == sent.supersessions.all
                    return !wasSent
                })
            if case .terminated = sent.sink.yield(.ended(outcome, wasSent: wasSent)),
                supersessions.ending > sent.supersessions.ending
            {
                await revoke(leftover: outcome)
            }
        }
    }

    /// - Returns: nil if the attempt is superseded.
    private func event(of sent: SentRefresh, by moment: Instant) async -> SentRefresh.Event? {
        let alarm = Task {
            if (try? await clock.sleep(until: moment)) != nil { sent.sink.yield(.time) }
        }
        defer { alarm.cancel() }
        return await sent.next()
    }

    /// - Returns: what brought a token, or at least another refresh token.
    private func take(_ event: SentRefresh.Event, of sent: SentRefresh) -> TokenRequestResult? {
        switch event {
        case .time:
            break
        case .asked(let failure):
            sent.rule.asked(isAnswered: failure == nil, at: clock.now)
            if let failure {
                sent.note(
                    TokenRequestResult(result: .failure(failure), sentAt: clock.now, wall: clock.wallNow),
                    isAnswer: false)
            }
        case .ended(let outcome, let wasSent):
            guard case .failure(let failure) = outcome.result, outcome.refreshToken == nil else {
                return outcome
            }
            let isLost = wasSent && (failure.reason == .timedOut || failure.reason == .interrupted)
            let isAnswer =
                wasSent && !isLost && failure.reason != .unreachable && failure.reason != .certificate
            sent.note(outcome, isAnswer: isAnswer)
            if isAnswer {
                sent.rule.refused()
            } else if isLost {
                sent.rule.lost(at: clock.now)
            } else {
                sent.rule.unsent(at: clock.now)
            }
        }
        return nil
    }

    private func end(
        _ sent: SentRefresh, with outcome: TokenRequestResult?, under lease: any StoreLease
    ) -> TokenRequestResult? {
        sentRefresh = nil
        sent.cancel()
        state.attempt?.isSilent = false
        var isKnown = !sent.rule.isInDoubt
        if case .success? = outcome?.result { isKnown = true }
        if outcome?.refreshToken != nil { isKnown = true }
        unansweredGeneration = isKnown ? nil : sent.generation
        if !isKnown { lease.leaveSpent() }
        return outcome
    }

    /// Nobody waits any more for what was sent.
    ///
    /// After a logout its answer is awaited all the same: what it brings is revoked.
    func abandonSentRefresh() {
        guard let sent = sentRefresh else { return }
        sentRefresh = nil
        sent.sink.finish()
        sent.question?.cancel()
        guard supersessions.ending > sent.supersessions.ending else { return sent.cancel() }
        let (earlier, requests) = (leftover, sent.requests)
        leftover = Task {
            await earlier?.value
            for request in requests { await request.value }
        }
    }

    /// The provider hangs: from here on people hear of it, and nobody waits who does not want to.
    private func refreshIsSilent(_ sent: SentRefresh) {
        let silence = TokenFailure(
            unansweredAt: server.pending ?? server.name, after: state.configuration.tokenTimeLimit)
        if !sent.isTold {
            sent.isTold = true
            report(.refreshUnanswered(silence))
        }
        let isNews = state.refreshIsSilent(with: sent.refusal ?? silence, at: clock.now, wall: clock.wallNow)
        guard isNews else { return }
        for waiter in attemptWaiters { waiter.wake(with: .failure(state.reason(at: clock.now))) }
        advance()
    }
}
