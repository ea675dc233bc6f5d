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
        if !exchanges.isUnderWay(caller.digest) {
            if let barrier = state.barrier(toCallersAt: now) { throw barrier }
            guard !exchanges.isFull else { throw .unavailable(retryAfter: .seconds(1)) }
        }
        if exchanges.join(waiter, for: caller.digest) { Task { await exchange(caller, callers) } }
        let alarm = Task {
            guard (try? await clock.sleep(until: waiter.deadline)) != nil else { return }
            waiter.wake(with: .failure(.unavailable(retryAfter: .seconds(1))))
        }
        defer { alarm.cancel() }
        return try await waiter.value()
    }

    private func exchange(_ caller: CallerToken, _ callers: CallerTokens) async {
        let grant = Grant.onBehalf(of: caller.token)
        let epoch = exchanges.epoch
        let outcome = await server.requestToken(with: grant, proving: await proofKeyForCallers())
        let now = clock.now
        switch outcome.result {
        case .success(let granted):
            reportRequest(grant, outcome)
            let token = state.callerServed(
                granted, to: caller, generation: exchanges.nextGeneration(), sentAt: outcome.sentAt)
            let end = caller.end.map { now + ($0 - clock.wallNow) }
            if epoch == exchanges.epoch { callers.keep(token, for: caller.digest, until: end, at: now) }
            exchanges.end(caller.digest, with: .success(.token(token)))
        case .failure(let failure) where failure.isAboutCaller:
            report(.callerRefused(failure))
            callers.refuse(caller.digest, at: now)
            exchanges.end(caller.digest, with: .success(.refused))
        case .failure(let failure):
            reportRequest(grant, outcome)
            state.callerFailed(failure, at: now, wall: clock.wallNow, jitter: random())
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
