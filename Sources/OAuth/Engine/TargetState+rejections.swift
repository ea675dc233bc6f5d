// SPDX-License-Identifier: Apache-2.0

/// What resource servers think of a target's token.
extension TargetState {
    /// Whether a refusal is the first one of this token by its route.
    func isNews(_ rejection: TokenRejection) -> Bool {
        guard rejection.isUnauthorized, access?.snapshot.generation == rejection.generation else {
            return false
        }
        return holdOffs[rejection.route].map { $0.refused < rejection.generation } ?? true
    }

    /// A resource server refused a token.
    ///
    /// - Parameters:
    ///   - mayForce: whether a renewal that it forces would be made now.
    ///   - isUnderWay: whether a renewal comes anyway.
    /// - Returns: whether the request waits for another token; else the answer goes through.
    mutating func rejected(
        _ rejection: TokenRejection, mayForce: Bool, isUnderWay: Bool, at now: Instant
    ) -> Bool {
        let generation = rejection.generation
        // An older token was refused: that says nothing about the newest, which may be worth a replay.
        guard access?.snapshot.generation == generation else { return rejection.canReplay }
        if rejection.isUnauthorized {
            unauthorized = generation
        } else if unauthorized == generation {
            unauthorized = nil
        }
        holdOffs[rejection.route]?.refuse(generation, isReplayed: rejection.isReplayed)
        let mayRouteForce = holdOffs[rejection.route].map { $0.until <= now } ?? true
        guard mayRouteForce, mayForce else {
            // Not by this request; the end of the hold-off sees to it. A renewal that is under way anyway costs nothing
            // more: some servers revoke a token while they make its successor.
            if rejection.isUnauthorized, holdOffs[rejection.route] == nil {
                holdOffs[rejection.route] = HoldOff(refusing: generation, at: now)
            }
            return isUnderWay && rejection.canReplay
        }
        if holdOffs[rejection.route] == nil {
            holdOffs[rejection.route] = HoldOff(refusing: generation, at: now)
        } else {
            holdOffs[rejection.route]?.renew(at: now)
        }
        guard rejection.canReplay || isUnderWay else {
            isWithheld = true
            return false
        }
        demand = generation
        return rejection.canReplay
    }

    /// A resource server took a token; `isReplayed` says whether in a request that it had refused with another one.
    ///
    /// The hold-off stays: else an API with one endpoint that always refuses would cost a refresh for each request.
    mutating func accepted(_ generation: Int, by route: String, isReplayed: Bool, isUnderWay: Bool) {
        holdOffs[route]?.accept(generation, isReplayed: isReplayed)
        guard unauthorized == generation else { return }
        unauthorized = nil
        isWithheld = false
        if !isUnderWay { demand = nil }
    }

    /// When a renewal is tried because a hold-off has ended and the newest token is still refused.
    var healingMoment: Instant? {
        guard let unauthorized else { return nil }
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
