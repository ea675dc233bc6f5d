// SPDX-License-Identifier: Apache-2.0

/// Tokens that resource servers refuse or accept.
extension TargetState {
    /// True for the first refusal of this token on its route.
    func isNews(_ rejection: TokenRejection) -> Bool {
        guard rejection.isUnauthorized, access?.snapshot.generation == rejection.generation else {
            return false
        }
        return holdOffs[rejection.route].map { $0.refused < rejection.generation } ?? true
    }

    /// Takes note of a refused token, which stays in use while another one is fetched: it may be refused in one place alone.
    ///
    /// - Parameter mayForce: true if a renewal that it forces would begin now, not after a back-off or never.
    /// - Returns: true if the request waits for another token; else the resource server's answer goes through.
    mutating func rejected(_ rejection: TokenRejection, mayForce: Bool, at now: Instant) -> Bool {
        let generation = rejection.generation
        // An older token was refused: that says nothing about the newest.
        guard let access, access.snapshot.generation == generation else { return rejection.canReplay }
        if rejection.isUnauthorized {
            unauthorized = generation
            refusingRoute = rejection.route
        } else if unauthorized == generation {
            unauthorized = nil
        }
        var holdOff = holdOffs[rejection.route]
        holdOff?.refuse(generation, isReplayed: rejection.isReplayed)
        defer { holdOffs[rejection.route] = holdOff }
        // To read a file again costs no provider anything, and somebody may have changed it since.
        let isAtHand = client.source?.isReadFromFile ?? false
        guard isAtHand || holdOff.map({ $0.until <= now }) ?? true, mayForce else {
            // The end of the hold-off forces the renewal. One under way is waited for, because some servers revoke a
            // token while they make its successor.
            holdOff = holdOff ?? (rejection.isUnauthorized ? HoldOff(refusing: generation, at: now) : nil)
            return isBeingRenewed && rejection.canReplay
        }
        if holdOff != nil {
            holdOff?.renew(at: now)
        } else {
            holdOff = HoldOff(refusing: generation, at: now)
        }
        guard rejection.canReplay || attempt != nil else {
            isWithheld = true
            return false
        }
        demand = generation
        return rejection.canReplay && (attempt == nil || isBeingRenewed)
    }

    /// Takes note of an accepted token; `isReplayed` is true for a request that was refused with another token.
    ///
    /// The hold-off stays, or an API with one endpoint that always refuses would cost a refresh for each request.
    mutating func accepted(_ generation: Int, by route: String, isReplayed: Bool) {
        holdOffs[route]?.accept(generation, isReplayed: isReplayed)
        guard unauthorized == generation else { return }
        unauthorized = nil
        isWithheld = false
        if attempt == nil { demand = nil }
    }

    /// True if a source has given the very token once more that a resource server has refused.
    func repeatsRefusedToken(_ token: Secret) -> Bool {
        guard client.source != nil, let access, unauthorized == access.snapshot.generation else {
            return false
        }
        return access.snapshot.token.matches(token)
    }

    /// Keeps the refused token, which came once more: it lives on, as long as it now is said to, and stays refused.
    ///
    /// - Returns: the generation that it has had all the time.
    mutating func keep(_ token: AccessToken) -> Int? {
        guard let access else { return nil }
        let generation = access.snapshot.generation
        self.access = token.numbered(generation)
        pending = nil
        failure = nil
        doubtfulAnswers = 0
        isAwaited = false
        demand = nil
        isWithheld = false
        for route in holdOffs.keys { holdOffs[route]?.renewed(to: generation) }
        return generation
    }

    // MARK: Healing

    /// The end of the first hold-off that forces a renewal, because the newest token is still refused; nil for none.
    var healingMoment: Instant? {
        guard let unauthorized, attempt == nil, !isLeaving else { return nil }
        return holdOffs.values.filter { $0.refused == unauthorized }.map(\.until).min()
    }

    /// Demands that renewal when its moment has come, and forgets hold-offs that are long over.
    mutating func demandHealing(at now: Instant) {
        guard let unauthorized else {
            if !holdOffs.isEmpty { holdOffs = holdOffs.filter { !$0.value.isForgotten(at: now) } }
            return
        }
        guard let moment = healingMoment, moment <= now else { return }
        demand = unauthorized
        for (route, holdOff) in holdOffs where holdOff.refused == unauthorized && holdOff.until <= now {
            holdOffs[route]?.renew(at: now)
        }
    }
}
