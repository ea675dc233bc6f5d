// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Token requests and their answers.
extension IdentityEngine {
    /// However long the old access token is good for, the answer to a refresh token is waited for no longer than this, or
    /// than the configured limit.
    private static let rotationTimeLimit: Duration = .seconds(60)

    mutating func takeFromProvider(_ event: EngineEvent) {
        switch event {
        case .answered(let ticket, let outcome, let isJudged): answered(ticket, outcome, isJudged: isJudged)
        case .unanswered(let ticket, let failure, let isConnected):
            notAnswered(ticket, failure, isConnected: isConnected)
        case .connectionEnded(let ticket): connectionEnded(ticket)
        case .probed(let ticket, let isAnswered): probed(ticket, isAnswered: isAnswered)
        case .judged(let ticket, let outcome): judged(ticket, outcome)
        case .encodingLearned(let encoding): session.basicEncoding = encoding
        default: break
        }
    }

    // MARK: Asking

    /// Asks for a token, with the lease in hand.
    mutating func renew(_ target: TokenTarget, with grant: Grant) {
        guard case .refresh(let token) = grant else { return ask(target, grant) }
        switch clearance(for: token) {
        case .given:
            let request = SentRequest(
                ticket: newTicket(), target: target, grant: grant, origin: session.origin, sentAt: now)
            let ticket = newTicket()
            phase = .spending(ticket, request)
            isMarked = true
            act(.spend(ticket, tokensInDoubt))
        case .later, .afterProbe:
            if !configured.grantType.needsPerson { return askAnew(target) }
            let marks = lease?.marks ?? []  // of this token; the others do no harm
            if case .later(let end) = clearance(for: token) {
                phase = .settling(until: end)
                releaseLease()
            } else {
                releaseLease()
                doubt(token, marks: marks)
            }
        }
    }

    /// A grant from configuration is made again, rather than that anybody waits for what became of a refresh token.
    private mutating func askAnew(_ target: TokenTarget) {
        session.refreshToken = nil
        changed()
        ask(target, .original)
    }

    /// The session has changed in memory.
    mutating func changed() {
        session.generation += 1
        isUnwritten = true
        writeMoment = now
    }

    /// What a mark names: the store may hold a token that is spent already, while ours could not be written.
    private var tokensInDoubt: [Secret] {
        let stored = isUnwritten ? lease?.stored?.refreshToken : nil
        return [session.refreshToken, stored].compactMap(\.self)
    }

    /// Has the store keep everybody from the refresh token that is about to be written back: what a request of somebody
    /// else has made of it may not be stored yet, and the store has lost the mark of that.
    mutating func reserve() {
        let ticket = newTicket()
        phase = .spending(ticket, nil)
        isMarked = true
        act(.spend(ticket, tokensInDoubt))
    }

    mutating func spent(_ ticket: Ticket, _ result: Result<Void, StoreError>) {
        guard case .spending(ticket, let request) = phase else { return }
        guard let request else {
            if case .failure(.leaseLost) = result { lease = nil }
            return workUnderLease()
        }
        switch result {
        case .success:
            storeWorked(.lock)
            let isCurrent =
                request.origin == session.origin && session.refreshToken?.equals(request.refreshToken) == true
            // Without the lease somebody else may send it; and somebody may have logged in meanwhile.
            guard lease != nil, isCurrent, commands.isEmpty, stopMoment == nil else {
                return workUnderLease()
            }
            send(request)
        case .failure(let error):
            storeFailed(.lock, error)
            if error == .leaseLost { lease = nil }
            if error != .leaseLost, error != .outdated {
                failed(request.target, TokenFailure(error))
            } else {
                releaseLease()
            }
            workUnderLease()
        }
    }

    mutating func ask(_ target: TokenTarget, _ grant: Grant) {
        send(
            SentRequest(
                ticket: newTicket(), target: target, grant: grant, origin: session.origin, sentAt: now))
    }

    private mutating func send(_ request: SentRequest) {
        var request = request
        request.sentAt = now
        phase = .asking(request)
        report(.tokenRequestBegan)
        act(.ask(request.ticket, request.target, request.grant, within: timeLimit(of: request)))
    }

    /// An answer that is given up may hold the only refresh token that works, and as long as the old access token is good
    /// nobody is in a hurry.
    private func timeLimit(of request: SentRequest) -> Duration? {
        let limit = configured.tokenTimeLimit
        guard request.refreshToken != nil, limit > .zero, rotates != false,
            let access = targets[request.target]?.usable(at: now)
        else { return limit > .zero ? limit : nil }
        return max(limit, min(access.expiry - now, Self.rotationTimeLimit))
    }

    // MARK: Answers

    private mutating func answered(_ ticket: Ticket, _ outcome: TokenRequestResult, isJudged: Bool) {
        if case .asking(let request) = phase, request.ticket == ticket {
            return take(outcome, of: request, isJudged: isJudged)
        }
        if orphans.remove(ticket) != nil { return revoke(outcome) }
        guard let index = unanswered.firstIndex(where: { $0.ticket == ticket }) else { return }
        answeredLate(outcome, of: unanswered.remove(at: index), isJudged: isJudged)
    }

    /// Whether an answer is about the session that there is, or has brought its refresh token already.
    func isCurrent(_ request: SentRequest, _ outcome: TokenRequestResult) -> Bool {
        guard request.origin == session.origin else { return false }
        guard let sent = request.refreshToken else { return true }
        guard let present = session.refreshToken else { return false }
        return present.equals(sent) || present.equals(outcome.refreshToken)
    }

