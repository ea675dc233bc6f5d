// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Token exchange (RFC 8693) of each caller's own token (`subject_token: from_request`).
extension AuthSession {
    /// The token that a caller's own is exchanged for: a known one, or that of the one exchange under way.
    ///
    /// Cancelling the task ends its wait, never the exchange.
    ///
    /// - Parameter peer: the sender of the request; failures of its callers hold up no other peer's.
    /// - Throws: ``TokenError`` if there is none within `limit`.
    package func token(
        onBehalfOf caller: CallerToken, from peer: [UInt8], waitingAtMost limit: Duration
    ) async throws(TokenError) -> CallerTokens.Known {
        guard !isStopped, let callers else { throw .stopped }
        let now = clock.now
        if let known = callers.known(caller.digest, at: now) { return known }
        let waiter = OneTimeWaiter<CallerTokens.Known>()
        let group = callers.hasServed(caller.digest) ? CallerGroup.served : .peer(peer)
        if !exchanges.isAwaited(caller.digest) {
            if let barrier = exchanges.failures.barrier(to: caller.digest, in: group, at: now) {
                throw barrier
            }
            guard exchanges.makeRoom(for: group) else { throw .unavailable(retryAfter: .seconds(1)) }
        }
        exchanges.join(waiter, for: .init(caller: caller, group: group, peer: .peer(peer)))
        beginExchanges()
        let alarm = Task {
            guard (try? await clock.sleep(until: now + limit)) != nil else { return }
            waiter.wake(with: .failure(.unavailable(retryAfter: .seconds(1))))
        }
        defer { alarm.cancel() }
        return try await waiter.value()
    }

    /// Begins the exchanges that may begin now.
    func beginExchanges() {
        guard let callers else { return }
        if isStopped { return exchanges.stopQueued() }
        while let candidate = exchanges.next(at: clock.now) {
            Task { await exchange(candidate, callers) }
        }
        ringForExchanges()
    }

    private func ringForExchanges() {
        exchangeAlarm?.cancel()
        exchangeAlarm = nil
        guard let moment = exchanges.nextMoment else { return }
        exchangeAlarm = Task {
            guard (try? await clock.sleep(until: moment)) != nil else { return }
            beginExchanges()
        }
    }

    /// Takes in what an exchange says of the authorization server.
    private func noteExchange(_ change: @Sendable (LastFailure?) -> LastFailure?) {
        join()
        let target = target
        core.assumeIsolated { $0.noteExchange(for: target, change) }
    }

    private func exchange(_ candidate: CallerExchanges.Candidate, _ callers: CallerTokens) async {
        let begun = clock.now
        let (caller, group) = (candidate.caller, candidate.group)
        let grant = Grant.onBehalf(of: caller.token)
        let epoch = exchanges.epoch
        // The provider may repeat the caller's token in its response: it is listed as a secret meanwhile.
        let listing = caller.listing
        let outcome = await server.requestToken(with: grant, proving: await proofKeyForCallers())
        let now = clock.now
        switch outcome.result {
        case .success(let granted):
            reportRequest(grant, outcome.result)
            exchanges.failures.succeeded(for: caller.digest, in: [group, candidate.peer])
            noteExchange { _ in nil }
            let token = token(of: granted, for: caller, sentAt: outcome.sentAt)
            let end = caller.end.map { now + ($0 - clock.wallNow) }
            if epoch == exchanges.epoch {
                callers.keep(token, for: caller.digest, listing, until: end, at: now)
            }
            exchanges.end(candidate, with: .success(.token(token)))
        case .failure(let failure) where failure.isAboutCaller:
            report(.callerRefused(failure))
            exchanges.failures.refused(caller.digest, in: group)
            // The provider is at work.
            noteExchange { $0?.cause.kind == .transient ? nil : $0 }
            if epoch == exchanges.epoch { callers.refuse(caller.digest, at: now) }
            exchanges.end(candidate, with: .success(.refused))
        case .failure(let failure):
            report(.callerFailed(failure))
            slot.blame(failure.server)
            let moment = Moment(now: now, wall: clock.wallNow, jitter: random())
            let retry = exchanges.failures.failed(
                failure, for: caller.digest, in: group, begunAt: begun, at: moment)
            if let retry {
                noteExchange { last in
                    LastFailure(
                        cause: failure, count: last.map { min($0.count + 1, 1000) } ?? 1, retry: retry,
                        at: moment.wall)
                }
            }
            let barrier = exchanges.failures.barrier(to: caller.digest, in: group, at: now)
            exchanges.end(
                candidate, with: .failure(barrier ?? .unavailable(retryAfter: .seconds(1))))
        }
        beginExchanges()
    }

    /// The access token of a caller, of an exchange's response.
    private func token(
        of response: TokenResponse, for caller: CallerToken, sentAt: Instant
    ) -> AccessTokenSnapshot {
        let lifetime =
            response.lifetime
            ?? min(server.configuration.defaultLifetime, ClientConfiguration.longestLifetime)
        return AccessToken(
            response.accessToken, boundTo: response.isBound ? response.proofKey : nil,
            generation: exchanges.nextGeneration(), subject: caller.subject, end: sentAt + lifetime,
            lifetime: lifetime, margin: .zero, jitter: 0
        ).snapshot
    }

    /// The key that all callers' tokens are bound to, made by the first exchange; nil for none.
    private func proofKeyForCallers() async -> ProofKey? {
        if let key = exchanges.proofKey { return key }
        // A failure here occurs in the request too, which reports it.
        let made = (try? await server.proofKey(nil)) ?? nil
        exchanges.proofKey = exchanges.proofKey ?? made
        return exchanges.proofKey
    }

    /// Forgets the tokens of all callers.
    ///
    /// - Returns: false for an identity with tokens of its own.
    @discardableResult
    package func forgetCallers() -> Bool {
        guard let callers else { return false }
        callers.removeAll()
        exchanges.beginEpoch()
        noteExchange { _ in nil }
        beginExchanges()
        return true
    }
}

extension TokenFailure {
    /// True if the authorization server refused the caller's token, and not us.
    fileprivate var isAboutCaller: Bool {
        switch reason {
        case .refused(.invalidGrant), .refused(.invalidRequest), .refused(.accessDenied): true
        // Only the caller's token can make the request too large (RFC 9110 §15.5.14, RFC 6585 §5).
        case .status(413), .status(431): true
        default: false
        }
    }
}
