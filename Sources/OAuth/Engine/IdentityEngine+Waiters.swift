// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The callers that wait for a token, and the answers that they get.
extension IdentityEngine {
    /// How long a retry may be off for a request to wait for it rather than fail at once.
    private static let worthWaitingFor: Duration = .seconds(1)
    /// How long one request may wait for the renewal that an earlier one was to have, before it goes on without.
    private static let longestWithholding: Duration = .seconds(2)

    /// Has a request wait for an attempt that is under way, without a look at anything else.
    ///
    /// - Returns: false if there is more to do for the event.
    mutating func queuesUp(_ event: EngineEvent) -> Bool {
        guard case .tokenNeeded(let id, let waiter, let deadline, false) = event, !phase.isStopped,
            let state = targets[id], let attempt = state.attempt, !attempt.isSilent, !state.isWithheld,
            state.usable(at: now) == nil, now < deadline, !isHeldUpInVain(state)
        else { return false }
        if state.isLeaving { targets[id]?.isAwaited = true }
        waiters.append(Waiter(id: waiter, target: id, wish: .token, deadline: deadline))
        ring(by: deadline)
        return true
    }

    mutating func refreshRequested(
        _ id: TargetID, _ additions: TokenAdditions, by waiter: WaiterID, until deadline: Instant
    ) {
        guard let state = targets[id] else { return act(.wake(waiter, .failure(.stopped))) }
        guard canRenew else { return act(.wake(waiter, .failure(lackingSession))) }
        if state.attempt == nil {
            targets[id]?.isAskedFor = true
            targets[id]?.additions = additions
        }
        awaitAttempt(of: id, by: waiter, until: deadline)
    }

    mutating func tokenInvalidated(_ id: TargetID, by waiter: WaiterID, until deadline: Instant) {
        invalidate(id)
        awaitAttempt(of: id, by: waiter, until: deadline)
    }

    mutating func awaitAttempt(of id: TargetID, by waiter: WaiterID, until deadline: Instant) {
        guard let state = targets[id] else { return act(.wake(waiter, .failure(.stopped))) }
        wait(waiter, id, .attempt(after: state.endedAttempts), deadline)
    }

    mutating func wait(_ waiter: WaiterID, _ id: TargetID, _ wish: Waiter.Wish, _ deadline: Instant) {
        waiters.append(Waiter(id: waiter, target: id, wish: wish, deadline: deadline))
    }

    mutating func tokenNeeded(
        _ id: TargetID, by waiter: WaiterID, until deadline: Instant, isRenewed: Bool
    ) {
        guard var state = targets[id] else { return act(.wake(waiter, .failure(.stopped))) }
        if state.isLeaving { state.isAwaited = true }
        var wish = Waiter.Wish.token
        if state.isWithheld {
            state.isWithheld = false
            if let access = state.access {
                state.demand = access.snapshot.generation
                wish = .renewed(
                    after: state.endedAttempts, until: min(deadline, now + Self.longestWithholding))
            }
        }
        if isRenewed, !(state.attempt?.isSilent ?? false) || state.usable(at: now) == nil {
            wish = .renewed(after: state.endedAttempts, until: deadline)
        }
        targets[id] = state
        wait(waiter, id, wish, deadline)
        if isUnread, state.attempt == nil, readTicket == nil, state.usable(at: now) == nil { lookSoon() }
    }

    /// Never uses the present access token again.
    private mutating func invalidate(_ id: TargetID) {
        guard var state = targets[id] else { return }
        let isStored = session[state.request] != nil
        state.invalidated =
            state.access?.snapshot.generation ?? session[state.request]?.generation ?? session.generation
        state.access = nil
        state.unauthorized = nil
        state.isWithheld = false
        state.failure?.retry = now
        providerTrouble = nil
        targets[id] = state
        guard isStored else { return }
        session[state.request] = nil
        changed()
    }

    // MARK: Answers

    mutating func wake() {
        guard !waiters.isEmpty else { return }
        var waiting: [Waiter] = []
        for waiter in waiters {
            if let answer = answer(to: waiter) {
                act(.wake(waiter.id, answer))
            } else {
                waiting.append(waiter)
            }
        }
        waiters = waiting
    }

    /// - Returns: nil for one that goes on waiting.
    private func answer(to waiter: Waiter) -> EngineAction.Answer? {
        guard let state = targets[waiter.target] else { return .failure(.stopped) }
        let isLate = waiter.deadline <= now
        switch waiter.wish {
        case .token:
            return isLate ? lastAnswer(state) : token(state, until: waiter.deadline)
        case .renewed(let count, let end):
            if state.attempt != nil, state.endedAttempts == count, now < end { return nil }
            return isLate ? lastAnswer(state) : token(state, until: waiter.deadline)
        case .attempt(let count):
            if state.endedAttempts > count {
                return state.hasFailed ? .failure(reason(state)) : lastAnswer(state)
            }
            if isLate { return .failure(reason(state)) }
            return state.attempt != nil ? nil : token(state, until: waiter.deadline)
        case .verdict(let rejection):
            if let token = state.usable(at: now), token.generation > rejection.generation {
                return .token(token)
            }
            return isLate || !state.isBeingRenewed ? .letThrough : nil
        }
    }

