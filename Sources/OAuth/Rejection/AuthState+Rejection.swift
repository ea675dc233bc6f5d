// SPDX-License-Identifier: Apache-2.0

/// What resource servers think of a token.
extension AuthState {
    /// What becomes of a refused request.
    package enum Verdict: Sendable {
        /// The resource server's answer goes through.
        case pass
        /// Send the request once more, with this token.
        case replay(AccessTokenSnapshot)
        /// A renewal is due or in flight: judge again with ``verdict(on:at:)`` when it has ended.
        case wait
    }

    /// Whether answers that accept the token are worth telling us.
    package var isWatching: Bool { unauthorized != nil }

    /// Whether a refusal is the first one of this token by its route.
    func isNews(_ rejection: TokenRejection) -> Bool {
        guard rejection.isUnauthorized, access?.snapshot.generation == rejection.generation else {
            return false
        }
        return holdOffs[rejection.route].map { $0.refused < rejection.generation } ?? true
    }

    /// A resource server refused a token.
    ///
    /// The token goes on being used while another one is fetched: an API may refuse it in one place alone.
    package mutating func tokenRejected(_ rejection: TokenRejection, at now: Instant) -> Verdict {
        let generation = rejection.generation
        guard let access, access.snapshot.generation == generation else {
            // An older token was refused: that says nothing about the newest.
            return rejection.canReplay ? verdict(on: rejection, at: now) : .pass
        }
        if rejection.isUnauthorized {
            unauthorized = generation
        } else if unauthorized == generation {
            unauthorized = nil
        }

        var holdOff = holdOffs[rejection.route]
        holdOff?.refuse(generation, isReplayed: rejection.isReplayed)
        defer { holdOffs[rejection.route] = holdOff }
        let mayForce = holdOff.map { $0.until <= now } ?? true
        guard mayForce, canRenewNow(at: now) else {
            // Not by this request; the end of the hold-off sees to it. A renewal that is under way anyway costs nothing
            // more: some servers revoke a token while they make its successor.
            holdOff = holdOff ?? (rejection.isUnauthorized ? HoldOff(refusing: generation, at: now) : nil)
            return isBeingRenewed && rejection.canReplay ? .wait : .pass
        }
        if holdOff != nil {
            holdOff?.renew(at: now)
        } else {
            holdOff = HoldOff(refusing: generation, at: now)
        }
        guard rejection.canReplay || attempt != nil else {
            isWithheld = true
            return .pass
        }
        demand = generation
        return rejection.canReplay && (attempt == nil || isBeingRenewed) ? .wait : .pass
    }

    /// What becomes of a refused request by now.
    package func verdict(on rejection: TokenRejection, at now: Instant) -> Verdict {
        if let access, access.snapshot.generation > rejection.generation, access.isUsable(at: now) {
            return .replay(access.snapshot)
        }
        return isBeingRenewed ? .wait : .pass
    }

    /// A resource server took a token; `isReplayed` says whether in a request that it had refused with another one.
    ///
    /// The hold-off stays: else an API with one endpoint that always refuses would cost a refresh for each request.
    package mutating func tokenAccepted(generation: Int, route: String, isReplayed: Bool = false) {
        guard access?.snapshot.generation == generation else { return }
        if !isUnsaved, generation == session.generation { hasStoredWorked = true }
        holdOffs[route]?.accept(generation, isReplayed: isReplayed)
        guard unauthorized == generation else { return }
        unauthorized = nil
        isWithheld = false
        if attempt == nil { demand = nil }
    }

    /// A person wants the present access token never to be used again.
    package mutating func tokenInvalidated(at now: Instant) {
        invalidated = access?.snapshot.generation ?? session[request]?.generation ?? session.generation
        access = nil
        unauthorized = nil
        isWithheld = false
        failure?.retry = now
        guard session[request] != nil else { return }
        session[request] = nil
        session.generation += 1
        isUnsaved = true
    }

    /// Whether a forced renewal would be made now rather than after a back-off or never.
    private func canRenewNow(at now: Instant) -> Bool {
        guard canRenew, session.refusal == nil, !isBarred else { return false }
        return attempt != nil || failure.map { $0.retry <= now } ?? true
    }

    // MARK: Healing

    /// When a renewal is tried because a hold-off has ended and the newest token is still refused.
    var healingMoment: Instant? {
        guard let unauthorized, attempt == nil, !isLeaving else { return nil }
        return holdOffs.values.filter { $0.refused == unauthorized }.map(\.until).min()
    }

    /// Demands that renewal when its moment has come.
    mutating func demandHealing(at now: Instant) {
        guard let unauthorized, let moment = healingMoment, moment <= now else { return }
        demand = unauthorized
        for (route, holdOff) in holdOffs where holdOff.refused == unauthorized && holdOff.until <= now {
            holdOffs[route]?.renew(at: now)
        }
    }

    mutating func forgetOldHoldOffs(at now: Instant) {
        guard unauthorized == nil else { return }
        holdOffs = holdOffs.filter { !$0.value.isForgotten(at: now) }
    }
}