    /// Takes an answer in, and goes on from there; every other phase is left.
    mutating func take(_ outcome: TokenRequestResult, of request: SentRequest, isJudged: Bool) {
        guard isCurrent(request, outcome) else { return proceed() }
        if let key = outcome.proofKey { session.proofKey = key }
        guard !isJudged, case .success(let grant) = outcome.result, grant.idToken != nil,
            configured.grantType.needsPerson
        else { return conclude(outcome, of: request) }
        if rotate(to: outcome.refreshToken), lease != nil {
            return save(judging: JudgedLater(request: request, outcome: outcome))
        }
        judge(outcome, of: request)
    }

    /// Goes on with what is due.
    private mutating func proceed() {
        if lease != nil { workUnderLease() } else { phase = .idle }
    }

    /// An answer has brought a refresh token, which is kept whatever else is wrong with it.
    ///
    /// - Returns: whether it is another one.
    @discardableResult
    mutating func rotate(to refreshToken: Secret?) -> Bool {
        guard let refreshToken, let present = session.refreshToken, !present.equals(refreshToken) else {
            return false
        }
        replace(present)
        session.refreshToken = refreshToken
        rotates = true
        hasStoredWorked = true
        changed()
        return true
    }

    mutating func judge(_ outcome: TokenRequestResult, of request: SentRequest) {
        let ticket = newTicket()
        phase = .judging(ticket, request, outcome)
        act(.judge(ticket, outcome, previous: session.idToken))
    }

    private mutating func judged(_ ticket: Ticket, _ outcome: TokenRequestResult) {
        guard case .judging(ticket, let request, _) = phase else { return }
        guard isCurrent(request, outcome) else { return proceed() }
        conclude(outcome, of: request)
    }

    /// An answer that is judged becomes the session, or a failure.
    private mutating func conclude(_ outcome: TokenRequestResult, of request: SentRequest) {
        unanswered.removeAll { !$0.isConnected && $0.refreshToken?.equals(request.refreshToken) ?? false }
        switch outcome.result {
        case .success(let grant):
            report(.tokenRequested(request.target, nil))
            granted(grant, to: request, outcome)
        case .failure(let failure):
            report(.tokenRequested(request.target, failure))
            failed(failure, request, outcome.refreshToken)
        }
        proceed()
    }

    private mutating func granted(
        _ grant: TokenResponse, to request: SentRequest, _ outcome: TokenRequestResult
    ) {
        guard var state = targets[request.target] else { return }
        let lifetime =
            grant.lifetime ?? state.knownLifetime
            ?? min(configured.defaultLifetime, ClientConfiguration.longestLifetime)
        if lifetime > .zero { state.knownLifetime = grant.lifetime ?? state.knownLifetime }
        if let sent = request.refreshToken, configured.grantType.needsPerson {
            rotates = grant.refreshToken.map { !$0.equals(sent) } ?? false
        }
        let before = session.refreshToken
        let (next, token) = session.renewed(
            by: grant, lasting: lifetime, for: state.client, request: state.request, sentAt: outcome.sentAt,
            wall: outcome.wall, jitter: moment.jitter)
        session = next
        if let before, !before.equals(next.refreshToken) { replace(before) }
        isUnwritten = true
        writeMoment = now
        hasStoredWorked = true
        state.pending = token
        state.endedAttempts += 1
        targets[request.target] = state
    }

    private mutating func failed(_ failure: TokenFailure, _ request: SentRequest, _ refreshToken: Secret?) {
        let asksByItself = targets[request.target]?.client.asksByItself ?? false
        if !asksByItself { rotate(to: refreshToken) }
        if case .refresh = request.grant, !configured.grantType.needsPerson,
            failure.kind == .final || failure.kind == .doubtful
        {
            // Only its refresh token died: the grant itself is made again.
            session.refreshToken = nil
            return changed()
        }
        let before = (session.refusal, session.barredRequests)
        if failure.kind == .final { session.refusal = failure.refusal ?? .invalidGrant }
        if let state = targets[request.target], request.refreshToken != nil, rotates != false {
            session = session.barring(state.request, after: failure)
        }
        if before != (session.refusal, session.barredRequests) { changed() }
        failed(request.target, failure)
        guard session.refusal != nil else { return }
        for target in order {
            targets[target]?.demand = nil
            targets[target]?.isAskedFor = false
        }
    }

    /// The attempt for `target` has brought no token.
    mutating func failed(_ target: TokenTarget, _ failure: TokenFailure) {
        let moment = moment
        targets[target]?.failed(failure, at: moment)
    }

    private mutating func notAnswered(_ ticket: Ticket, _ failure: TokenFailure, isConnected: Bool) {
        guard case .asking(var request) = phase, request.ticket == ticket else {
            if !isConnected { connectionEnded(ticket) }
            return
        }
        report(.tokenRequested(request.target, failure))
        if let token = request.refreshToken, rotates != false, configured.grantType.needsPerson {
            request.isConnected = isConnected
            unanswered.append(request)
            failed(request.target, failure)
            let now = now
            targets[request.target]?.failure?.retry = now
            releaseLease()
            return doubt(token)
        }
        if isConnected { act(.hangUp(ticket)) }
        if request.refreshToken != nil, rotates != false {
            session.refreshToken = nil
            changed()
        }
        failed(request.target, failure)
        proceed()
    }

    /// Has the provider forget what an answer brought that is nobody's; an access token goes with its refresh token.
    private mutating func revoke(_ outcome: TokenRequestResult) {
        let grant = try? outcome.result.get()
        if let token = outcome.refreshToken ?? grant?.refreshToken {
            act(.revoke(token, .refreshToken))
        } else if let token = grant?.accessToken {
            act(.revoke(token, .accessToken))
        }
    }

    mutating func credentialsChanged() {
        let now = now
        for target in order where targets[target]?.failure?.failure.kind == .misconfigured {
            targets[target]?.failure?.retry = now
        }
    }
}
