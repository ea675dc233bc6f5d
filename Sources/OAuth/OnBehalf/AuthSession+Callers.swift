// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// Tokens on behalf of the callers, each exchanged for the caller's own (`subject_token: from_request`).
extension AuthSession {
    /// The token that stands for a caller's own: at once if it is known, else that of the one exchange under way.
    ///
    /// Cancelling the caller ends its wait, never the exchange.
    ///
    /// - Throws: ``TokenError`` at the latest after `limit`, if the identity has none to give to anybody.
    package func token(
        onBehalfOf caller: CallerToken, waitingAtMost limit: Duration
    ) async throws(TokenError) -> CallerTokens.Known {
        guard !isStopped, let callers else { throw .cancelled }
        let now = clock.now
        if let known = callers.known(caller.digest, at: now) { return known }
        let waiter = TokenWaiter<CallerTokens.Known>(deadline: now + limit)
        if !exchanges.isAwaited(caller.digest) {
            if let barrier = barrier(to: caller, at: now) { throw barrier }
            guard !exchanges.isFull() else { throw .unavailable(retryAfter: .seconds(1)) }
        }
        exchanges.join(waiter, for: caller)
        beginExchanges()
        let alarm = Task {
            guard (try? await clock.sleep(until: waiter.deadline)) != nil else { return }
            waiter.wake(with: .failure(.unavailable(retryAfter: .seconds(1))))
        }
        defer { alarm.cancel() }
        return try await waiter.value()
    }

    /// Why this caller's token is not exchanged now; nil if it may be.
    private func barrier(to caller: CallerToken, at now: Instant) -> TokenError? {
        state.barrier(toCallersAt: now) ?? exchanges.failures.barrier(to: caller.digest, at: now)
    }

    /// Begins the exchanges whose turn it is.
    func beginExchanges() {
        guard let callers else { return }
        if isStopped { return exchanges.endQueued(with: .cancelled) }
        // Whoever waits for its turn has not asked the provider: it need not, to hear that it is of no use.
        if let barrier = state.barrier(toCallersAt: clock.now) { return exchanges.endQueued(with: barrier) }
        while let caller = exchanges.next(isProbing: state.failure != nil) {
            Task { await exchange(caller, callers) }
        }
    }

    private func exchange(_ caller: CallerToken, _ callers: CallerTokens) async {
        let begun = clock.now
        let grant = Grant.onBehalf(of: caller.token)
        let epoch = exchanges.epoch
        let outcome = await server.requestToken(with: grant, proving: await proofKeyForCallers())
        let now = clock.now
        switch outcome.result {
        case .success(let granted):
            reportRequest(grant, outcome)
            exchanges.failures.succeeded(for: caller.digest)
            let token = state.callerServed(
                granted, to: caller, generation: exchanges.nextGeneration(), sentAt: outcome.sentAt)
            let end = caller.end.map { now + ($0 - clock.wallNow) }
            if epoch == exchanges.epoch { callers.keep(token, for: caller.digest, until: end, at: now) }
            exchanges.end(caller.digest, with: .success(.token(token)))
        case .failure(let failure) where failure.isAboutCaller:
            report(.callerRefused(failure))
            exchanges.failures.succeeded(for: caller.digest)
            state.callerRefused()
            callers.refuse(caller.digest, at: now)
            exchanges.end(caller.digest, with: .success(.refused))
        case .failure(let failure):
            reportRequest(grant, outcome)
            let jitter = random()
            let isNews = exchanges.failures.failed(
                failure, for: caller.digest, begunAt: begun, at: now, jitter: jitter)
            state.callerFailed(failure, isNews: isNews, at: now, wall: clock.wallNow, jitter: jitter)
            exchanges.end(caller.digest, with: .failure(state.reason(at: now)))
        }
        advance()
    }

    /// The one key that all callers' tokens are bound to, made by the first exchange; nil for none.
    private func proofKeyForCallers() async -> ProofKey? {
        if let key = exchanges.proofKey { return key }
        // What fails here fails in the request too, which tells of it.
        let made = (try? await server.proofKey(nil)) ?? nil
        exchanges.proofKey = exchanges.proofKey ?? made
        return exchanges.proofKey
    }

    /// A person wants everything to be asked for anew, or nothing to be used any more.
    ///
    /// - Returns: false for an identity with tokens of its own.
    @discardableResult
    package func forgetCallers() -> Bool {
        guard let callers else { return false }
        callers.removeAll()
        exchanges.beginEpoch()
        state.callersForgotten()
        advance()
        return true
    }
}

extension TokenFailure {
    /// Whether the provider refused what the caller has sent, and not us.
    fileprivate var isAboutCaller: Bool {
        switch reason {
        case .refused(.invalidGrant), .refused(.invalidRequest), .refused(.accessDenied): true
        // Nothing else in the request can be that long (RFC 9110 §15.5.14, RFC 6585 §5).
        case .status(413), .status(431): true
        default: false
        }
    }
}
