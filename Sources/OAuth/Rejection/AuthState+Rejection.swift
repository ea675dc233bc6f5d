// SPDX-License-Identifier: Apache-2.0

/// Tokens that resource servers refuse or accept.
extension AuthState {
    /// The decision on a refused request.
    package enum Verdict: Sendable {
        /// Let the resource server's response go through.
        case pass
        /// Send the request once more, with this token.
        case replay(AccessTokenSnapshot)
        /// A renewal is due or in flight: judge again with ``verdict(on:at:)`` when it has ended.
        case wait
    }

    /// True while responses that accept the token have to be reported.
    package var isWatching: Bool { unauthorized != nil }

    /// Returns true for the first refusal of this token on its route.
    func isNews(_ rejection: TokenRejection) -> Bool {
        guard rejection.isUnauthorized, access?.snapshot.generation == rejection.generation else {
            return false
        }
        return holdOffs[rejection.route].map { $0.refused < rejection.generation } ?? true
    }

    /// Takes note of a refused token, which stays in use while another one is fetched: it may be refused in one place alone.
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
        // To read a file again costs no provider anything, and somebody may have changed it since.
        let isAtHand = configuration.source?.isReadFromFile ?? false
        let mayForce = isAtHand || holdOff.map { $0.until <= now } ?? true
        guard mayForce, canRenewNow(at: now) else {
            // The end of the hold-off forces the renewal. One under way is waited for, because some servers revoke a
            // token while they make its successor.
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

    /// The present decision on a refused request.
    package func verdict(on rejection: TokenRejection, at now: Instant) -> Verdict {
        if let access, access.snapshot.generation > rejection.generation, access.isUsable(at: now) {
            return .replay(access.snapshot)
        }
        return isBeingRenewed ? .wait : .pass
    }

    /// Takes note of an accepted token; `isReplayed` is true for a request that was refused with another token.
    ///
    /// The hold-off stays, or an API with one endpoint that always refuses would cost a refresh for each request.
    package mutating func tokenAccepted(generation: Int, route: String, isReplayed: Bool = false) {
        guard access?.snapshot.generation == generation else { return }
        if !isUnsaved, generation == session.generation { hasStoredWorked = true }
        holdOffs[route]?.accept(generation, isReplayed: isReplayed)
        guard unauthorized == generation else { return }
        unauthorized = nil
        isWithheld = false
        if attempt == nil { demand = nil }
    }

    /// Stops using the present access token for good.
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

    /// Returns true if a forced renewal would begin now, not after a back-off or never.
    private func canRenewNow(at now: Instant) -> Bool {
        guard canRenew, session.refusal == nil, !isBarred else { return false }
        return attempt != nil || failure.map { $0.retry <= now } ?? true
    }

    // MARK: Healing

    /// The end of the first hold-off that forces a renewal, because the newest token is still refused; nil for none.
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