    /// The answer to a request that can wait until `deadline`; nil if it waits.
    func token(_ state: TargetState, until deadline: Instant) -> EngineAction.Answer? {
        if let token = state.usable(at: now), !state.isWithheld { return .token(token) }
        if isHeldUpInVain(state) { return .failure(reason(state)) }
        if let attempt = state.attempt, !attempt.isSilent || !isLoginRequired(state) { return nil }
        if isUnread && isBeingRead || isFirstLook { return nil }
        if isLoginRequired(state) || !canRenew { return .failure(reason(state)) }
        guard let failure = state.failure else { return isStopping ? .failure(.stopped) : nil }
        switch failure.cause.kind {
        case .final, .misconfigured: return .failure(reason(state))
        case .doubtful, .transient:
            let isSoon = failure.retry <= min(now + Self.worthWaitingFor, deadline)
            return isSoon && !isStopping && !isStoreInVain(state) ? nil : .failure(reason(state))
        }
    }

    /// True if the store has failed more than once in a row, though nobody else keeps its lock: a try each second is no
    /// reason to wait.
    private func isStoreInVain(_ state: TargetState) -> Bool {
        guard let failure = state.failure, failure.count > 1, case .store(let error) = failure.cause.reason
        else { return false }
        return !error.isBusy
    }

    /// True if an attempt that is under way only tries such a store again.
    private func isHeldUpInVain(_ state: TargetState) -> Bool { isStoreInVain(state) && isStoreOfNoUse }

    /// The answer to a request whose deadline has come.
    private func lastAnswer(_ state: TargetState) -> EngineAction.Answer {
        state.usable(at: now).map { .token($0) } ?? .failure(reason(state))
    }

    // MARK: Reasons

    /// True if the answers leave no doubt that a person must log in.
    func isLoginRequired(_ state: TargetState) -> Bool {
        session.refusal != nil || state.doubtfulAnswers >= TokenFailure.doubtsAllowed
            || state.attempt?.isSilent == true && state.failure?.cause.kind == .final
    }

    /// Why there is nothing to ask with.
    private var lackingSession: TokenError {
        guard isUnread || isFirstLook, !configured.exchangesCallersTokens else { return .loginRequired }
        return isStoreAway(nil)
            ? .storeUnavailable(retryAfter: TokenFailure.lookAfterTrouble)
            : .unavailable(retryAfter: TokenFailure.lookAfterTrouble)
    }

    /// Why there is no token.
    func reason(_ state: TargetState) -> TokenError {
        if !configured.exchangesCallersTokens, isLoginRequired(state) || !canRenew {
            guard isUnread || isStoreAwaited else { return .loginRequired }
            return isStoreAway(state.failure)
                ? .storeUnavailable(retryAfter: TokenFailure.lookAfterTrouble)
                : .unavailable(retryAfter: TokenFailure.lookAfterTrouble)
        }
        let delay = max(.seconds(1), state.failure.map { $0.retry - now } ?? .zero)
        if state.failure?.cause.kind == .misconfigured {
            return .misconfigured(retryAfter: delay)
        }
        return isStoreAway(state.failure)
            ? .storeUnavailable(retryAfter: delay) : .unavailable(retryAfter: delay)
    }

    /// True if nobody knows what the store holds.
    var isUnread: Bool { storeTroubles[.load] != nil }

    /// True if the store is the reason for a missing token, and not the authorization server: without its lock nothing is
    /// asked for, nor before others have written what it may lack.
    private func isStoreAway(_ failure: LastFailure?) -> Bool {
        if storeTroubles[.lock]?.error.isBusy == true { return true }
        if let failure { return failure.cause.isAboutStore }
        if case .settling = phase { return true }
        return isStoreAwaited || isStoreOfNoUse
    }

    /// True if reading or the lease failed last, but for a lock that another process keeps.
    var isStoreOfNoUse: Bool {
        [StoreOperation.load, .lock].contains { operation in
            storeTroubles[operation].map { !$0.error.isBusy } ?? false
        }
    }

    /// True if the store has not answered what it should have answered by now.
    private var isStoreAwaited: Bool {
        switch phase {
        case .locking, .reading, .spending, .saving: storeAskedAt + Self.lockWait < now
        case .idle, .settling, .asking, .judging, .holding, .performing, .stopped:
            isFirstLook
        }
    }

    /// True while nothing is known of what is stored, because it is only being read.
    var isFirstLook: Bool { readTicket != nil && session.generation == 0 && !isStarted }
}
