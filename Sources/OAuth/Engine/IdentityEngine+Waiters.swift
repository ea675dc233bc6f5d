// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// Who waits for a token, and what they get.
extension IdentityEngine {
    /// How long a retry may be off for a request to wait for it rather than fail at once.
    private static let worthWaitingFor: Duration = .seconds(1)
    /// How long one request may wait for the renewal that an earlier one was to have, before it goes on without.
    private static let longestWithholding: Duration = .seconds(2)
    /// Between two looks at a store that cannot be read, however many requests would like one.
    private static let leastPause: Duration = .milliseconds(100)

    mutating func takeWish(_ event: EngineEvent) {
        switch event {
        case .tokenNeeded(let target, let id, let deadline):
            guard let wish = needed(target) else { return act(.refuse(id, .cancelled)) }
            wait(id, target, wish, deadline)
        case .refreshRequested(let target, let id, let deadline):
            guard stopMoment == nil, let state = targets[target] else { return act(.refuse(id, .cancelled)) }
            guard canRenew else { return act(.refuse(id, reason(target))) }
            if !isBeingAsked(target) { targets[target]?.isAskedFor = true }
            wait(id, target, .renewal(after: state.endedAttempts), deadline)
        case .tokenInvalidated(let target, let id, let deadline):
            guard stopMoment == nil, let state = targets[target] else { return act(.refuse(id, .cancelled)) }
            invalidate(target)
            wait(id, target, .renewal(after: state.endedAttempts), deadline)
        case .waiterLeft(let id):
            waiters.removeAll { $0.id == id }
        default:
            break
        }
    }

    mutating func wait(_ id: WaiterID, _ target: TokenTarget, _ wish: Waiter.Wish, _ deadline: Instant) {
        waiters.append(Waiter(id: id, target: target, wish: wish, deadline: deadline))
    }

    /// A request wants a token and none is published.
    private mutating func needed(_ target: TokenTarget) -> Waiter.Wish? {
        guard stopMoment == nil, var state = targets[target] else { return nil }
        defer { targets[target] = state }
        if storeTroubles[.load] != nil, let look = lookMoment {
            lookMoment = min(look, now + Self.leastPause)
        }
        guard state.isWithheld else { return .token }
        state.isWithheld = false
        guard let access = state.access else { return .token }
        state.demand = access.snapshot.generation
        return .renewed(after: state.endedAttempts, until: now + Self.longestWithholding)
    }

    /// A person wants the present access token never to be used again.
    private mutating func invalidate(_ target: TokenTarget) {
        guard var state = targets[target] else { return }
        let isStored = session[state.request] != nil
        state.invalidated =
            state.access?.snapshot.generation ?? session[state.request]?.generation ?? session.generation
        state.access = nil
        state.unauthorized = nil
        state.isWithheld = false
        state.failure?.retry = now
        session[state.request] = nil
        targets[target] = state
        if isStored { changed() }
    }

    /// Whether a request for `target` is under way already.
    func isBeingAsked(_ target: TokenTarget) -> Bool {
        switch phase {
        case .asking(let request), .judging(_, let request, _), .spending(_, let request?):
            request.target == target
        case .saving(_, _, let later):
            targets[target]?.pending != nil || later?.request.target == target
        case .idle, .looking, .settling, .locking, .reading, .spending, .silent, .holding, .performing,
            .stopped:
            targets[target]?.pending != nil
        }
    }

    /// Whether an attempt will end by itself before long, so that waiting for it is of use.
    func isUnderWay(_ target: TokenTarget) -> Bool {
        if !hasLooked || isBeingAsked(target) { return true }
        if case .silent = phase { return false }
        return isDue(target)
    }

    // MARK: Answers

    mutating func wake() {
        var waiting: [Waiter] = []
        for waiter in waiters {
            if let answer = answer(to: waiter) { act(answer) } else { waiting.append(waiter) }
        }
        waiters = waiting
    }

    /// - Returns: nil for one that goes on waiting.
    private func answer(to waiter: Waiter) -> EngineAction? {
        let isLate = waiter.deadline <= now
        let target = waiter.target
        guard let state = targets[target] else { return .refuse(waiter.id, .cancelled) }
        switch waiter.wish {
        case .token:
            return token(for: waiter, state)
        case .renewed(let count, let end):
            if isUnderWay(target), state.endedAttempts == count, now < end, !isLate { return nil }
            return token(for: waiter, state)
        case .renewal(let count):
            if state.pending != nil, !isLate { return nil }
            if state.endedAttempts > count {
                guard state.failure == nil, let token = state.usable(at: now) else {
                    return .refuse(waiter.id, reason(target))
                }
                return .give(waiter.id, token)
            }
            if isLate { return .refuse(waiter.id, reason(target)) }
            return isUnderWay(target) ? nil : token(for: waiter, state)
        case .verdict(let rejection):
            if let token = state.usable(at: now), token.generation > rejection.generation {
                return .give(waiter.id, token)
            }
            return isLate || !isUnderWay(target) ? .pass(waiter.id) : nil
        }
    }

    private func token(for waiter: Waiter, _ state: TargetState) -> EngineAction? {
        if let token = state.usable(at: now), !state.isWithheld || waiter.deadline <= now {
            return .give(waiter.id, token)
        }
        guard now < waiter.deadline else { return .refuse(waiter.id, reason(waiter.target)) }
        if isUnderWay(waiter.target) { return nil }
        if canRenew, !isLoginRequired(waiter.target), session.barredRequests[state.request] == nil {
            guard let failure = state.failure else {
                return isSilent ? .refuse(waiter.id, reason(waiter.target)) : nil
            }
            let isSoon = failure.retry <= min(now + Self.worthWaitingFor, waiter.deadline)
            if failure.failure.kind != .misconfigured, isSoon, !isSilent { return nil }
        }
        return .refuse(waiter.id, reason(waiter.target))
    }

    private var isSilent: Bool { if case .silent = phase { true } else { false } }

    /// Whether the answers leave no doubt that a person must log in.
    private func isLoginRequired(_ target: TokenTarget) -> Bool {
        session.refusal != nil || targets[target].map { $0.doubts >= TokenFailure.doubtsAllowed } ?? false
    }

    /// Why there is no token.
    func reason(_ target: TokenTarget) -> TokenError {
        if isLoginRequired(target) || !canRenew {
            return storeTroubles[.load] != nil
                ? .unavailable(retryAfter: TokenFailure.lookAfterTrouble) : .loginRequired
        }
        let state = targets[target]
        let delay = max(.seconds(1), state?.failure.map { $0.retry - now } ?? .zero)
        let isBarred = state.map { session.barredRequests[$0.request] != nil } ?? false
        return state?.failure?.failure.kind == .misconfigured || isBarred
            ? .misconfigured(retryAfter: delay) : .unavailable(retryAfter: delay)
    }
}
